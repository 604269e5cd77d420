"""Random typed expressions, and a scope in which their columns are known."""

from collections.abc import Callable
from datetime import date, datetime
from typing import NamedTuple

from hypothesis import strategies as st

from cubekeeper.errors import InputError, did_you_mean
from cubekeeper.scalar.aggregates import Aggregate, AggregateFunction, aggregate
from cubekeeper.scalar.build import TypeProblem, call, case, cast, column, literal
from cubekeeper.scalar.nodes import ColumnRef, Expr, StoredRef
from cubekeeper.scalar.text import quote
from cubekeeper.schema import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    Column,
    DataType,
    decimal,
)
from cubekeeper.source import Span

COLUMNS = {
    declared.name: declared
    for declared in (
        Column("tiny", TINYINT),
        Column("small", SMALLINT, nullable=False),
        Column("qty", INT, nullable=False),
        Column("maybe_qty", INT),
        Column("big", BIGINT),
        Column("price", decimal(12, 2), nullable=False),
        Column("rate", decimal(5, 4)),
        Column("wide", decimal(38, 10)),
        Column("real", FLOAT),
        Column("ratio", DOUBLE, nullable=False),
        Column("name", STRING, nullable=False),
        Column("note", STRING),
        Column("unit price", STRING),
        Column("open", BOOLEAN, nullable=False),
        Column("flag", BOOLEAN),
        Column("date", DATE, nullable=False),
        Column("due", DATE),
        Column("at", TIMESTAMP),
        Column("local", TIMESTAMP_NTZ, nullable=False),
    )
}


class TestScope:
    """All columns of `COLUMNS`, in the fact table or behind any path."""

    __test__ = False

    def resolve(self, parts: tuple[str, ...], span: Span) -> Expr:
        *path, name = parts
        if name not in COLUMNS:
            raise InputError(
                "unknown-column",
                f"there is no column `{name}`",
                span=span,
                hint=did_you_mean(name, COLUMNS),
            )
        return column(tuple(path), COLUMNS[name])


SCOPE = TestScope()


def written(ref: ColumnRef | StoredRef) -> str:
    """The name of a column, with its path."""
    path = ref.path if isinstance(ref, ColumnRef) else ()
    return ".".join(map(quote, (*path, ref.column)))


def _columns(*wanted: Callable[[DataType], bool]) -> st.SearchStrategy[Expr]:
    fitting = [c for c in COLUMNS.values() if any(test(c.type) for test in wanted)]
    return st.builds(column, st.sampled_from([(), (), ("store",)]), st.sampled_from(fitting))


texts = st.text(
    st.characters(codec="utf-8") | st.sampled_from("'\\\"%_`\n\t\0{}$"),
    max_size=6,
)
dates = st.dates(date(1000, 1, 1), date(9000, 12, 31))
timestamps = st.datetimes(datetime(1000, 1, 1), datetime(9000, 12, 31))
numbers = (
    st.integers(-12, 12)
    | st.integers(-(1 << 63), (1 << 63) - 1)
    | st.decimals(-999, 999, places=2)
    | st.decimals(
        allow_nan=False, allow_infinity=False, places=9, max_value=10**20, min_value=-(10**20)
    )
    | st.floats(allow_nan=False, allow_infinity=False)
)
typed_numbers = st.one_of(
    st.builds(literal, numbers),
    st.builds(literal, st.integers(-128, 127), st.sampled_from([TINYINT, SMALLINT, BIGINT])),
    st.builds(literal, st.integers(-999, 999), st.sampled_from([decimal(12, 2), decimal(3, 0)])),
    st.builds(literal, st.floats(-1e30, 1e30, allow_nan=False), st.just(FLOAT)),
    st.builds(literal, st.none(), st.sampled_from([INT, decimal(12, 2), DOUBLE])),
)


def _is_number(kind: DataType) -> bool:
    return kind.is_numeric


def _is_temporal(kind: DataType) -> bool:
    return kind.is_temporal


@st.composite
def _built(draw: st.DrawFn, name: str, *parts: st.SearchStrategy[Expr]) -> Expr:
    """A call that type-checks, or the first part when it does not."""
    args = [draw(part) for part in parts]
    try:
        return call(name, *args)
    except TypeProblem:
        return args[0]


