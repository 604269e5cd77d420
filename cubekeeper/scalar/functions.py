"""Every operator and function that a declaration may use: one table, `FUNCTIONS`.

A row says how many arguments are taken, of which types, the type of the result, and when the
result is NULL. Names are canonical; `ALIASES` maps Spark's other spellings to them, `REFUSED` names
the functions that are understood but cannot be maintained.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Final

from cubekeeper.scalar.nodes import Expr, Literal
from cubekeeper.scalar.types import TypeProblem, arithmetic_type, common_type
from cubekeeper.schema import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    MAX_DECIMAL_PRECISION,
    NULL,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TINYINT,
    DataType,
    Kind,
    decimal,
)

Args = tuple[Expr, ...]
TypeRule = Callable[[Args], DataType]


class Accepts(Enum):
    """What a parameter takes, in words; a bare NULL is taken everywhere."""

    ANY = "any value"
    BOOLEAN = "a boolean"
    NUMBER = "a number"
    EXACT = "an integer or decimal"
    INTEGER = "an integer"
    INT = "an int"
    STRING = "a string"
    TEMPORAL = "a date or timestamp"
    CONSTANT = "a literal"

    def admits(self, expr: Expr) -> bool:
        """Whether an argument may stand here."""
        kind = expr.type
        if kind == NULL and self is not Accepts.CONSTANT:
            return True
        match self:
            case Accepts.ANY:
                return True
            case Accepts.BOOLEAN:
                return kind == BOOLEAN
            case Accepts.NUMBER:
                return kind.is_numeric
            case Accepts.EXACT:
                return kind.is_numeric and not kind.is_float
            case Accepts.INTEGER:
                return kind.is_integer
            case Accepts.INT:
                return kind in (TINYINT, SMALLINT, INT)
            case Accepts.STRING:
                return kind == STRING
            case Accepts.TEMPORAL:
                return kind.is_temporal
            case Accepts.CONSTANT:
                return isinstance(expr, Literal) and expr.value is not None


class Nulls(Enum):
    """When a result can be NULL."""

    ANY = "when any argument is"
    ALL = "when all arguments are"
    FIRST = "when the first argument is"
    ALWAYS = "with any arguments"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Function:
    """A row of the table; the last parameter may repeat."""

    name: str
    least: int
    most: int | None
    parameters: tuple[Accepts, ...]
    result: TypeRule
    nulls: Nulls = Nulls.ANY
    usage: str = ""

    @property
    def title(self) -> str:
        """The name as people write it.

        >>> FUNCTIONS["not"].title, FUNCTIONS["+"].title, FUNCTIONS["upper"].title
        ('NOT', '`+`', 'upper')
        """
        if self.name in ("and", "or", "not", "in", "like", "ilike", "rlike", "div"):
            return self.name.upper()
        return self.name if self.name[0].isalpha() else f"`{self.name}`"

    def parameter(self, index: int) -> Accepts:
        """What the argument at a position must be."""
        return self.parameters[min(index, len(self.parameters) - 1)]

    def nullable(self, args: Args) -> bool:
        """Whether the result can be NULL, given what the arguments can be."""
        match self.nulls:
            case Nulls.ANY:
                return any(arg.nullable for arg in args)
            case Nulls.ALL:
                return all(arg.nullable for arg in args)
            case Nulls.FIRST:
                return args[0].nullable
            case Nulls.ALWAYS:
                return True
            case Nulls.NEVER:
                return False


# --- the types of results ---------------------------------------------------------------------


def _always(result: DataType) -> TypeRule:
    return lambda _: result


def _same(args: Args) -> DataType:
    return args[0].type


def _arithmetic(operator: str) -> TypeRule:
    def rule(args: Args) -> DataType:
        left, right = args
        return arithmetic_type(operator, _beside(left, right), _beside(right, left))

    return rule


def _beside(operand: Expr, other: Expr) -> DataType:
    """An integer literal beside a decimal is as small a decimal as its digits allow."""
    if (
        isinstance(operand, Literal)
        and operand.type in (SMALLINT, INT, BIGINT)
        and other.type.kind is Kind.DECIMAL
        and operand.value is not None
    ):
        return decimal(len(str(operand.value).lstrip("-")), 0)
    return operand.type


def _common(args: Args) -> DataType:
    result = common_type(arg.type for arg in args)
    if result is None:
        first = args[0].type
        at = next(i for i, arg in enumerate(args) if common_type((first, arg.type)) is None)
        raise mixed(first, args[at].type, at)
    return result


def mixed(left: DataType, right: DataType, argument: int) -> TypeProblem:
    """The problem of two values that have no type in common."""
    return TypeProblem(
        f"{left} and {right} do not mix",
        hint=f"convert one of them: CAST(… AS {str(left).upper()})",
        argument=argument,
    )


def _comparison(args: Args) -> DataType:
    _common(args)
    return BOOLEAN


def _nullif(args: Args) -> DataType:
    _common(args)
    return args[0].type


def _whole(args: Args) -> DataType:
    kind = args[0].type
    if kind.kind is Kind.DECIMAL:
        if kind.scale == 0:
            return kind
        return decimal(min(kind.precision - kind.scale + 1, MAX_DECIMAL_PRECISION), 0)
    return BIGINT


def _round(args: Args) -> DataType:
    kind = args[0].type
    digits = args[1].value if len(args) > 1 and isinstance(args[1], Literal) else 0
    if not isinstance(digits, int) or isinstance(digits, bool):
        raise TypeProblem("the number of digits of round is an integer literal", argument=1)
    if kind.kind is not Kind.DECIMAL:
        return kind
    integer_digits = kind.precision - kind.scale + 1
    if digits < 0:
        return decimal(min(max(integer_digits, 1 - digits), MAX_DECIMAL_PRECISION), 0)
    scale = min(kind.scale, digits)
    return decimal(min(integer_digits + scale, MAX_DECIMAL_PRECISION), scale)


# --- the table --------------------------------------------------------------------------------

_ANY, _BOOL, _NUM, _INT, _STR, _TIME, _CONST = (
    Accepts.ANY,
    Accepts.BOOLEAN,
    Accepts.NUMBER,
    Accepts.INTEGER,
    Accepts.STRING,
    Accepts.TEMPORAL,
    Accepts.CONSTANT,
)


def _row(
    name: str,
    parameters: tuple[Accepts, ...],
    result: DataType | TypeRule,
    *,
    optional: int = 0,
    repeats: bool = False,
    nulls: Nulls = Nulls.ANY,
    usage: str = "",
) -> Function:
    rule = _always(result) if isinstance(result, DataType) else result
    most = None if repeats else len(parameters)
    return Function(name, len(parameters) - optional, most, parameters, rule, nulls, usage)


def _rows(names: str, parameters: tuple[Accepts, ...], result: DataType) -> list[Function]:
    return [_row(name, parameters, result) for name in names.split()]


_TABLE: Final = [
    # arithmetic
    *(_row(name, (_NUM, _NUM), _arithmetic(name)) for name in ("+", "-", "*", "/", "%", "pmod")),
    _row("div", (Accepts.EXACT, Accepts.EXACT), BIGINT),
    _row("negate", (_NUM,), _same),
    _row("abs", (_NUM,), _same),
    _row("ceil", (_NUM,), _whole),
    _row("floor", (_NUM,), _whole),
    _row("round", (_NUM, _CONST), _round, optional=1, usage="round(x [, digits])"),
    _row("bround", (_NUM, _CONST), _round, optional=1, usage="bround(x [, digits])"),
    *_rows("sign sqrt exp", (_NUM,), DOUBLE),
    *(_row(name, (_NUM,), DOUBLE, nulls=Nulls.ALWAYS) for name in ("ln", "log10", "log2")),
    _row("pow", (_NUM, _NUM), DOUBLE),
    # comparison and logic
    *(_row(name, (_ANY, _ANY), _comparison) for name in ("=", "<>", "<", "<=", ">", ">=")),
    _row("<=>", (_ANY, _ANY), _comparison, nulls=Nulls.NEVER),
    _row("in", (_ANY, _ANY), _comparison, repeats=True),
    _row("and", (_BOOL, _BOOL), BOOLEAN, repeats=True),
    _row("or", (_BOOL, _BOOL), BOOLEAN, repeats=True),
    _row("not", (_BOOL,), BOOLEAN),
    _row("is_null", (_ANY,), BOOLEAN, nulls=Nulls.NEVER),
    _row("isnan", (_NUM,), BOOLEAN, nulls=Nulls.NEVER),
    _row("like", (_STR, _STR, _CONST), BOOLEAN, optional=1, usage="x LIKE pattern [ESCAPE '!']"),
    _row("ilike", (_STR, _STR, _CONST), BOOLEAN, optional=1, usage="x ILIKE pattern [ESCAPE '!']"),
    _row("rlike", (_STR, _CONST), BOOLEAN, usage="x RLIKE 'pattern'"),
    # choice
    _row("coalesce", (_ANY,), _common, repeats=True, nulls=Nulls.ALL),
    _row("nullif", (_ANY, _ANY), _nullif, nulls=Nulls.ALWAYS),
    _row("greatest", (_ANY, _ANY), _common, repeats=True, nulls=Nulls.ALL),
    _row("least", (_ANY, _ANY), _common, repeats=True, nulls=Nulls.ALL),
    # strings
    _row("concat", (_STR, _STR), STRING, repeats=True),
    _row("concat_ws", (_STR, _STR), STRING, repeats=True, nulls=Nulls.FIRST),
    *_rows("upper lower initcap reverse", (_STR,), STRING),
    *(_row(name, (_STR, _STR), STRING, optional=1) for name in ("trim", "ltrim", "rtrim")),
    _row("length", (_STR,), INT),
    _row("ascii", (_STR,), INT),
    _row(
        "substring", (_STR, _INT, _INT), STRING, optional=1, usage="substring(x, from [, length])"
    ),
    *_rows("left right repeat", (_STR, _INT), STRING),
    _row("replace", (_STR, _STR, _STR), STRING),
    _row("translate", (_STR, _STR, _STR), STRING),
    _row("lpad", (_STR, _INT, _STR), STRING),
    _row("rpad", (_STR, _INT, _STR), STRING),
    _row("locate", (_STR, _STR, _INT), INT, optional=1, usage="locate(part, text [, from])"),
    *_rows("startswith endswith contains", (_STR, _STR), BOOLEAN),
    _row("substring_index", (_STR, _STR, _INT), STRING),
    _row("split_part", (_STR, _STR, _INT), STRING),
    # dates
    _row("date_trunc", (_CONST, _TIME), TIMESTAMP, usage="date_trunc('MONTH', x)"),
    _row("trunc", (_TIME, _CONST), DATE, usage="trunc(x, 'MONTH')"),
    *_rows(
        "year quarter month weekofyear day dayofweek weekday dayofyear hour minute second",
        (_TIME,),
        INT,
    ),
    _row("last_day", (_TIME,), DATE),
    *_rows("date_add date_sub", (_TIME, Accepts.INT), DATE),
    _row("add_months", (_TIME, _INT), DATE),
    _row("datediff", (_TIME, _TIME), INT, usage="datediff(end, start)"),
    _row("months_between", (_TIME, _TIME), DOUBLE),
    _row("make_date", (_INT, _INT, _INT), DATE),
    _row("to_date", (_STR, _CONST), DATE, usage="to_date(text, 'yyyy-MM-dd')"),
    _row("date_format", (_TIME, _CONST), STRING, usage="date_format(x, 'yyyy-MM')"),
    _row("unix_date", (_TIME,), INT),
]

FUNCTIONS: Final[Mapping[str, Function]] = MappingProxyType({row.name: row for row in _TABLE})

ALIASES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "mod": "%",
        "negative": "negate",
        "ceiling": "ceil",
        "signum": "sign",
        "power": "pow",
        "equal_null": "<=>",
        "isnull": "is_null",
        "nvl": "coalesce",
        "ifnull": "coalesce",
        "ucase": "upper",
        "lcase": "lower",
        "char_length": "length",
        "character_length": "length",
        "len": "length",
        "substr": "substring",
        "regexp": "rlike",
        "regexp_like": "rlike",
        "week": "weekofyear",
        "dayofmonth": "day",
        "dateadd": "date_add",
        "date_diff": "datediff",
    }
)
"""Other names of the same function with the same arguments."""

UNITS: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "trunc": MappingProxyType(
            {
                **dict.fromkeys(("YEAR", "YYYY", "YY"), "YEAR"),
                "QUARTER": "QUARTER",
                **dict.fromkeys(("MONTH", "MM", "MON"), "MONTH"),
                "WEEK": "WEEK",
            }
        ),
        "date_trunc": MappingProxyType(
            {
                **dict.fromkeys(("YEAR", "YYYY", "YY"), "YEAR"),
                "QUARTER": "QUARTER",
                **dict.fromkeys(("MONTH", "MM", "MON"), "MONTH"),
                "WEEK": "WEEK",
                **dict.fromkeys(("DAY", "DD"), "DAY"),
                **{unit: unit for unit in ("HOUR", "MINUTE", "SECOND")},
            }
        ),
    }
)
"""The units of truncation, each with its one canonical name."""

_CHANGING: Final = (
    "gives another value at every evaluation, so a table could not be kept equal to it"
)
_NOW: Final = "depends on the moment of evaluation, so a table could not be kept equal to it"
_STORAGE: Final = "depends on how the rows are stored, so a table could not be kept equal to it"

NONDETERMINISTIC: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(
            "rand random randn uuid shuffle randstr uniform reflect java_method".split(),
            _CHANGING,
        ),
        **dict.fromkeys(
            "monotonically_increasing_id spark_partition_id input_file_name "
            "input_file_block_start input_file_block_length".split(),
            _STORAGE,
        ),
        **dict.fromkeys(
            "now current_date current_timestamp current_time localtimestamp localtime "
            "current_timezone curdate unix_timestamp current_user user session_user "
            "current_catalog current_database current_schema version".split(),
            _NOW,
        ),
    }
)
"""Functions whose value does not follow from their arguments, with the reason in words."""

GENERATORS: Final[frozenset[str]] = frozenset(
    "explode explode_outer posexplode posexplode_outer inline inline_outer stack json_tuple".split()
)
"""Functions that make several rows of one."""
