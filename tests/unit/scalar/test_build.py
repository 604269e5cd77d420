"""The builders: type checks, nullability, and one canonical form for one meaning."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given

from cubekeeper.scalar.build import (
    TypeProblem,
    call,
    case,
    cast,
    column,
    conjoin,
    conjuncts,
    literal,
    stored,
)
from cubekeeper.scalar.functions import ALIASES, FUNCTIONS, GENERATORS, NONDETERMINISTIC
from cubekeeper.scalar.nodes import Call, Cast, Expr, Literal
from cubekeeper.scalar.order import guard_rank, sort_key
from cubekeeper.schema import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    Column,
    decimal,
)
from tests.unit.scalar.expressions import COLUMNS, DEEP, exprs

QTY, PRICE, NOTE, DUE, FLAG, OPEN, BIG, MAYBE = (
    column((), COLUMNS[name])
    for name in ("qty", "price", "note", "due", "flag", "open", "big", "maybe_qty")
)


# --- one meaning, one form


def test_a_literal_stands_on_the_right() -> None:
    assert call("<", literal(5), QTY) == call(">", QTY, literal(5))
    assert call(">=", literal(5), QTY) == call("<=", QTY, literal(5))
    assert call("=", literal(5), QTY) == call("=", QTY, literal(5))


def test_equalities_have_one_order() -> None:
    assert call("=", QTY, BIG) == call("=", BIG, QTY)
    assert call("<", QTY, BIG) == call(">", BIG, QTY)
    assert call("<=>", QTY, BIG) == call("<=>", BIG, QTY)


def test_conjunctions_are_flat_and_ordered() -> None:
    a, b = call(">", QTY, literal(1)), call("is_null", NOTE)
    assert call("and", a, call("and", b, FLAG)) == call("and", call("and", FLAG, a), b, a)
    assert call("and", a, a) == a
    assert len(conjuncts(call("and", a, b, FLAG))) == 3
    assert conjuncts(a) == (a,)
    assert conjoin([]) is None
    assert conjoin([a]) == a


def test_bounds_of_one_column_stand_together() -> None:
    low, high = call(">=", QTY, literal(1)), call("<=", QTY, literal(9))
    assert conjuncts(call("and", high, OPEN, low)) == (OPEN, low, high)


def test_a_guard_stays_in_front_of_what_it_guards() -> None:
    guard = call("<>", QTY, literal(0))
    risky = call(">", call("/", literal(1), QTY), literal(0.5))
    assert conjuncts(call("and", risky, guard)) == (guard, risky)
    assert guard_rank(guard) == 0
    assert guard_rank(call(">", call("+", QTY, BIG), literal(1))) == 1
    assert guard_rank(risky) == 2


def test_not_of_a_comparison_is_the_opposite_comparison() -> None:
    assert call("not", call("=", QTY, literal(1))) == call("<>", QTY, literal(1))
    assert call("not", call("<", QTY, literal(1))) == call(">=", QTY, literal(1))
    assert call("not", call("not", FLAG)) == FLAG
    safe = call("<=>", QTY, literal(1))
    assert call("not", safe) == Call("not", (safe,), BOOLEAN, False)


def test_in() -> None:
    assert call("in", QTY, literal(1)) == call("=", QTY, literal(1))
    built = call("in", QTY, literal(10), literal(9), literal(10))
    assert isinstance(built, Call)
    assert built.args == (QTY, literal(9), literal(10))


def test_text_compared_with_a_date_is_a_date() -> None:
    assert call("=", DUE, literal("2024-02-29")) == call("=", DUE, literal(date(2024, 2, 29)))
    with pytest.raises(TypeProblem, match="'2023-02-29' is not a date") as caught:
        call("=", DUE, literal("2023-02-29"))
    assert caught.value.argument == 1


def test_literals_are_converted_at_once() -> None:
    assert cast(literal(1), BIGINT) == literal(1, BIGINT)
    assert cast(literal(Decimal("1.5")), decimal(12, 2)) == literal(Decimal("1.50"), decimal(12, 2))
    assert cast(literal(Decimal("0.1")), DOUBLE) == literal(0.1)
    assert cast(literal(None), INT) == Literal(None, INT)
    assert cast(literal("2024-01-01"), DATE) == literal(date(2024, 1, 1))
    assert isinstance(cast(literal(Decimal("1.25")), decimal(2, 1)), Cast), "would round"
    assert isinstance(cast(literal(300), COLUMNS["tiny"].type), Cast), "would overflow"
    assert isinstance(cast(literal("12"), INT), Cast)


def test_one_zero() -> None:
    assert literal(-0.0) == literal(0.0)
    assert str(literal(Decimal("-0.00")).value) == "0.00"


def test_negation_of_a_literal() -> None:
    assert call("negate", literal(5)) == literal(-5)
    least = literal(-(1 << 31))
    assert call("negate", least) == Call("negate", (least,), INT, False), "would overflow"
    long = literal(Decimal("-12345678901234567890123456789012345678"))
    assert call("negate", call("negate", long)) == long


def test_dates_and_numbers() -> None:
    assert call("+", DUE, literal(3)) == call("date_add", DUE, literal(3))
    assert call("+", literal(3), DUE) == call("date_add", DUE, literal(3))
    assert call("-", DUE, literal(3)) == call("date_add", DUE, literal(-3))
    assert call("date_sub", DUE, QTY) == Call("date_sub", (DUE, QTY), DATE, True)


def test_concatenations_are_flat() -> None:
    assert call("concat", NOTE, call("concat", NOTE, NOTE)) == call("concat", NOTE, NOTE, NOTE)


def test_units_have_one_name() -> None:
    assert call("trunc", DUE, literal("mm")) == call("trunc", DUE, literal("MONTH"))


def test_else_null_is_no_else() -> None:
    assert case([(FLAG, QTY)], literal(None)) == case([(FLAG, QTY)])


# --- types and nullability


@pytest.mark.parametrize(
    ("expr", "nullable"),
    [
        (call("+", QTY, literal(1)), False),
        (call("+", QTY, BIG), True),
        (call("/", QTY, literal(0)), False),  # raises under ANSI
        (call("coalesce", BIG, QTY), False),
        (call("coalesce", BIG, MAYBE), True),
        (call("greatest", BIG, QTY), False),
        (call("nullif", QTY, literal(0)), True),
        (call("is_null", NOTE), False),
        (call("<=>", NOTE, NOTE), False),
        (call("in", QTY, literal(1), literal(None)), True),
        (call("concat_ws", literal("-"), NOTE), False),
        (call("ln", QTY), True),  # NULL for what has no logarithm
        (case([(FLAG, QTY)], literal(0)), False),
        (case([(FLAG, QTY)]), True),
        (cast(QTY, STRING), False),
        (cast(NOTE, INT), True),
        (literal(None), True),
    ],
    ids=lambda value: sort_key(value) if not isinstance(value, bool) else "",
)
def test_nullable(expr: Expr, nullable: bool) -> None:
    assert expr.nullable is nullable


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (1, "int"),
        (1 << 31, "bigint"),
        (-(1 << 31), "int"),
        (1 << 63, "decimal(19,0)"),
        (Decimal("1.5"), "decimal(2,1)"),
        (Decimal("1.50"), "decimal(3,2)"),
        (Decimal("0.05"), "decimal(2,2)"),
        (Decimal("0.0"), "decimal(1,1)"),
        (1.0, "double"),
        (True, "boolean"),
        ("x", "string"),
        (None, "void"),
    ],
)
def test_literal_types(value: int | float | Decimal | str | bool | None, kind: str) -> None:
    assert str(literal(value).type) == kind


def test_an_integer_literal_beside_a_decimal_is_a_small_decimal() -> None:
    assert call("*", PRICE, literal(2)).type == decimal(14, 2)
    assert call("*", PRICE, QTY).type == decimal(23, 2)
    assert call("/", PRICE, literal(3)).type == decimal(16, 6)


def test_stored_columns() -> None:
    ref = stored(Column("total", BIGINT, nullable=False))
    assert call("+", ref, literal(1)).type == BIGINT


@pytest.mark.parametrize(
    ("build", "message", "argument"),
    [
        (lambda: call("+", QTY, NOTE), r"`\+` takes a number as argument 2, not string", 1),
        (lambda: call("upper", QTY), "upper takes a string, not int", 0),
        (lambda: call("and", FLAG, QTY), "AND takes a boolean as argument", None),
        (lambda: call("not", QTY), "NOT takes a boolean, not int", 0),
        (lambda: call("=", QTY, NOTE), "int and string do not mix", 1),
        (lambda: call("coalesce", QTY, BIG, NOTE), "int and string do not mix", 2),
        (lambda: case([(QTY, QTY)]), "the condition of CASE is a boolean, not int", 0),
        (lambda: case([(FLAG, QTY)], NOTE), "int and string do not mix", 2),
        (lambda: call("substring", NOTE), "substring takes 2 to 3 arguments, not 1", None),
        (lambda: call("coalesce"), "coalesce takes at least 1 argument, not 0", None),
        (lambda: call("length", NOTE, NOTE), "length takes 1 argument, not 2", None),
        (lambda: call("date_trunc", NOTE, DUE), "date_trunc takes a literal as argument 1", 0),
        (lambda: call("date_trunc", literal("eon"), DUE), "date_trunc knows no unit 'EON'", 0),
        (lambda: call("round", PRICE, literal("x")), "is an integer literal", 1),
        (lambda: call("date_add", DUE, BIG), "date_add takes an int as argument 2, not bigint", 1),
        (lambda: call("div", literal(1.5), QTY), "DIV takes an integer or decimal", 0),
        (lambda: call("-", DUE, DUE), "a difference of dates is an interval", None),
        (lambda: cast(QTY, DATE), "int cannot be converted to date", 0),
        (lambda: cast(DUE, BOOLEAN), "date cannot be converted to boolean", 0),
        (lambda: cast(literal("x"), TIMESTAMP), "'x' is not a timestamp", 0),
        (lambda: literal(float("nan")), "nan is not a constant", None),
        (lambda: literal(Decimal(1).scaleb(50)), "more than 38 digits", None),
        (lambda: literal(1000, COLUMNS["tiny"].type), "1000 is not a constant of type", None),
    ],
)
def test_problems(build, message: str, argument: int | None) -> None:
    with pytest.raises(TypeProblem, match=message) as caught:
        build()
    if argument is not None:
        assert caught.value.argument == argument


def test_null_fits_everywhere() -> None:
    assert call("+", literal(None), QTY).type == INT
    assert call("upper", literal(None)).type == STRING
    assert call("and", FLAG, literal(None)).type == BOOLEAN
    assert case([(literal(None), literal(None))]).type == NULL


# --- the registry


def test_the_names_of_the_tables_do_not_overlap() -> None:
    assert not set(FUNCTIONS) & set(ALIASES)
    assert set(ALIASES.values()) <= set(FUNCTIONS)
    assert not (set(FUNCTIONS) | set(ALIASES)) & (set(NONDETERMINISTIC) | GENERATORS)


# --- laws


@given(exprs, exprs)
def test_the_sort_key_tells_expressions_apart(left: Expr, right: Expr) -> None:
    assert (sort_key(left) == sort_key(right)) == (left == right)


@given(DEEP.booleans, DEEP.booleans, DEEP.booleans)
def test_and_is_associative_and_commutative(a: Expr, b: Expr, c: Expr) -> None:
    assert call("and", a, call("and", b, c)) == call("and", call("and", c, a), b)
    assert call("or", a, call("or", b, c)) == call("or", call("or", c, a), b)


@given(DEEP.booleans)
def test_not_twice_is_nothing(expr: Expr) -> None:
    assert call("not", call("not", expr)) == expr
