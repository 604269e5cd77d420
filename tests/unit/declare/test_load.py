"""What declarations mean."""

import itertools

import pytest

from cubekeeper.declare import load, load_text, summary_table_from_sql
from cubekeeper.errors import DeclarationErrors, InternalError
from cubekeeper.scalar.aggregates import AggregateFunction
from cubekeeper.scalar.nodes import ColumnRef
from cubekeeper.schema import DATE, INT, STRING, decimal
from cubekeeper.source import Fragment
from cubekeeper.warehouse.model import ForeignKey, Policy

TABLES = """
facts:
  - name: Pos
    key: [receipt, line]
    columns:
      receipt: int
      line: int
      storeID: int
      soldOn: date
      shippedOn: date
      qty: int not null
      price: {type: "decimal(10,2)", nullable: false, description: in euros}
      note: string
      total: {expr: qty * price}
      month: {expr: "trunc(soldOn, 'MONTH')"}
    joins:
      - {dimension: Stores}
      - {dimension: Days, name: sold, on: soldOn}
      - {dimension: Days, name: shipped, on: shippedOn}
    hierarchies:
      - {name: time, levels: [soldOn, month]}
dimensions:
  - name: Stores
    key: storeID
    columns: {storeID: int, city: string, country: string, nr: int}
    joins:
      - {dimension: Owners, on: [country, nr]}
    hierarchies:
      - {name: geography, levels: [storeID, city, land: Owners.country]}
  - name: Owners
    key: [land, number]
    columns: {land: string, number: int, owner: string, country: string}
  - name: Days
    key: day
    columns:
      day: date
      week: int
      year: int
      next: date
      isLeap: {expr: year % 4 = 0 OR day = DATE '2000-01-01'}
      isLast: {expr: day = next}
    hierarchies:
      - {name: calendar, paths: [[day, week], [day, year]]}
"""


def warehouse(more="", tables=TABLES):
    return load_text(tables + more).warehouse


def view(text, name="v"):
    return warehouse(f"summary_tables:\n  - {{name: v, {text}}}\n").view(name)


def key(name):
    return view(f"fact: Pos, group_by: [{name}], measures: [n: COUNT(*)]").keys[0]


# --- tables


def test_columns():
    pos = warehouse().fact("Pos")
    types = {column.name: (column.type, column.nullable) for column in pos.columns}
    assert types["qty"] == (INT, False)
    assert types["price"] == (decimal(10, 2), False)
    assert types["note"] == (STRING, True)
    assert pos.column("PRICE").description == "in euros"
    assert [column.name for column in pos.computed] == ["total", "month"]
    assert pos.computed[0].expr.type == decimal(21, 2)


def test_keys_and_foreign_keys_are_not_null():
    built = warehouse()
    pos = built.fact("Pos")
    assert all(not pos.column(c).nullable for c in ("receipt", "line", "storeID", "soldOn"))
    assert not built.base_table("Stores").column("country").nullable


def test_foreign_keys():
    built = warehouse()
    assert built.fact("Pos").foreign_keys == (
        ForeignKey("Stores", ("storeID",), "Stores"),
        ForeignKey("sold", ("soldOn",), "Days"),
        ForeignKey("shipped", ("shippedOn",), "Days"),
    )
    assert built.base_table("Stores").foreign_keys == (
        ForeignKey("Owners", ("country", "nr"), "Owners"),
    )


def test_everything_knows_its_place():
    pos = warehouse().fact("Pos")
    assert pos.span.text == "Pos"
    assert pos.column("qty").span.text == "qty"
    assert pos.computed[0].span.text == "total"
    assert pos.hierarchies[0].span.text == "time"
    assert pos.foreign_keys[1].span.text == "{dimension: Days, name: sold, on: soldOn}"


# --- names


@pytest.mark.parametrize("name", ["city", "CITY", "Stores.city", "stores.City", "pos.stores.city"])
def test_a_column_by_any_of_its_names(name):
    found = key(name)
    assert found.expr == ColumnRef(("Stores",), "city", STRING, True)
    assert found.name == "city"


