"""Makes a failing declaration and its rows smaller while they still fail."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from copy import deepcopy

import yaml

from tests.oracle.data import Rows

Fails = Callable[[str, Rows], str | None]
"""The evidence if a declaration fails on some rows, else None."""


def shrunk(declaration: str, rows: Rows, fails: Fails, seconds: float = 60) -> tuple[str, Rows]:
    """A smaller declaration and fewer rows of facts that fail as well, as far as time allows."""
    end = time.monotonic() + seconds
    again = True
    while again:
        again = False
        for smaller in _smaller(declaration, rows):
            if time.monotonic() > end:
                return declaration, rows
            if fails(*smaller):
                (declaration, rows), again = smaller, True
                break
    return declaration, rows


def _smaller(declaration: str, rows: Rows) -> Iterator[tuple[str, Rows]]:
    document = yaml.safe_load(declaration)
    for where, at in _parts(document):
        copy = deepcopy(document)
        held = copy
        for step in where:
            held = held[step]
        held.pop(at)
        yield yaml.safe_dump(copy, sort_keys=False, allow_unicode=True, width=1000), rows
    for fact in (table["name"] for table in document["facts"]):
        count = len(rows.get(fact, ()))
        size = count
        while size:
            for start in range(0, count, size):
                kept = rows[fact][:start] + rows[fact][start + size :]
                yield declaration, {**rows, fact: kept}
            size //= 2


def _parts(document: dict) -> Iterator[tuple[tuple[str | int, ...], int]]:
    """What can be left out: a table of many, then a part of one; by its list and its place."""
    for kind in ("cubes", "summary_tables"):
        yield from (((kind,), at) for at in range(len(document.get(kind, ()))))
    for view, held in enumerate(document.get("summary_tables", ())):
        for part in ("measures", "group_by", "filter"):
            yield from (
                (("summary_tables", view, part), at) for at in range(len(held.get(part, ())))
            )
