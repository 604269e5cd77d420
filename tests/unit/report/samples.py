"""Small warehouses written by hand, and random ones, for the tests of reports."""

from __future__ import annotations

import random
from collections.abc import Sequence

from cubekeeper.derive.build import build_lattice
from cubekeeper.derive.parents import choose
from cubekeeper.lattice.choice import Maintenance
from cubekeeper.lattice.model import Lattice
from cubekeeper.scalar.aggregates import AggregateFunction as F
from cubekeeper.scalar.aggregates import aggregate
from cubekeeper.scalar.nodes import ColumnRef
from cubekeeper.schema import DATE, INT, STRING, Column
from cubekeeper.statistics.model import (
    PAPER_WEIGHTS,
    Statistics,
    TableStatistics,
    ViewStatistics,
)
from cubekeeper.warehouse.model import (
    Dimension,
    Fact,
    ForeignKey,
    Hierarchy,
    Key,
    Level,
    Measure,
    SummaryTable,
    Warehouse,
)

STORES = Dimension(
    "stores",
    (Column("storeID", INT, False), Column("city", STRING, False), Column("region", STRING, False)),
    key=("storeID",),
    hierarchies=(
        Hierarchy(
            "geography",
            tuple(
                Level(name, ColumnRef((), name, INT if name == "storeID" else STRING, False))
                for name in ("storeID", "city", "region")
            ),
            (("storeID", "city"), ("city", "region")),
        ),
    ),
)
ITEMS = Dimension(
    "items", (Column("itemID", INT, False), Column("category", STRING, False)), key=("itemID",)
)
POS = Fact(
    "pos",
    (
        Column("storeID", INT, False),
        Column("itemID", INT, False),
        Column("date", DATE, False),
        Column("qty", INT, False),
        Column("price", INT, True),
    ),
    foreign_keys=(
        ForeignKey("stores", ("storeID",), "stores"),
        ForeignKey("items", ("itemID",), "items"),
    ),
)

STORE = ColumnRef((), "storeID", INT, False)
ITEM = ColumnRef((), "itemID", INT, False)
DAY = ColumnRef((), "date", DATE, False)
QTY = ColumnRef((), "qty", INT, False)
PRICE = ColumnRef((), "price", INT, True)
CITY = ColumnRef(("stores",), "city", STRING, False)
REGION = ColumnRef(("stores",), "region", STRING, False)
CATEGORY = ColumnRef(("items",), "category", STRING, False)

COUNT = Measure("TotalCount", aggregate(F.COUNT_ROWS))
QUANTITY = Measure("TotalQuantity", aggregate(F.SUM, QTY))
EARLIEST = Measure("EarliestSale", aggregate(F.MIN, DAY))
AVERAGE = Measure("AveragePrice", aggregate(F.AVG, PRICE))
PRICES = Measure("Prices", aggregate(F.COUNT_DISTINCT, PRICE))


def view(name: str, keys: Sequence[ColumnRef], *measures: Measure, **more: object) -> SummaryTable:
    """A summary table over pos."""
    return SummaryTable(
        name,
        "pos",
        tuple(Key(key.column, key) for key in keys),
        measures or (COUNT, QUANTITY),
        **more,  # type: ignore[arg-type]
    )


def warehouse(*views: SummaryTable, name: str = "retail") -> Warehouse:
    """The retail warehouse with some summary tables."""
    return Warehouse(name, (POS,), (STORES, ITEMS), views)


SID = view("SID_sales", (STORE, ITEM, DAY))
SCD = view("sCD_sales", (CITY, DAY))
SIC = view("SiC_sales", (STORE, CATEGORY), COUNT, EARLIEST, QUANTITY)
SR = view("sR_sales", (REGION,))

TABLE_3 = Statistics(
    tables={
        "pos": TableStatistics(rows=1_000_000, insertions=5_000, deletions=5_000),
        "stores": TableStatistics(rows=100),
        "items": TableStatistics(rows=1_000),
    },
    views={
        "sid_sales": ViewStatistics(100_000, 1_000),
        "scd_sales": ViewStatistics(10_000, 100),
        "sic_sales": ViewStatistics(2_000, 1_000),
        "sr_sales": ViewStatistics(10, 10),
    },
    weights=PAPER_WEIGHTS,
    origin="Table 3",
)


def lattice_of(
    *views: SummaryTable, statistics: Statistics = TABLE_3, name: str = "retail"
) -> tuple[Lattice, Maintenance]:
    """The lattice of some views, and the choices made on it."""
    lattice = build_lattice(warehouse(*views, name=name))
    return lattice, choose(lattice, statistics)


def retail() -> tuple[Lattice, Maintenance]:
    """The four summary tables of the paper's Figure 1."""
    return lattice_of(SID, SCD, SIC, SR)


def odd() -> tuple[Lattice, Maintenance]:
    """An average, a distinct count that can only be rebuilt, and a table without group-by."""
    return lattice_of(
        SID,
        view("averages", (STORE,), AVERAGE),
        view("distinct_prices", (CITY,), COUNT, PRICES),
        view("everything", ()),
    )


def random_lattice(seed: int, count: int) -> tuple[Lattice, Maintenance]:
    """Some views over random sets of group-by columns."""
    pick = random.Random(seed)
    columns: list[ColumnRef] = [STORE, ITEM, DAY, CITY, REGION, CATEGORY]
    measures = [COUNT, QUANTITY, EARLIEST, AVERAGE, PRICES]
    views = [
        view(
            f"v{number}",
            pick.sample(columns, pick.randint(0, 4)),
            *pick.sample(measures, pick.randint(1, 3)),
        )
        for number in range(count)
    ]
    return lattice_of(*views)