@pytest.mark.parametrize("name", ["storeID", "Pos.storeID", "Stores.storeID", "STOREID"])
def test_a_key_is_the_foreign_key_that_refers_to_it(name):
    assert key(name).expr == ColumnRef((), "storeID", INT, False)


def test_a_composite_key_is_its_foreign_key():
    assert key("Owners.number").expr == ColumnRef(("Stores",), "nr", INT, False)
    assert key("Owners.number").name == "number"
    assert key("Owners.country").expr.path == ("Stores", "Owners")


def test_roles():
    assert key("sold.year").expr.path == ("sold",)
    assert key("Pos.shipped.week").expr.path == ("shipped",)
    assert key("sold.day").expr == ColumnRef((), "soldOn", DATE, False)


def test_computed_columns_of_a_role():
    sold = key("sold.isLeap").expr
    again = summary_table_from_sql(
        "SELECT sold.year % 4 = 0 OR soldOn = DATE '2000-01-01' AS isLeap, COUNT(*) AS n"
        " FROM pos JOIN days sold ON soldOn = day GROUP BY 1",
        warehouse(),
        "v",
    )
    assert again.keys[0].expr == sold
    assert key("shipped.isLeap").expr != sold


def test_computed_columns_stay_canonical_under_other_names():
    """`day` comes before `next`, but `soldOn`, for which it stands, after `sold.next`."""
    sql = "SELECT soldOn = next AS isLast FROM pos JOIN days ON soldOn = day GROUP BY 1"
    assert summary_table_from_sql(sql, warehouse(), "v").keys[0] == key("sold.isLast")
    assert key("sold.isLast").expr.args[0].column == "next"
    assert warehouse().base_table("Days").computed[1].expr.args[0].column == "day"


def test_a_view_knows_its_places():
    found = view("fact: Pos, group_by: [city, t: upper(note)], measures: [n: COUNT(*)]")
    assert found.span.text == "v"
    assert [k.span.text for k in found.keys] == ["city", "t"]
    assert found.measures[0].span.text == "n"


# --- forms

