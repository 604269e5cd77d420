"""Checks that the rooms of the package import each other in one direction only.

A *room* is a top-level module or sub-package of `cubekeeper`, or a sub-package of `live/`.
`CONTRACT` says of every room what kind it is and which rooms and libraries it may import. Every
import counts, wherever it stands: inside a function, under `TYPE_CHECKING`, relative, or as an
`import_module` call with a literal name.

Run as a script it prints each offence as `file:line: what and why`, and exits with 1 if any.
"""

import ast
import sys
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "cubekeeper"


class Kind(StrEnum):
    """What a room is for, and with that what it may know."""

    NOUN = "noun"
    BORDER = "border"
    VERB = "verb"
    EDGE = "edge"


# kind -> the kinds its rows may name. Noun: frozen data. Border: turns a library's values into
# nouns. Verb: turns one noun into the next. Edge: touches the world.
MAY_NAME: Mapping[Kind, frozenset[Kind]] = {
    Kind.NOUN: frozenset({Kind.NOUN}),
    Kind.BORDER: frozenset({Kind.NOUN}),
    Kind.VERB: frozenset({Kind.NOUN, Kind.BORDER}),
    Kind.EDGE: frozenset(Kind),
}


@dataclass(frozen=True)
class Row:
    """The contract of one room."""

    kind: Kind
    rooms: frozenset[str]
    libraries: frozenset[str]
    reason: str


def _row(kind: Kind, rooms: str, reason: str, libraries: str = "") -> Row:
    return Row(kind, frozenset(rooms.split()), frozenset(libraries.split()), reason)


_GROUND = "source errors schema"
_MODEL = f"{_GROUND} scalar warehouse statistics"
_INSIDE = f"{_MODEL} lattice plan parse declare derive schedule statements"

CONTRACT: Mapping[str, Row] = {
    "__init__": _row(Kind.NOUN, "", "importing cubekeeper costs nothing"),
    "__main__": _row(Kind.EDGE, "cli", "`python -m cubekeeper` is the command line"),
    "source": _row(Kind.NOUN, "", "a place in a text knows nothing of what is written there"),
    "errors": _row(Kind.NOUN, "source", "an error knows where, not what went wrong inside"),
    "schema": _row(Kind.NOUN, "source", "types and columns are shared by everything above"),
    "scalar": _row(Kind.NOUN, _GROUND, "expressions over the columns of a schema"),
    "warehouse": _row(Kind.NOUN, f"{_GROUND} scalar", "what is declared, not what follows from it"),
    "statistics": _row(Kind.NOUN, _GROUND, "numbers about tables, whatever they are used for"),
    "lattice": _row(Kind.NOUN, _MODEL, "views and their edges, however derived"),
    "plan": _row(Kind.NOUN, f"{_MODEL} lattice", "stages are data: explain and run read the same"),
    "parse": _row(
        Kind.BORDER,
        f"{_GROUND} scalar live.calculus live.m3",
        "texts become nouns here; sqlglot's mutable trees are copied",
        "sqlglot",
    ),
    "declare": _row(
        Kind.VERB, f"{_MODEL} parse", "YAML and SQL -> warehouse", "pydantic pydantic_core yaml"
    ),
    "derive": _row(Kind.VERB, f"{_MODEL} lattice", "warehouse -> lattice"),
    "schedule": _row(Kind.VERB, f"{_MODEL} lattice plan", "lattice -> plan"),
    "statements": _row(Kind.VERB, f"{_MODEL} lattice plan", "plan -> SQL text, run by nobody here"),
    "live": _row(Kind.EDGE, "live.view", "the way into the live rooms; importing it costs nothing"),
    "live.calculus": _row(Kind.NOUN, f"{_GROUND} scalar", "queries as polynomials over relations"),
    "live.transform": _row(
        Kind.NOUN, f"{_GROUND} scalar live.calculus", "the algebra of the calculus: deltas and laws"
    ),
    "live.m3": _row(Kind.NOUN, f"{_GROUND} scalar live.calculus", "maps and triggers"),
    "live.frontend": _row(
        Kind.VERB, f"{_GROUND} scalar parse live.calculus live.m3", "SQL -> calculus"
    ),
    "live.view": _row(
        Kind.EDGE,
        f"{_GROUND} scalar parse live.calculus live.transform live.m3 live.frontend live.lower "
        "live.interpret",
        "what Python users touch",
    ),
    "live.lower": _row(
        Kind.VERB, f"{_GROUND} scalar live.calculus live.transform live.m3", "calculus -> M3"
    ),
    "live.interpret": _row(
        Kind.VERB, f"{_GROUND} scalar live.calculus live.m3", "what calculus and M3 mean"
    ),
    "report": _row(Kind.EDGE, f"__init__ {_INSIDE}", "shows what is inside, asks nobody outside"),
    "bench": _row(
        Kind.EDGE, f"__init__ {_INSIDE} report", "measures everything but the commands", "duckdb"
    ),
    "cli": _row(Kind.EDGE, f"__init__ {_INSIDE} report bench", "thin verbs over all", "click"),
}

