"""Declarations and SQL are two spellings of one model, and no text is too strange to be refused.

- A summary table printed as SQL reads back as the identical object.
- Whatever is done to a text, reading it ends in a warehouse or in errors; every error stands inside
  the text, and the name that it speaks of is what is written there.
"""

import re
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cubekeeper.declare import load, load_text, summary_table_from_sql
from cubekeeper.errors import DeclarationErrors, describe
from cubekeeper.warehouse.text import summary_table_sql
from tests.oracle.warehouses import random_warehouse

EXAMPLES = Path(__file__).parents[2] / "lattice"
TEXTS = [
    (EXAMPLES / name).read_text()
    for name in ("retail/warehouse.yml", "snowflake/warehouse.yml", "ssb/tables.yml")
]
BASE = (Path(__file__).parents[1] / "cases" / "declare" / "base.yml").read_text()

seeds = st.integers(0, 2**32 - 1)


@given(seeds)
def test_views_of_random_warehouses_read_back(seed):
    warehouse = load_text(random_warehouse(Random(seed))).warehouse
    for view in warehouse.summary_tables:
        sql = summary_table_sql(warehouse, view)
        again = summary_table_from_sql(sql, warehouse, view.name)
        again = replace(again, policy=view.policy, lattice_friendly=view.lattice_friendly)
        assert replace(again, cube=view.cube) == view, sql


# What the first name in a message of these kinds is: the text at the span.
NAMED = {
    "unknown-key",
    "unknown-table",
    "unknown-dimension",
    "unknown-type",
    "unknown-aggregate",
    "unknown-item",
    "unknown-view",
    "reserved-name",
    "ambiguous-column",
    "unreachable-column",
    "yaml-duplicate-key",
    "not-selected",
    "not-grouped",
    "join-not-foreign-key",
}


def check(error):
    """An error stands inside its text, and on what it names."""
    span = error.span
    if span is None:
        assert error.code in ("empty-file", "no-fact")
        return
    assert 0 <= span.start <= span.end <= len(span.source.text)
    assert error.message
    assert describe(error).count("\n") <= 3 + error.message.count("\n") + (error.hint or "").count(
        "\n"
    )
    named = re.search(r"`([^`]*)`", error.message)
    if error.code in NAMED and named and "\\" not in span.text and "USING" not in error.message:
        name, written = _letters(named[1]), _letters(span.text)
        assert name in written or written in name, str(error)


def _letters(text):
    """A text without spaces and quotes, which YAML and SQL write in several ways."""
    return re.sub(r"[\s'\"`]", "", text).lower()


def read(text):
    try:
        load_text(text)
    except DeclarationErrors as errors:
        for error in errors.errors:
            check(error)


def _words(text):
    return [(match.start(), match.end()) for match in re.finditer(r"[A-Za-z_]\w*|\S", text)]


NOISE = [
    "nme",
    "__x",
    "yes",
    "7",
    "[",
    "}",
    ":",
    "- ",
    "'",
    '"',
    "|",
    "\t",
    "*a",
    "&a",
    "!",
    "é",
    "(",
    "SELECT",
    "NULL",
    "",
    "~",
    ",",
    "`",
    "#",
]


def _mutated(rng, text):
    """A text with a few words dropped, doubled, swapped or replaced by noise."""
    for _ in range(rng.randint(1, 3)):
        places = _words(text)
        start, end = rng.choice(places)
        other = rng.choice(places)
        word = text[start:end]
        text = (
            text[:start]
            + rng.choice(
                [
                    rng.choice(NOISE),
                    word[:-1],
                    word + word[-1:],
                    text[other[0] : other[1]],
                    word + " " + word,
                ]
            )
            + text[end:]
        )
    return text


@given(seeds)
def test_wrong_examples_are_refused_where_they_are_wrong(seed):
    rng = Random(seed)
    read(_mutated(rng, rng.choice([*TEXTS, BASE])))


@given(seeds)
def test_wrong_random_warehouses_are_refused_where_they_are_wrong(seed):
    rng = Random(seed)
    read(_mutated(rng, random_warehouse(rng)))


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text):
    read(text)


@given(st.text(alphabet="ab:-[]{}|>&*!%@`'\"#,?\n \t<=~", max_size=80))
def test_any_punctuation_is_read_or_refused(text):
    read(text)


@given(st.binary(max_size=200), seeds)
def test_any_bytes_are_read_or_refused(tmp_path_factory, content, seed):
    folder = tmp_path_factory.mktemp("bytes")
    whole = bytearray(BASE.encode())
    at = Random(seed).randrange(len(whole))
    whole[at : at + len(content)] = content
    (folder / "w.yml").write_bytes(bytes(whole))
    try:
        load(folder)
    except DeclarationErrors as errors:
        for error in errors.errors:
            check(error)


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_every_word_misspelt_is_refused_where_it_stands(text):
    """Misspell the words of the examples one by one; if that is refused, then there."""
    rng = Random(1)
    for start, end in rng.sample(_words(text), 60):
        word = text[start:end]
        if re.fullmatch(r"[A-Za-z_]{4,}", word):
            read(text[:start] + word[:-2] + "zq" + text[end:])