FORMS = {
    "nothing but a count": (
        "fact: pos, measures: [{name: n, agg: count}]",
        "SELECT COUNT(*) AS n FROM pos",
    ),
    "count of an expression": (
        "fact: pos, measures: [{name: n, agg: count, expr: note}]",
        "SELECT COUNT(note) AS n FROM pos",
    ),
    "count of a star": (
        "fact: pos, measures: [{name: n, agg: count, expr: '*'}]",
        "SELECT COUNT(*) AS n FROM pos",
    ),
    "words of others": (
        "fact: pos, measures: [{name: a, agg: mean, expr: qty}, {name: d, agg: stddev, expr: 1}]",
        "SELECT AVG(qty) AS a, STDDEV(1) AS d FROM pos",
    ),
    "distinct": (
        "fact: pos, measures: [{name: d, agg: count_distinct, expr: note}]",
        "SELECT COUNT(DISTINCT note) AS d FROM pos",
    ),
    "the aggregate in expr": (
        "fact: pos, measures: [{name: s, expr: SUM(qty)}, m: MAX(qty)]",
        "SELECT SUM(qty) AS s, MAX(qty) AS m FROM pos",
    ),
    "default names": (
        "fact: pos, group_by: [note], measures: [{agg: count}, {agg: sum, expr: QTY}]",
        "SELECT note, COUNT(*), SUM(qty) FROM pos GROUP BY note",
    ),
    "a filtered measure": (
        "fact: pos, measures: [{name: s, agg: sum, expr: qty, filter: qty > 10}]",
        "SELECT SUM(qty) FILTER (WHERE qty > 10) AS s FROM pos",
    ),
    "a filtered count": (
        "fact: pos, measures: [{name: s, agg: count, filter: qty > 10}]",
        "SELECT COUNT(*) FILTER (WHERE qty > 10) AS s FROM pos",
    ),
    "a filter on the aggregate in expr": (
        "fact: pos, measures: [{name: s, expr: AVG(qty), filter: qty > 10}]",
        "SELECT AVG(CASE WHEN qty > 10 THEN qty END) AS s FROM pos",
    ),
    "filters in any order": (
        "fact: pos, filter: [qty > 1, \"city = 'Rome' AND note IS NULL\"], measures: [n: COUNT(*)]",
        "SELECT COUNT(*) AS n FROM pos, stores WHERE note IS NULL AND ('Rome' = city AND 1 < qty)"
        " AND stores.storeID = pos.storeID",
    ),
    "expressions": (
        "fact: pos, group_by: [day: sold.day, big: qty > 10], measures: [n: COUNT(*)]",
        "SELECT soldOn AS day, qty > 10 AS big, COUNT(*) AS n FROM pos GROUP BY soldOn, 10 < qty",
    ),
    "computed columns": (
        "fact: pos, group_by: [month], measures: [{name: t, agg: sum, expr: total}]",
        "SELECT trunc(soldOn, 'MONTH') AS month, SUM(qty * price) AS t FROM pos GROUP BY month",
    ),
    "positions and aliases": (
        "fact: pos, group_by: [city, town: upper(city)], measures: [n: COUNT(*)]",
        "SELECT city, upper(city) AS town, COUNT(*) AS n FROM pos s JOIN stores USING (storeID)"
        " GROUP BY 1, town",
    ),
    "two roles": (
        "fact: pos, group_by: [a: sold.year, b: shipped.year], measures: [n: COUNT(*)]",
        "SELECT x.year AS a, y.year AS b, COUNT(*) AS n FROM pos JOIN days x ON soldOn = x.day"
        " LEFT JOIN days AS y ON y.day = shippedOn GROUP BY x.year, y.year",
    ),
    "a composite key, far away": (
        "fact: pos, group_by: [owner], measures: [n: COUNT(*)]",
        "SELECT owner, COUNT(*) AS n FROM owners o, stores s, pos WHERE s.storeID = pos.storeID"
        " AND s.nr = o.number AND o.land = s.country GROUP BY owner",
    ),
    "the fact not first": (
        "fact: pos, group_by: [city], measures: [n: COUNT(*)]",
        "SELECT city, COUNT(*) AS n FROM stores s JOIN pos p ON p.storeID = s.storeID GROUP BY 1",
    ),
    "an unused dimension": (
        "fact: pos, measures: [n: COUNT(*)]",
        "SELECT COUNT(*) AS n FROM pos JOIN stores USING (storeID) JOIN days ON day = soldOn",
    ),
    "one role joined twice": (
        "fact: pos, group_by: [year: sold.year, week: sold.week], measures: [n: COUNT(*)]",
        "SELECT a.year, b.week, COUNT(*) AS n FROM pos, days a, days b"
        " WHERE soldOn = a.day AND soldOn = b.day GROUP BY a.year, b.week",
    ),
    "more equalities than the foreign key": (
        'fact: pos, filter: ["receipt = Stores.nr"], measures: [n: COUNT(*)]',
        "SELECT COUNT(*) AS n FROM pos, stores s WHERE pos.storeID = s.storeID AND receipt = s.nr",
    ),
    "no measures": (
        "fact: pos, group_by: [city]",
        "SELECT city FROM pos JOIN stores USING (storeID) GROUP BY city",
    ),
    "names that need quotes": (
        'fact: pos, group_by: ["select": city, "a b": note], measures: [n: COUNT(*)]',
        "SELECT city AS `select`, note AS `a b`, COUNT(*) AS n FROM pos JOIN stores USING (storeID)"
        " GROUP BY city, note",
    ),
}