# library -> the one room that may ever import it, and why no other row may name it
HOMES: Mapping[str, tuple[str, str]] = {
    "airflow": ("airflow", "an optional extra that takes seconds to import"),
    "click": ("cli", "only commands talk to a terminal"),
    "duckdb": ("bench", "an oracle proves nothing about a product that runs on it"),
    "pyspark": ("spark", "declaring, planning and costing need no JVM"),
    "sqlglot": ("parse", "its trees are mutable and stay at the border"),
}


@dataclass(frozen=True, order=True)
class Offence:
    """One broken rule, and where."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


@dataclass(frozen=True)
class Import:
    """One imported module, as an absolute dotted name."""

    name: str
    line: int


@dataclass(frozen=True)
class Module:
    """A source file of the package with all its imports."""

    name: str
    file: str
    imports: tuple[Import, ...]


def room_of(module: str) -> str:
    """Name the room a module of the package belongs to.

    >>> room_of("cubekeeper.lattice.edges"), room_of("cubekeeper.live.calculus.ring")
    ('lattice', 'live.calculus')
    >>> room_of("cubekeeper")
    '__init__'
    """
    inside = module.split(".")[1:]
    depth = 2 if inside[:1] == ["live"] else 1
    return ".".join(inside[:depth]) or "__init__"


def read_package(package: Path) -> dict[str, Module]:
    """Parse every file of a package; maps module names to modules."""
    paths = {_module_name(path, package): path for path in sorted(package.rglob("*.py"))}
    modules = {}
    for name, path in paths.items():
        tree = ast.parse(path.read_bytes(), filename=str(path))
        home = name if path.name == "__init__.py" else name.rpartition(".")[0]
        imports = tuple(_imports(tree, home, paths.keys()))
        modules[name] = Module(name, path.relative_to(package.parent).as_posix(), imports)
    return modules


def _module_name(path: Path, package: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(tree: ast.Module, home: str, known: Container[str]) -> Iterator[Import]:
    """Yield every import in a file whose package is `home`, at whatever depth it stands."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    yield Import(alias.name, node.lineno)
            case ast.ImportFrom(module=module, names=names, level=level):
                base = _absolute(module or "", level, home)
                for alias in names:
                    submodule = f"{base}.{alias.name}"
                    yield Import(submodule if submodule in known else base, alias.lineno)
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__")
                | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                level = len(name) - len(name.lstrip("."))
                yield Import(_absolute(name[level:], level, home), node.lineno)


def _absolute(name: str, level: int, home: str) -> str:
    """Resolve an import with `level` leading dots, seen from the package `home`.

    >>> _absolute("edges", 2, "cubekeeper.lattice.draw")
    'cubekeeper.lattice.edges'
    """
    if level == 0:
        return name
    base = home.split(".")[: home.count(".") + 2 - level]
    return ".".join([*base, name] if name else base)


