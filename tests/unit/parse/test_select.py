"""The skeleton of SELECT and CREATE VIEW."""

from cubekeeper.parse import (
    JoinKind,
    column_parts,
    equality,
    is_aggregate,
    ordinal,
    parse_raw,
    parse_select,
)
from cubekeeper.parse.select import Select
from cubekeeper.source import Fragment


def parsed(text: str) -> Select:
    return parse_select(Fragment.of_text(text))


def test_a_comma_join_as_in_the_paper() -> None:
    select = parsed(
        """
        CREATE VIEW sCD_sales(city, date, TotalCount, TotalQuantity) AS
        SELECT city, date, COUNT(*), SUM(qty)
        FROM pos, stores
        WHERE pos.storeID = stores.storeID
        GROUP BY city, date;
        """
    )
    assert select.view_name is not None
    assert select.view_name.text == "sCD_sales"
    assert [(table.name, table.kind) for table in select.tables] == [
        ("pos", JoinKind.FROM),
        ("stores", JoinKind.FROM),
    ]
    assert [(item.name, item.expr.text) for item in select.items] == [
        ("city", "city"),
        ("date", "date"),
        ("TotalCount", "COUNT(*)"),
        ("TotalQuantity", "SUM(qty)"),
    ]
    assert [is_aggregate(item.expr) for item in select.items] == [False, False, True, True]
    assert [condition.text for condition in select.where] == ["pos.storeID = stores.storeID"]
    assert [column_parts(group) for group in select.group_by] == [("city",), ("date",)]


def test_joins() -> None:
    select = parsed(
        "SELECT s.city FROM db.pos AS p LEFT OUTER JOIN stores s ON p.storeID = s.storeID AND "
        "(s.a = p.a AND s.b = p.b) INNER JOIN items USING (itemID, kind) JOIN `odd table`, last"
    )
    assert [(table.name, table.alias, table.kind.name) for table in select.tables] == [
        ("db.pos", "p", "FROM"),
        ("stores", "s", "LEFT"),
        ("items", "items", "INNER"),
        ("odd table", "odd table", "INNER"),
        ("last", "last", "FROM"),
    ]
    _, stores, items, odd, last = select.tables
    assert [part.text for part in stores.on] == ["p.storeID = s.storeID", "s.a = p.a", "s.b = p.b"]
    assert [name.text for name in items.using] == ["itemID", "kind"]
    assert odd.on == last.on == ()
    assert str(items.span) == "<sql>:1:123"
    sides = equality(stores.on[0])
    assert sides is not None
    assert [column_parts(side) for side in sides] == [("p", "storeID"), ("s", "storeID")]


def test_items_and_groups() -> None:
    select = parsed(
        "SELECT a, t.b, year(d) AS y, a + 1, SUM(CASE WHEN x > 0 THEN (x) END) total "
        "FROM t GROUP BY 1, (t.b), y, year(d), a + 1"
    )
    assert [(item.name, item.aliased) for item in select.items] == [
        ("a", False),
        ("b", False),
        ("y", True),
        (None, False),
        ("total", True),
    ]
    assert select.items[4].expr.text == "SUM(CASE WHEN x > 0 THEN (x) END)"
    assert [ordinal(group) for group in select.group_by] == [1, None, None, None, None]
    assert [column_parts(group) for group in select.group_by] == [
        None,
        ("t", "b"),
        ("y",),
        None,
        None,
    ]


def test_conditions_are_lists_of_conjuncts() -> None:
    select = parsed("SELECT a FROM t WHERE a = 1 AND (b = 2 AND (c = 3 OR d = 4)) AND NOT e")
    assert [condition.text for condition in select.where] == [
        "a = 1",
        "b = 2",
        "(c = 3 OR d = 4)",
        "NOT e",
    ]
    assert equality(select.where[2]) is None


def test_ways_to_write_the_same() -> None:
    plain = parsed("SELECT a FROM t")
    for text in (
        "(SELECT a FROM t)",
        "SELECT ALL a FROM t;",
        "SELECT /*+ BROADCAST(t) */ a FROM t -- comment",
        "FROM t SELECT a",
        "CREATE OR REPLACE TEMPORARY VIEW v COMMENT 'x' AS SELECT a FROM t",
    ):
        select = parsed(text)
        assert [item.name for item in select.items] == ["a"]
        assert [table.name for table in select.tables] == ["t"]
        assert (select.where, select.group_by) == (plain.where, plain.group_by)


def test_on_false_is_not_forgotten() -> None:
    select = parsed("SELECT a FROM t JOIN u ON FALSE")
    assert len(select.tables[1].on) == 1


def test_spans_of_raw_expressions() -> None:
    for text in (
        "a",
        "(a + b) * c",
        "CASE WHEN (a) THEN b END",
        "CASE x WHEN 1 THEN CASE WHEN y THEN 2 END END",
        "f(g(a), (b))",
        "CAST(a AS DECIMAL(10, 2))",
        "NOT (a OR b)",
        "-(a)",
        "'it''s'",
        "EXTRACT(YEAR FROM d)",
        "SUM(a) FILTER (WHERE b)",
        "trim(BOTH 'x' FROM s)",
        "d + INTERVAL 3 DAYS",
        "d IS NOT NULL",
        "a AND TRUE",
    ):
        raw = parse_raw(Fragment.of_text(f"  {text}  "))
        assert raw.text == text
        assert (raw.span.start, raw.span.end) == (2, 2 + len(text))
