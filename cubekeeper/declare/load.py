"""Folders, files and texts of declarations to a warehouse, all problems found in one reading."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from cubekeeper.declare.build import Parts, build_warehouse
from cubekeeper.declare.compose import compose
from cubekeeper.declare.documents import (
    DECLARATION_KEYS,
    STATISTICS_KEYS,
    StatisticsDocument,
    WarehouseDocument,
)
from cubekeeper.declare.expressions import checked_name
from cubekeeper.declare.files import STATISTICS_NAMES, declaration_files, read_source
from cubekeeper.declare.leaves import Document, Reading, Word
from cubekeeper.declare.nodes import Mapping, Scalar, kind_of
from cubekeeper.declare.report import attempt
from cubekeeper.declare.scope import Tables
from cubekeeper.declare.sql_views import read_select
from cubekeeper.declare.stats import build_statistics
from cubekeeper.declare.views import finished
from cubekeeper.errors import Caution, InputError, Problems
from cubekeeper.source import Fragment, Source
from cubekeeper.statistics.model import Statistics
from cubekeeper.warehouse.model import SummaryTable, Warehouse

D = TypeVar("D", bound=Document)


@dataclass(frozen=True)
class Loaded:
    """A warehouse as declared, what is known of its sizes, what to be warned of, and its files."""

    warehouse: Warehouse
    statistics: Statistics
    cautions: tuple[Caution, ...]
    files: tuple[Path, ...]


def load(path: str | Path) -> Loaded:
    """Read a warehouse: a folder of YAML files, or one file; raises `DeclarationErrors`.

    The files of a folder are read as one warehouse. Files of statistics among them (see
    `is_statistics`) are no declarations; the one named `stats.yml` holds the default statistics,
    the others are checked.
    """
    path, problems = Path(path), Problems()
    files = attempt(problems, declaration_files, path) or ()
    trees = {file: attempt(problems, _tree, file, problems) for file in files}
    found = {file: tree for file, tree in trees.items() if tree is not None}
    reading = Reading(problems)
    parts = _parts(found, reading)
    if len(found) < len(files) or not parts.declarations:
        if not problems.errors:
            problems.add(_no_declarations(path))
        problems.raise_if_any()  # what these files lack would be missed in all the others
    name = path.resolve().name if path.is_dir() else path.stem
    warehouse, statistics = build_warehouse(parts, reading, name)
    problems.raise_if_any()
    return Loaded(warehouse, statistics, problems.cautions_in_order(), files)


def load_text(text: str, name: str = "<yaml>") -> Loaded:
    """Read a warehouse from one YAML text.

    >>> shop = load_text("facts: [{name: pos, columns: {qty: int}}]")
    >>> [fact.name for fact in shop.warehouse.facts]
    ['pos']
    """
    problems = Problems()
    reading = Reading(problems)
    tree = attempt(problems, composed, Source(name, text), problems)
    document = _document(WarehouseDocument, tree, reading) if tree else None
    if document is None:
        problems.raise_if_any()
    parts = Parts((document,) if document else (), _inline(document))
    warehouse, statistics = build_warehouse(parts, reading, "warehouse")
    problems.raise_if_any()
    return Loaded(warehouse, statistics, problems.cautions_in_order(), ())


def load_statistics(path: str | Path, warehouse: Warehouse) -> Statistics:
    """Read a file of statistics for a warehouse; raises `DeclarationErrors`."""
    problems = Problems()
    reading = Reading(problems)
    tree = attempt(problems, _tree, Path(path), problems)
    document = _document(StatisticsDocument, tree, reading) if tree else None
    found = build_statistics([(document, str(path))] if document else [], warehouse, problems)
    problems.raise_if_any()
    return found


def summary_table_from_sql(sql: str | Fragment, warehouse: Warehouse, name: str) -> SummaryTable:
    """A summary table of a declared warehouse from one SELECT; raises `DeclarationErrors`.

    Whether the name is free is for the caller to know: it may stand for a table there is.
    """
    problems = Problems()
    fragment = Fragment.of_text(sql) if isinstance(sql, str) else sql
    word = Word(name, fragment.span())

    def read() -> SummaryTable:
        parts = read_select(fragment, Tables(warehouse), checked_name(word), problems)
        view = SummaryTable(
            name, parts.fact, parts.keys, parts.measures, parts.filter, span=word.span
        )
        return finished(view, problems)

    view = attempt(problems, read)
    problems.raise_if_any()
    assert view is not None
    return view


def is_statistics(tree: Mapping) -> bool:
    """Whether a file holds statistics and no declarations.

    It does if it says ``kind: statistics``, or if it has one of the keys of statistics (`tables`,
    `views`, `weights`) and none of those that declare (`facts`, `dimensions`, `summary_tables`,
    `cubes`).
    """
    kind = tree.values.get("kind")
    if isinstance(kind, Scalar) and kind.text == "statistics":
        return True
    return any(key in tree.values for key in STATISTICS_KEYS) and not any(
        key in tree.values for key in DECLARATION_KEYS
    )


def composed(source: Source, problems: Problems) -> Mapping:
    """The tree of a text, which must be a mapping; raises `InputError`."""
    tree = compose(source, problems)
    if tree is None:
        raise InputError(
            "empty-file",
            f"`{source.name}` is empty",
            hint="declare `facts`, `dimensions` and `summary_tables` in it",
        )
    if not isinstance(tree, Mapping):
        raise InputError(
            "not-a-mapping",
            f"a file of declarations is a mapping of keys to values, not {kind_of(tree)}",
            span=tree.span,
            hint="begin with `facts:`, `dimensions:` or `summary_tables:`",
        )
    return tree


def _tree(path: Path, problems: Problems) -> Mapping:
    return composed(read_source(path), problems)


def _parts(trees: dict[Path, Mapping], reading: Reading) -> Parts:
    """The documents of all files, as far as they have the right shape."""
    declarations: list[WarehouseDocument] = []
    statistics: list[tuple[StatisticsDocument, str]] = []
    alternatives: list[tuple[StatisticsDocument, str]] = []
    for file, tree in trees.items():
        if not is_statistics(tree):
            document = _document(WarehouseDocument, tree, reading)
            if document is not None:
                declarations.append(document)
                statistics += _inline(document)
        elif (given := _document(StatisticsDocument, tree, reading)) is not None:
            chosen = statistics if file.name in STATISTICS_NAMES else alternatives
            chosen.append((given, str(file)))
    return Parts(tuple(declarations), tuple(statistics), tuple(alternatives))


def _inline(document: WarehouseDocument | None) -> tuple[tuple[StatisticsDocument, str], ...]:
    if document is None or document.statistics is None:
        return ()
    return ((document.statistics, document.span.source.name),)


def _document(kind: type[D], tree: Mapping, reading: Reading) -> D | None:
    """The document of a tree. What is wrong at the top is reported and left out, so that the rest
    can be looked at."""
    try:
        return kind.model_validate(tree, context=reading)
    except ValidationError as error:
        reading.report(error, tree)
        wrong = {detail["loc"][0] for detail in error.errors() if detail["loc"]}
    rest = tuple((key, value) for key, value in tree.entries if key.text not in wrong)
    try:
        quiet = Reading(Problems(), reading.broken)  # the other problems are reported already
        return kind.model_validate(Mapping(rest, tree.span, tree.size), context=quiet)
    except ValidationError:
        return None


def _no_declarations(path: Path) -> InputError:
    what = "the folder" if path.is_dir() else "the file"
    return InputError(
        "no-declarations",
        f"{what} `{path}` holds statistics, but declares nothing",
        hint="name the folder of the warehouse; statistics are chosen with --stats FILE",
    )