@pytest.mark.parametrize(("structured", "sql"), FORMS.values(), ids=FORMS)
def test_sql_and_structured_form_are_one(structured, sql):
    one = view(structured)
    other = summary_table_from_sql(sql, warehouse(), "v")
    assert other == one
    declared = warehouse(f"summary_tables:\n  - name: v\n    sql: |\n      {sql}\n")
    assert declared.view("v") == one


def test_default_names():
    made = view("fact: pos, measures: [{agg: count}, {agg: sum, expr: QTY}]")
    assert [measure.name for measure in made.measures] == ["count", "sum_qty"]
    assert made.measures[0].aggregate.function is AggregateFunction.COUNT_ROWS


def test_policy_and_defaults():
    text = """
defaults: {policy: full, lattice_friendly: false}
summary_tables:
  - {name: a, fact: pos, measures: [n: COUNT(*)]}
  - {name: b, fact: pos, policy: incremental, lattice_friendly: true, measures: [n: COUNT(*)]}
cubes:
  - {name: c, fact: pos, rollup: [city], measures: [n: COUNT(*)]}
"""
    built = warehouse(text)
    assert (built.view("a").policy, built.view("a").lattice_friendly) == (Policy.FULL, False)
    assert (built.view("b").policy, built.view("b").lattice_friendly) == (Policy.INCREMENTAL, True)
    assert built.view("c__all").policy is Policy.FULL
    assert view("fact: pos, measures: [n: COUNT(*)]").policy is Policy.AUTO


# --- cubes


def cube(text):
    views = warehouse(f"cubes:\n  - {{name: c, fact: pos, measures: [n: COUNT(*)], {text}}}\n")
    return [view.name for view in views.summary_tables]


def test_cube_of_columns():
    assert cube("cube: [city, month]") == ["c__city_month", "c__city", "c__month", "c__all"]


def test_cube_of_hierarchies():
    assert cube("cube: [geography, sold.calendar]")[:5] == [
        "c__storeID_day",
        "c__storeID_week",
        "c__storeID_year",
        "c__storeID",
        "c__city_day",
    ]
    assert len(cube("cube: [geography, sold.calendar]")) == 4 * 4


def test_levels_of_two_roles_are_named_apart():
    assert cube("cube: [sold.calendar, shipped.calendar]")[:2] == [
        "c__sold_day_shipped_day",
        "c__sold_day_shipped_week",
    ]


def test_rollup_and_grouping_sets():
    assert cube("rollup: [year: sold.year, city]") == ["c__year_city", "c__year", "c__all"]
    assert cube("grouping_sets: [[city], [], [month, city]]") == [
        "c__city",
        "c__all",
        "c__month_city",
    ]


def test_pruning():
    assert cube("cube: [city, month], mandatory: [month]") == ["c__city_month", "c__month"]
    assert cube("cube: [city, month], exclude: [[month, city], []]") == ["c__city", "c__month"]
    assert cube("cube: [city, month, note], max_dimensions: 1") == [
        "c__city",
        "c__month",
        "c__note",
        "c__all",
    ]
    assert cube("cube: [geography, month], mandatory: [Geography], max_dimensions: 1") == [
        "c__storeID",
        "c__city",
        "c__land",
    ]


def test_pruning_makes_room():
    wide = ", ".join(f"c{n}: qty + {n}" for n in range(20))
    assert len(cube(f"cube: [{wide}], max_dimensions: 2")) == 1 + 20 + 190


# --- warehouses


def test_files_of_a_folder_are_one_warehouse(tmp_path):
    (tmp_path / "b.yml").write_text("name: shop\n" + TABLES)
    (tmp_path / "a.yaml").write_text(
        "defaults: {policy: full}\n"
        "summary_tables: [{name: v, fact: pos, measures: [n: COUNT(*)]}]\n"
    )
    (tmp_path / "c.yml").write_text(
        "summary_tables: [{name: w, fact: pos, measures: [n: COUNT(*)]}]\n"
    )
    built = load(tmp_path).warehouse
    assert built.name == "shop"
    assert [view.name for view in built.summary_tables] == ["v", "w"]
    assert [view.policy for view in built.summary_tables] == [Policy.FULL, Policy.AUTO]