def contract_faults(contract: Mapping[str, Row]) -> list[str]:
    """List the rows that contradict the rules for their kind."""
    faults = []
    for room, row in contract.items():
        for other in sorted(row.rooms):
            if other not in contract:
                faults.append(f"row {room} names {other}, which has no row")
            elif contract[other].kind not in MAY_NAME[row.kind]:
                faults.append(
                    f"row {room} ({row.kind}) names {other} ({contract[other].kind}): "
                    f"{_kind_rule(row.kind)}"
                )
        for library in sorted(row.libraries & HOMES.keys()):
            home, reason = HOMES[library]
            if room != home:
                faults.append(f"row {room} names {library}, whose only home is {home}: {reason}")
    return faults


def offences(package: Path, contract: Mapping[str, Row] = CONTRACT) -> list[Offence]:
    """List everything in a package that breaks the contract, in file order."""
    modules = read_package(package)
    found = [*_unknown_rooms(modules, contract), *_cycles(modules)]
    for module in modules.values():
        row = contract.get(room_of(module.name))
        if row is not None:
            found += _broken_row(module, row, package.name, contract)
    return sorted(set(found))


def _unknown_rooms(modules: Mapping[str, Module], contract: Mapping[str, Row]) -> list[Offence]:
    first_files = {room_of(name): modules[name].file for name in sorted(modules, reverse=True)}
    return [
        Offence(file, 1, f"room {room} has no row: add one to CONTRACT in {Path(__file__).name}")
        for room, file in first_files.items()
        if room not in contract
    ]


def _broken_row(
    module: Module, row: Row, package: str, contract: Mapping[str, Row]
) -> Iterator[Offence]:
    room = room_of(module.name)
    for imported in module.imports:
        top = imported.name.partition(".")[0]
        if top == package:
            other = room_of(imported.name)
            if other == room or other in row.rooms:
                continue
            what, why = f"room {other}", _room_reason(row, contract.get(other))
        elif top in sys.stdlib_module_names or top in row.libraries:
            continue
        else:
            what, why = f"library {top}", _library_reason(top, row)
        message = f"room {room} ({row.kind}) imports {what}: {why}"
        yield Offence(module.file, imported.line, message)


def _room_reason(row: Row, other: Row | None) -> str:
    if other is not None and other.kind not in MAY_NAME[row.kind]:
        return _kind_rule(row.kind)
    return f"its row allows {_listed(row.rooms)} ({row.reason})"


def _library_reason(library: str, row: Row) -> str:
    if library in HOMES:
        home, reason = HOMES[library]
        return f"only room {home} may ({reason})"
    return f"its row allows {_listed(row.libraries)}"


def _kind_rule(kind: Kind) -> str:
    return f"a {kind} may import only {' and '.join(f'{k}s' for k in Kind if k in MAY_NAME[kind])}"


def _listed(names: frozenset[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _cycles(modules: Mapping[str, Module]) -> list[Offence]:
    """Find a cycle of imports between modules; the next one shows when this one is gone."""
    graph = {
        name: sorted({i.name for i in module.imports} & modules.keys() - {name})
        for name, module in modules.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        # graphlib lists each module before the one that imports it
        cycle: list[str] = error.args[1][::-1]
        start = cycle.index(min(cycle))
        path = [*cycle[start:-1], *cycle[:start], cycle[start]]
        first = modules[path[0]]
        line = next(i.line for i in first.imports if i.name == path[1])
        return [Offence(first.file, line, f"import cycle: {' -> '.join(path)}")]
    return []


def unbuilt_rooms(package: Path, contract: Mapping[str, Row] = CONTRACT) -> list[str]:
    """List the rows whose room has no file yet."""
    built = {room_of(_module_name(path, package)) for path in package.rglob("*.py")}
    return [room for room in contract if room not in built]


def main() -> int:
    """Check the real package against the real contract."""
    complaints = [*contract_faults(CONTRACT), *map(str, offences(PACKAGE))]
    for complaint in complaints:
        print(complaint)
    if unbuilt := unbuilt_rooms(PACKAGE):
        print(f"note: rows without a room yet: {', '.join(unbuilt)}")
    if not complaints:
        print("import directions: no offence")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
