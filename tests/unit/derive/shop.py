"""A warehouse written by hand, for tests of sizes, costs and plans: a shop with everything hard.

sales ── store ──► stores ── city ──► cities            a snowflake
      ├─ item ───► items
      ├─ ordered ► days                                  two roles of one dimension
      └─ shipped ► days
returns ── store ──► stores, item ──► items              a second fact
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random

from cubekeeper.scalar.aggregates import Aggregate, aggregate
from cubekeeper.scalar.aggregates import AggregateFunction as F
from cubekeeper.scalar.build import call, literal
from cubekeeper.scalar.nodes import ColumnRef, Expr, Path
from cubekeeper.schema import DATE, INT, STRING, Column, DataType
from cubekeeper.statistics.model import Statistics, TableStatistics, ViewStatistics
from cubekeeper.warehouse.model import (
    Dimension,
    Fact,
    ForeignKey,
    Hierarchy,
    Key,
    Level,
    Measure,
    Policy,
    SummaryTable,
    Warehouse,
)


def _columns(**types: DataType) -> tuple[Column, ...]:
    return tuple(Column(name, type_, nullable=False) for name, type_ in types.items())


def _chain(name: str, *levels: tuple[str, DataType]) -> Hierarchy:
    names = [level for level, _ in levels]
    return Hierarchy(
        name,
        tuple(Level(level, ColumnRef((), level, type_, False)) for level, type_ in levels),
        tuple(pairwise(names)),
    )


CITIES = Dimension(
    "cities",
    _columns(city=INT, region=STRING, climate=STRING),
    key=("city",),
    hierarchies=(_chain("places", ("city", INT), ("region", STRING)),),
)
STORES = Dimension(
    "stores",
    _columns(store=INT, city=INT, size=STRING),
    key=("store",),
    foreign_keys=(ForeignKey("city", ("city",), "cities"),),
)
ITEMS = Dimension(
    "items",
    _columns(item=INT, brand=STRING, category=STRING, cost=INT),
    key=("item",),
    hierarchies=(_chain("kinds", ("item", INT), ("brand", STRING), ("category", STRING)),),
)
DAYS = Dimension(
    "days",
    _columns(day=DATE, month=STRING, year=INT),
    key=("day",),
    hierarchies=(_chain("calendar", ("day", DATE), ("month", STRING), ("year", INT)),),
)
SALES = Fact(
    "sales",
    (
        *_columns(store=INT, item=INT, ordered=DATE, shipped=DATE, qty=INT),
        Column("price", INT, nullable=True),
    ),
    foreign_keys=(
        ForeignKey("store", ("store",), "stores"),
        ForeignKey("item", ("item",), "items"),
        ForeignKey("ordered", ("ordered",), "days"),
        ForeignKey("shipped", ("shipped",), "days"),
    ),
)
RETURNS = Fact(
    "returns",
    _columns(store=INT, item=INT, qty=INT),
    foreign_keys=(
        ForeignKey("store", ("store",), "stores"),
        ForeignKey("item", ("item",), "items"),
    ),
)
DIMENSIONS = (CITIES, STORES, ITEMS, DAYS)
TABLES = ("sales", "returns", *(dimension.name for dimension in DIMENSIONS))

_BARE = Warehouse("shop", (SALES, RETURNS), DIMENSIONS, ())


def column(name: str, path: Path = (), fact: str = "sales") -> ColumnRef:
    """A column by the path to its table, in canonical form."""
    return _BARE.column_at(fact, path, name)


STORE, ITEM = column("store"), column("item")
ORDERED, SHIPPED = column("ordered"), column("shipped")
QTY, PRICE = column("qty"), column("price")
SIZE = column("size", ("store",))
CITY = column("city", ("store",))
REGION = column("region", ("store", "city"))
CLIMATE = column("climate", ("store", "city"))
BRAND = column("brand", ("item",))
CATEGORY = column("category", ("item",))
COST = column("cost", ("item",))
MONTH = column("month", ("ordered",))
YEAR = column("year", ("ordered",))
SHIPPED_MONTH = column("month", ("shipped",))

COUNT = aggregate(F.COUNT_ROWS)
TOTAL = aggregate(F.SUM, QTY)
PRICES = aggregate(F.SUM, PRICE)
FIRST = aggregate(F.MIN, ORDERED)
COSTS = aggregate(F.SUM, call("*", COST, QTY))
DISTINCT = aggregate(F.COUNT_DISTINCT, PRICE)


def view(
    name: str,
    keys: Sequence[Expr],
    *aggregates: Aggregate,
    fact: str = "sales",
    where: tuple[Expr, ...] = (),
    policy: Policy = Policy.AUTO,
) -> SummaryTable:
    """A summary table; without aggregates it counts and sums quantities."""
    measures = aggregates or (COUNT, TOTAL)
    return SummaryTable(
        name,
        fact,
        tuple(Key(f"k{at}", key) for at, key in enumerate(keys)),
        tuple(Measure(f"m{at}", measure) for at, measure in enumerate(measures)),
        filter=where,
        policy=policy,
    )


def shop(*views: SummaryTable) -> Warehouse:
    """The shop with some summary tables."""
    return Warehouse("shop", (SALES, RETURNS), DIMENSIONS, views)


STATISTICS = Statistics(
    tables={
        "sales": TableStatistics(
            rows=1_000_000, distinct={"shipped": 500}, insertions=9_000, deletions=1_000
        ),
        "returns": TableStatistics(rows=50_000, insertions=500),
        "stores": TableStatistics(rows=200, distinct={"size": 4}),
        "cities": TableStatistics(rows=50, distinct={"region": 5, "climate": 3}),
        "items": TableStatistics(rows=5_000, distinct={"brand": 300, "category": 20}),
        "days": TableStatistics(rows=1_000, distinct={"month": 33, "year": 3}),
    },
    origin="the shop's figures",
)

KEYS = (STORE, ITEM, ORDERED, SHIPPED, SIZE, CITY, REGION, CLIMATE, BRAND, CATEGORY, MONTH, YEAR)
FILTERS: tuple[tuple[Expr, ...], ...] = (
    (),
    (),
    (),
    (call("=", REGION, literal("v0")),),
    (call(">", QTY, literal(2)),),
    (call("=", CATEGORY, literal("v0")), call(">", QTY, literal(2))),
)


def random_views(pick: Random, most: int, *, holistic: bool = True) -> list[SummaryTable]:
    """Some summary tables of the sales; some have the same groups as others."""
    aggregates = [COUNT, TOTAL, PRICES, FIRST, COSTS, *([DISTINCT] if holistic else [])]
    views: list[SummaryTable] = []
    for number in range(pick.randint(2, most)):
        keys: list[Expr] = list(pick.sample(KEYS, pick.choice((0, 1, 1, 2, 2, 3, 4))))
        if views and pick.random() < 0.25:
            keys = [key.expr for key in pick.choice(views).keys]
            pick.shuffle(keys)
        chosen = pick.sample(aggregates, pick.randint(1, 3))
        views.append(view(f"v{number}", keys, *chosen, where=pick.choice(FILTERS)))
    return views


def random_statistics(pick: Random, views: Sequence[SummaryTable]) -> Statistics:
    """Rows and distinct counts at random, some given and some not."""

    def maybe(most: int) -> int | None:
        return pick.randint(1, most) if pick.random() < 0.6 else None

    tables = {
        table.name: TableStatistics(
            rows=maybe(1_000_000 if isinstance(table, Fact) else 5_000),
            distinct={c.name: pick.randint(1, 500) for c in table.columns if pick.random() < 0.4},
            insertions=pick.choice((0, 1, 50, 5_000)),
            deletions=pick.choice((0, 0, 3, 500)),
            updates=pick.choice((0, 0, 2)),
        )
        for table in (SALES, RETURNS, *DIMENSIONS)
    }
    by_view = {
        v.name: ViewStatistics(rows=maybe(100_000), delta_rows=maybe(5_000))
        for v in views
        if pick.random() < 0.3
    }
    return Statistics(tables=tables, views=by_view, origin="drawn at random")
