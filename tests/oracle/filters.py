"""Random filters over a typed row, and rows that stand close around the constants they use.

Few columns and few constants, so that filters often imply one another, and rows on both sides of
every constant, so that a wrong implication has a row that shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from math import inf, nan
from random import Random

from cubekeeper.scalar.build import call, case, cast, column, literal
from cubekeeper.scalar.nodes import Expr, LiteralValue
from cubekeeper.schema import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Column,
    decimal,
)


@dataclass(frozen=True)
class Domain:
    """A column, the constants it is compared with, and the values it takes (None is NULL)."""

    column: Column
    constants: tuple[LiteralValue, ...]
    values: tuple[LiteralValue, ...]

    @property
    def ref(self) -> Expr:
        """The column as an expression over the fact table."""
        return column((), self.column)


def _dates(*texts: str) -> tuple[date, ...]:
    return tuple(date.fromisoformat(text) for text in texts)


def _times(*texts: str) -> tuple[datetime, ...]:
    return tuple(datetime.fromisoformat(text) for text in texts)


_BIG = 2**53  # where doubles stop telling integers apart

DOMAINS: tuple[Domain, ...] = (
    Domain(
        Column("i", INT),
        (2, 3, 5, Decimal("2.5"), Decimal("3.0"), 2.5, 5.0),
        (None, 2 - 2**31, 0, 1, 2, 3, 4, 5, 6, 2**31 - 2),
    ),
    Domain(Column("n", INT, nullable=False), (2, 3, 4), (-1, 1, 2, 3, 4, 5, 70000)),
    Domain(
        Column("b", BIGINT),
        (3, _BIG, _BIG + 1, float(_BIG), Decimal("2.5")),
        (None, -(2**62), 2, 3, 4, _BIG - 1, _BIG, _BIG + 1, _BIG + 2),
    ),
    Domain(
        Column("d", decimal(6, 2)),
        (1, 2, Decimal("1.50"), Decimal("1.505"), 1.5, Decimal("9999.99")),
        tuple(
            None if text is None else Decimal(text)
            for text in (
                None,
                "-9999.99",
                "0.99",
                "1",
                "1.01",
                "1.49",
                "1.50",
                "1.51",
                "2",
                "9999.99",
            )
        ),
    ),
    Domain(
        Column("s", STRING),
        ("a", "ab", "b", "", "é", "ab\x00"),
        (
            None,
            "",
            "B",
            "a",
            "a\x00",
            "aa",
            "ab",
            "ab\x00",
            "abc",
            "ac",
            "b",
            "é",
            "éa",
            "ê",
            "\U0001f600",
        ),
    ),
    Domain(
        Column("t", DATE),
        _dates("2023-12-31", "2024-01-01", "2024-02-29", "2024-12-31"),
        (
            None,
            *_dates("1969-12-31", "2023-12-30", "2023-12-31", "2024-01-01", "2024-01-02"),
            *_dates("2024-02-28", "2024-02-29", "2024-03-01", "2024-12-31", "2025-01-01"),
        ),
    ),
    Domain(
        Column("z", TIMESTAMP),
        _times("2024-01-01", "2024-01-01 06:00", "2024-03-01", "2024-03-31 02:30"),
        (
            None,
            *_times("2023-12-31 23:59:59", "2024-01-01", "2024-01-01 06:00", "2024-02-01"),
            *_times("2024-03-01", "2024-03-01 00:00:01", "2024-03-31 02:30", "2024-03-31 03:00"),
        ),
    ),
    Domain(
        Column("y", TIMESTAMP_NTZ),
        (*_times("2024-01-01", "2024-01-01 06:00"), *_dates("2024-01-01")),
        (
            None,
            *_times("2023-12-31 23:59:59.999999", "2024-01-01", "2024-01-01 06:00", "2024-01-02"),
        ),
    ),
    Domain(Column("f", BOOLEAN), (True, False), (None, False, True)),
    Domain(Column("h", BOOLEAN, nullable=False), (True,), (False, True)),
    Domain(
        Column("g", DOUBLE),
        (0.5, Decimal("0.1"), 1, 0.0),
        (None, -inf, -1.0, -0.0, 0.0, 5e-324, 0.1, 0.5, 0.5000000000000001, 1.0, 2.0, inf, nan),
    ),
)

_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")


def random_conjunction(
    rng: Random, domains: Sequence[Domain], *, dense: bool = False
) -> tuple[Expr, ...]:
    """A filter: one to three conjuncts.

    A `dense` one has only parts that the values of `DOMAINS` cover: what holds for those
    holds for all values. Relations of columns, inner wildcards and the like are left out.
    """
    count = rng.choice((1, 1, 2, 3))
    return tuple(random_condition(rng, domains, 2, dense=dense) for _ in range(count))


def random_condition(
    rng: Random, domains: Sequence[Domain], depth: int, *, dense: bool = False
) -> Expr:
    """A boolean expression over some of the columns."""
    kind = rng.random() if depth else 0.0
    if kind < 0.55:
        return _atom(rng, rng.choice(domains), () if dense else domains)
    parts = [
        random_condition(rng, domains, depth - 1, dense=dense) for _ in range(rng.choice((2, 2, 3)))
    ]
    if kind < 0.72:
        return call("and", *parts)
    if kind < 0.9:
        return call("or", *parts)
    return call("not", parts[0])


def _atom(rng: Random, domain: Domain, others: Sequence[Domain]) -> Expr:
    ref = domain.ref
    if domain.column.type == BOOLEAN and rng.random() < 0.6:
        return ref if rng.random() < 0.5 else call("not", ref)
    choice = rng.randrange(20)
    if choice < 9:
        return call(rng.choice(_COMPARISONS), _dressed(rng, domain, others), _constant(rng, domain))
    if choice < 11:
        low, high = _constant(rng, domain), _constant(rng, domain)
        return call("and", call(">=", ref, low), call("<=", ref, high))
    if choice < 14:
        items = [_constant(rng, domain) for _ in range(rng.choice((1, 2, 3)))]
        if rng.random() < 0.15:
            items.append(literal(None))
        inside = call("in", ref, *items)
        return inside if rng.random() < 0.6 else call("not", inside)
    if choice < 16:
        null = call("is_null", _dressed(rng, domain, others))
        return null if rng.random() < 0.4 else call("not", null)
    if choice == 16:
        constant = literal(None) if rng.random() < 0.3 else _constant(rng, domain)
        return call("<=>", ref, constant)
    return _special_atom(rng, domain, others)


def _special_atom(rng: Random, domain: Domain, others: Sequence[Domain]) -> Expr:
    ref, kind = domain.ref, domain.column.type
    if kind == STRING:
        plain = ("a%", "ab%", "ab", "%", "é%")
        pattern = rng.choice((*plain, "a%b", "_b%", "a\\%%") if others else plain)
        like = call("like", ref, literal(pattern))
        starts = call("startswith", ref, literal(rng.choice(("a", "ab", "é"))))
        return rng.choice((like, call("not", like), starts))
    if kind == DATE and rng.random() < 0.5:
        return call(rng.choice(_COMPARISONS), call("year", ref), literal(rng.choice((2023, 2024))))
    if kind == DOUBLE and rng.random() < 0.4:
        return call("isnan", ref)
    alike = [other for other in others if other is not domain and _family(other) == _family(domain)]
    if alike:
        return call(rng.choice((*_COMPARISONS, "<=>")), ref, rng.choice(alike).ref)
    branches = [(_comparison(rng, domain), _comparison(rng, domain))]
    return case(branches, rng.choice((None, literal(False), _comparison(rng, domain))))


def _comparison(rng: Random, domain: Domain) -> Expr:
    return call(rng.choice(_COMPARISONS), domain.ref, _constant(rng, domain))


def _family(domain: Domain) -> str:
    kind = domain.column.type
    return "number" if kind.is_numeric else "time" if kind.is_temporal else str(kind)


def _constant(rng: Random, domain: Domain) -> Expr:
    return _typed(rng.choice(domain.constants), domain)


def _typed(value: LiteralValue, domain: Domain) -> Expr:
    return literal(value, domain.column.type) if isinstance(value, datetime) else literal(value)


def _dressed(rng: Random, domain: Domain, others: Sequence[Domain]) -> Expr:
    """The column, or now and then a function of it that has its type."""
    ref, kind = domain.ref, domain.column.type
    if rng.random() < 0.7:
        return ref
    constant = next(value for value in domain.constants if not isinstance(value, float | Decimal))
    choices: list[Expr] = [call("coalesce", ref, _typed(constant, domain))]
    if kind == INT:
        choices += [call("+", ref, literal(1)), call("-", ref, literal(2)), cast(ref, BIGINT)]
        choices += [cast(ref, decimal(12, 2)), cast(ref, DOUBLE), call("nullif", ref, literal(3))]
    if kind == DATE:
        choices += [call("date_add", ref, literal(1))]
        choices += [
            call("trunc", ref, literal(unit)) for unit in ("YEAR", "QUARTER", "MONTH", "WEEK")
        ]
    if kind == DATE and others:
        choices.append(call("last_day", ref))
    if kind == STRING and others:
        choices.append(call("lower", ref))
    return rng.choice(choices)