def test_two_names_for_one_warehouse(tmp_path):
    (tmp_path / "a.yml").write_text("name: shop\n" + TABLES)
    (tmp_path / "b.yml").write_text("name: stall\n")
    with pytest.raises(DeclarationErrors) as raised:
        load(tmp_path)
    assert [error.code for error in raised.value.errors] == ["two-names"]


def test_the_name_is_the_folders_by_default(tmp_path):
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "a.yml").write_text(TABLES)
    assert load(tmp_path / "shop").warehouse.name == "shop"
    assert load(tmp_path / "shop" / "a.yml").warehouse.name == "a"


def test_problems_of_all_files_at_once(tmp_path):
    (tmp_path / "a.yml").write_text(TABLES)
    for name in "bcd":
        (tmp_path / f"{name}.yml").write_text(
            f"summary_tables: [{{name: {name}, fact: pos, group_by: [x{name}], measures: []}}]"
        )
    with pytest.raises(DeclarationErrors) as raised:
        load(tmp_path)
    assert [e.span and e.span.text for e in raised.value.errors] == ["xb", "xc", "xd"]


def test_too_many_ways_between_tables():
    chain = "".join(
        f"  - {{name: d{n}, key: id, columns: {{id: int, a: int, b: int}},"
        f" joins: [{{dimension: d{n + 1}, name: l{n}, on: a}},"
        f" {{dimension: d{n + 1}, name: r{n}, on: b}}]}}\n"
        for n in range(20)
    )
    text = (
        "facts: [{name: f, columns: {id: int}, joins: [{dimension: d0, on: id}]}]\n"
        "dimensions:\n" + chain + "  - {name: d20, key: id, columns: {id: int}}\n"
    )
    with pytest.raises(DeclarationErrors) as raised:
        load_text(text)
    assert [error.code for error in raised.value.errors] == ["too-many-paths"]


def test_sql_for_what_if_reports_in_its_own_text():
    with pytest.raises(DeclarationErrors) as raised:
        summary_table_from_sql("SELECT citty FROM pos GROUP BY citty", warehouse(), "v")
    assert str(raised.value).startswith("<sql>:1:8: error: `Pos` has no column `citty`")
    fragment = Fragment.of_text("SELECT COUNT(*) FROM pos", "--add")
    assert summary_table_from_sql(fragment, warehouse(), "v").measures[0].name == "count"


def test_a_broken_promise_is_not_the_users_fault(monkeypatch):
    def broken(*_):
        raise InternalError("oops", "our bug")

    monkeypatch.setattr("cubekeeper.declare.views.bound_filter", broken)
    with pytest.raises(InternalError):
        view("fact: pos, measures: [n: COUNT(*)]")


def test_names_may_be_as_long_as_the_snowflake_is_deep():
    """sqlglot keeps four parts of a name in a column; the fifth was taken for a struct's field."""
    tables = "abcde"
    dimensions = [
        f"{{name: {t.upper()}, key: {t}, columns: {{{t}: int, {n}: int}},"
        f" joins: [{{dimension: {n.upper()}, on: {n}}}]}}"
        for t, n in itertools.pairwise(tables)
    ]
    dimensions.append("{name: E, key: e, columns: {e: int, name: string}}")
    loaded = load_text(
        "facts: [{name: f, columns: {a: int}, joins: [{dimension: A, on: a}]}]\n"
        f"dimensions: [{', '.join(dimensions)}]\n"
        "summary_tables: [{name: v, fact: f, group_by: [f.A.B.C.D.E.name], measures: [n: COUNT(*)],"
        " filter: A.B.C.D.E.name <> 'x'}]"
    )
    (key,) = loaded.warehouse.view("v").keys
    assert key.expr == loaded.warehouse.column_at("f", tuple("ABCDE"), "name")