def _among(names: str, *parts: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    return st.sampled_from(names.split()).flatmap(lambda name: _built(name, *parts))


def _constants(*values: str | int) -> st.SearchStrategy[Expr]:
    return st.builds(literal, st.sampled_from(values))


@st.composite
def _cases(
    draw: st.DrawFn, conditions: st.SearchStrategy[Expr], results: st.SearchStrategy[Expr]
) -> Expr:
    branches = draw(st.lists(st.tuples(conditions, results), min_size=1, max_size=2))
    default = draw(st.none() | results)
    try:
        return case(branches, default)
    except TypeProblem:
        return branches[0][1]


@st.composite
def _casts(draw: st.DrawFn, operands: st.SearchStrategy[Expr], types: tuple[DataType, ...]) -> Expr:
    operand = draw(operands)
    try:
        return cast(operand, draw(st.sampled_from(types)))
    except TypeProblem:
        return operand


class Kinds(NamedTuple):
    """Strategies for the four families of expressions."""

    numbers: st.SearchStrategy[Expr]
    texts: st.SearchStrategy[Expr]
    times: st.SearchStrategy[Expr]
    booleans: st.SearchStrategy[Expr]


LEAVES = Kinds(
    _columns(_is_number) | typed_numbers,
    _columns(lambda kind: kind == STRING) | st.builds(literal, texts),
    _columns(_is_temporal)
    | st.builds(literal, dates)
    | st.builds(literal, timestamps, st.sampled_from([TIMESTAMP, TIMESTAMP_NTZ])),
    _columns(lambda kind: kind == BOOLEAN) | st.builds(literal, st.booleans()),
)


def deeper(below: Kinds) -> Kinds:
    """Expressions one level deeper than those given."""
    number, text, time, boolean = below
    numbers = st.one_of(
        _among("+ - * / % pmod", number, number),
        _among("div greatest least coalesce nullif", number, number),
        _among("negate abs ceil floor round sign sqrt", number),
        _built("round", number, _constants(-2, 0, 1, 3)),
        _among("year quarter month weekofyear day dayofweek weekday dayofyear", time),
        _built("datediff", time, time),
        _among("length ascii", text),
        _built("locate", text, text),
        _cases(boolean, number),
        _casts(number, (INT, BIGINT, decimal(20, 4), DOUBLE, FLOAT)),
    )
    texts = st.one_of(
        _built("concat", text, text),
        _among("upper lower trim ltrim rtrim initcap reverse", text),
        _among("trim ltrim rtrim", text, _constants("x", " ")),
        _built("substring", text, _constants(1, 2), _constants(1, 3)),
        _among("left right", text, _constants(0, 2)),
        _built("replace", text, text, text),
        _among("lpad rpad", text, _constants(3), _constants("-", "ab")),
        _among("coalesce nullif greatest", text, text),
        _cases(boolean, text),
        _casts(number | boolean | time, (STRING,)),
    )
    times = st.one_of(
        _built("date_trunc", _constants("MONTH", "week", "HOUR"), time),
        _built("trunc", time, _constants("MONTH", "yy", "week")),
        _built("last_day", time),
        _among("date_add date_sub add_months + -", time, _constants(-3, 1, 12)),
        _among("coalesce nullif least", time, time),
        _cases(boolean, time),
        _casts(time, (DATE, TIMESTAMP, TIMESTAMP_NTZ)),
    )
    comparisons = "= <> < <= > >= <=>"
    booleans = st.one_of(
        _among(comparisons, number, number),
        _among(comparisons, text, text),
        _among(comparisons, time, time),
        _among("and or = <=>", boolean, boolean),
        _among("and or", boolean, boolean, boolean),
        _built("not", boolean),
        _built("is_null", number | text | time | boolean),
        _built("in", number, number, number),
        _built("in", text, text, text),
        _built("in", time, time, time),
        _among("like ilike", text, text),
        _built("like", text, text, _constants("!", "/")),
        _among("startswith endswith contains", text, text),
        _cases(boolean, boolean),
    )
    return Kinds(
        *(
            shallow | deep
            for shallow, deep in zip(below, (numbers, texts, times, booleans), strict=True)
        )
    )


DEEP = deeper(deeper(deeper(LEAVES)))
exprs: st.SearchStrategy[Expr] = st.one_of(*DEEP)


@st.composite
def aggregates(draw: st.DrawFn) -> Aggregate:
    function = draw(st.sampled_from(AggregateFunction))
    if function is AggregateFunction.COUNT_ROWS:
        return aggregate(function)
    return aggregate(function, draw(DEEP.numbers))
