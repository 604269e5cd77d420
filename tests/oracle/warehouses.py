"""Random warehouses as YAML text in the declaration language.

Views of one fact draw their group-by columns, aggregates and filters from small pools, so that many
derive from one another: some repeat another's group-by, some coarsen it, some stand alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import yaml

from tests.oracle.tables import (
    Reached,
    TablePlan,
    quoted,
    random_dimensions,
    random_fact,
    reached,
)


@dataclass(frozen=True)
class Text:
    """A piece of SQL in which columns stand as ``⟦number⟧``, to be named later."""

    sql: str
    type: str


@dataclass(frozen=True)
class ViewPlan:
    """A summary table to be declared: names with SQL."""

    keys: tuple[tuple[str, Text], ...]
    measures: tuple[tuple[str, str, Text | None, Text | None], ...]
    filter: tuple[Text, ...]


def random_warehouse(rng: Random) -> str:
    """A declaration that is meant to be accepted.

    >>> random_warehouse(Random(1)) == random_warehouse(Random(1))
    True
    """
    dimensions = random_dimensions(rng)
    facts = [random_fact(rng, f"f{at}", dimensions) for at in range(rng.choice((1, 1, 1, 2)))]
    views: list[dict[str, object]] = []
    cubes: list[dict[str, object]] = []
    for fact in facts:
        writer = _Writer(rng, fact)
        views += writer.views()
        if rng.random() < 0.15:
            cubes.append(writer.cube())
    document: dict[str, object] = {
        "version": 1,
        "name": "random",
        "facts": [fact.declaration() for fact in facts],
        "dimensions": [dimension.declaration() for dimension in dimensions],
        "summary_tables": views,
    }
    if cubes:
        document["cubes"] = cubes
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=1000)


_NUMBERS = ("int", "bigint", "smallint", "double")


class _Writer:
    """Writes the views of one fact, from pools that are drawn once."""

    def __init__(self, rng: Random, fact: TablePlan) -> None:
        self._rng = rng
        self._fact = fact
        self._columns = reached(fact)
        self._key_pool = [self._key() for _ in range(rng.randint(3, 7))] + self._calendar()
        self._argument_pool = [self._argument() for _ in range(rng.randint(2, 5))]
        self._filter_pool = self._filters()

    def views(self) -> list[dict[str, object]]:
        """The views, as declarations."""
        rng, made = self._rng, list[ViewPlan]()
        for _ in range(rng.choice((2, 3, 4, 5, 6, 8))):
            made.append(self._view(made))
        names = [f"{self._fact.name}_v{at}" for at in range(len(made))]
        if self._fact.name == "f0" and rng.random() < 0.05:  # the name of a role will do
            names[0] = self._fact.joins[0].role
        return [
            self._declared(name, view, as_sql=rng.random() < 0.2)
            for name, view in zip(names, made, strict=True)
        ]

    # --- pools ---------------------------------------------------------------------------------

    def _ref(self, column: Reached) -> Text:
        return Text(f"⟦{self._columns.index(column)}⟧", column.type)

    def _any(self, *types: str) -> Text | None:
        fitting = [column for column in self._columns if not types or column.type in types]
        return self._ref(self._rng.choice(fitting)) if fitting else None

    def _key(self) -> Text:
        rng = self._rng
        if rng.random() < 0.4:
            referring = [
                c
                for c in self._columns
                if any(c.column.name in j.columns for j in self._fact.joins)
            ]
            if referring:
                return self._ref(rng.choice(referring))
        column = rng.choice(self._columns)
        text = self._ref(column)
        if rng.random() < 0.72:
            return text
        return _dressed_key(rng, text)

    def _calendar(self) -> list[Text]:
        """Levels of a calendar that are expressions, if the fact declares them."""
        if not any("day" in chain for chains in self._fact.hierarchies for chain in chains):
            return []
        day = self._ref(next(c for c in self._columns if c.column.name == "day"))
        levels = [Text(f"year({day.sql})", "int")]
        levels += [Text(f"trunc({day.sql}, '{unit}')", "date") for unit in ("MONTH", "WEEK")]
        return self._rng.sample([day, *levels], 2)

    def _argument(self) -> Text:
        rng = self._rng
        if rng.random() < 0.04:
            return Text(*rng.choice((("1", "int"), ("2.5", "mixed"), ("'x'", "string"))))
        plain = self._any(*_NUMBERS, "decimal(8,2)", "decimal(6,2)") or self._any()
        assert plain is not None
        kind = rng.random()
        if kind < 0.5:
            return plain
        other = self._any("int", "smallint")
        if kind < 0.65 and other is not None and _is_number(plain):
            return Text(f"{plain.sql} {rng.choice('+-*')} {other.sql}", "mixed")
        if kind < 0.75 and _is_number(plain):
            condition = self._condition()
            return Text(f"CASE WHEN {condition.sql} THEN {plain.sql} END", "mixed")
        if kind < 0.82 and _is_number(plain):
            return Text(f"coalesce({plain.sql}, 0)", plain.type)
        return self._any() or plain

    def _condition(self) -> Text:
        rng = self._rng
        column = rng.choice(self._columns)
        text, constants = self._ref(column).sql, _constants(column.type)
        one, two = rng.choice(constants), rng.choice(constants)
        if column.type == "boolean":
            return Text(rng.choice((text, f"NOT {text}", f"{text} IS NULL")), "boolean")
        choices = [
            f"{text} {rng.choice(('=', '<>', '<', '<=', '>', '>='))} {one}",
            f"{text} >= {one}",
            f"{text} BETWEEN {one} AND {two}",
            f"{text} IN ({one}, {two})",
            f"{text} IS NOT NULL",
        ]
        return Text(rng.choice(choices), "boolean")

    def _filters(self) -> list[tuple[Text, ...]]:
        """No filter, a filter, a narrower one, another one."""
        rng = self._rng
        wide = self._key_condition() if rng.random() < 0.7 else self._condition()
        narrow = (wide, self._key_condition())
        either = Text(f"({wide.sql} OR {self._condition().sql})", "boolean")
        return [(), (), (), (wide,), (wide,), narrow, (either,), (self._condition(),)]

    def _key_condition(self) -> Text:
        """A condition on something that views group by, if there is a plain one."""
        rng = self._rng
        plain = [key for key in self._key_pool if _constants(key.type) and key.sql[0] == "⟦"]
        if not plain:
            return self._condition()
        key = rng.choice(plain)
        if key.type == "boolean":
            return key
        constants = _constants(key.type)
        return Text(
            f"{key.sql} {rng.choice(('<=', '>=', '<>'))} {rng.choice(constants)}", "boolean"
        )

    # --- views ---------------------------------------------------------------------------------

    def _view(self, others: Sequence[ViewPlan]) -> ViewPlan:
        rng = self._rng
        if others and rng.random() < 0.15:
            keys = [text for _, text in rng.choice(others).keys]
        elif rng.random() < 0.12:
            keys = []
        else:
            keys = rng.sample(self._key_pool, rng.randint(1, min(4, len(self._key_pool))))
        distinct = {self._meaning(text): text for text in keys}
        names = [
            f"k{at}" if rng.random() < 0.97 else f"unit of {at}" for at in range(len(distinct))
        ]
        named = tuple(zip(names, distinct.values(), strict=True))
        count = rng.choice((1, 1, 2, 2, 3, 4)) if not named or rng.random() < 0.95 else 0
        measures = [self._measure(at) for at in range(count)]
        return ViewPlan(named, tuple(measures), rng.choice(self._filter_pool))

    def _meaning(self, text: Text) -> str:
        """The text with every column in one way: two keys must not mean the same."""
        return _named(text.sql, [column.meaning for column in self._columns])

    def _measure(self, at: int) -> tuple[str, str, Text | None, Text | None]:
        rng, name = self._rng, f"x{at}"
        condition = self._condition() if rng.random() < 0.08 else None
        if rng.random() < 0.25:
            return name, "count", None, condition
        pool = self._argument_pool if rng.random() < 0.75 else self._key_pool
        argument = rng.choice(pool)
        functions = ["count", "min", "max"]
        if rng.random() < 0.1:
            functions = ["count_distinct"]
            if _is_number(argument):
                functions += ["median", "sum_distinct"]
        elif _is_number(argument):
            functions += ["sum", "sum", "sum", "avg"]
            if argument.type != "mixed" and rng.random() < 0.3:
                functions = ["var_pop", "var_samp", "stddev_pop", "stddev_samp"]
        return name, rng.choice(functions), argument, condition

    def _declared(self, name: str, view: ViewPlan, *, as_sql: bool) -> dict[str, object]:
        if as_sql and all(condition is None for *_, condition in view.measures):
            return {"name": name, "sql": self._select(view)}
        document: dict[str, object] = {"name": name, "fact": self._fact.name}
        document["group_by"] = [{key: self._full(text)} for key, text in view.keys]
        measures = []
        for measure, function, argument, condition in view.measures:
            entry = {"name": measure, "agg": function}
            if argument is not None:
                entry["expr"] = self._full(argument)
            if condition is not None:
                entry["filter"] = self._full(condition)
            measures.append(entry)
        document["measures"] = measures
        if view.filter:
            document["filter"] = [self._full(part) for part in view.filter]
        if self._rng.random() < 0.05:
            document["lattice_friendly"] = False
        if self._rng.random() < 0.05:
            document["policy"] = "full"
        return document

    def _full(self, text: Text) -> str:
        return _named(text.sql, [column.text for column in self._columns])

    def _select(self, view: ViewPlan) -> str:
        """The view as one SELECT, joining what it needs under short aliases."""
        used = {int(number) for number in re.findall(r"⟦(\d+)⟧", repr(view))}
        needed = {
            self._columns[number].path[:length]
            for number in used
            for length in range(1, len(self._columns[number].path) + 1)
        }
        aliases = {(): "f", **{path: f"j{at}" for at, path in enumerate(sorted(needed))}}
        names = [
            f"{aliases.get(column.path, 'unused')}.{quoted(column.column.name)}"
            for column in self._columns
        ]
        items = [f"{_named(text.sql, names)} AS {quoted(key)}" for key, text in view.keys]
        for measure, function, argument, _ in view.measures:
            inner = "*" if argument is None else _named(argument.sql, names)
            distinct = "DISTINCT " if function.endswith("_distinct") else ""
            called = f"{function.removesuffix('_distinct')}({distinct}{inner})"
            items.append(f"{called} AS {measure}")
        lines = [f"SELECT {', '.join(items)}", f"FROM {self._fact.name} AS f"]
        lines += [self._join(path, aliases) for path in sorted(needed)]
        if view.filter:
            lines.append("WHERE " + " AND ".join(_named(part.sql, names) for part in view.filter))
        if view.keys:
            lines.append("GROUP BY " + ", ".join(_named(text.sql, names) for _, text in view.keys))
        return "\n".join(lines)

    def _join(self, path: tuple[str, ...], aliases: dict[tuple[str, ...], str]) -> str:
        owner = self._fact
        for role in path[:-1]:
            owner = next(join.target for join in owner.joins if join.role == role)
        join = next(join for join in owner.joins if join.role == path[-1])
        here, there = aliases[path[:-1]], aliases[path]
        on = " AND ".join(
            f"{here}.{quoted(column)} = {there}.{quoted(key)}"
            for column, key in zip(join.columns, join.target.key, strict=True)
        )
        return f"JOIN {join.target.name} AS {there} ON {on}"

    def cube(self) -> dict[str, object]:
        """A cube, rollup or grouping sets over plain columns, and a hierarchy if there is one."""
        rng, fact = self._rng, self._fact
        referring = {column for join in fact.joins for column in join.columns}
        plain = [c for c in self._columns if not c.path and c.column.name not in referring]
        chosen = rng.sample(plain, min(3, len(plain)))
        items: list[object] = [{f"c{at}": column.text} for at, column in enumerate(chosen)]
        name = f"{fact.name}_cube"
        measures = [{"name": "n", "agg": "count"}]
        if self._argument_pool:
            argument = self._argument_pool[0]
            function = "sum" if _is_number(argument) else "min"
            measures.append({"name": "x", "agg": function, "expr": self._full(argument)})
        document: dict[str, object] = {"name": name, "fact": fact.name, "measures": measures}
        shape = rng.choice(("cube", "rollup", "grouping_sets"))
        if shape == "cube":
            roots = [join for join in fact.joins if join.target.hierarchies]
            if roots:
                items[0] = f"{rng.choice(roots).role}.h0"
        document[shape] = [items[:2], items[:1], []] if shape == "grouping_sets" else items
        return document


def _named(sql: str, names: Sequence[str]) -> str:
    return re.sub(r"⟦(\d+)⟧", lambda match: names[int(match[1])], sql)


def _is_number(text: Text) -> bool:
    return text.type in _NUMBERS or text.type.startswith("decimal") or text.type == "mixed"


def _dressed_key(rng: Random, text: Text) -> Text:
    sql = text.sql
    match text.type:
        case "date":
            return rng.choice(
                [
                    Text(f"year({sql})", "int"),
                    Text(f"trunc({sql}, 'MONTH')", "date"),
                    Text(f"date_trunc('QUARTER', {sql})", "timestamp"),
                    Text(f"last_day({sql})", "date"),
                    Text(f"year({sql}) * 100 + month({sql})", "int"),
                ]
            )
        case "string":
            return rng.choice(
                [
                    Text(f"upper({sql})", "string"),
                    Text(f"coalesce({sql}, 'none')", "string"),
                    Text(
                        f"CASE WHEN {sql} < 'b' THEN 'low' ELSE coalesce({sql}, '?') END", "string"
                    ),
                    Text(f"left({sql}, 1)", "string"),
                ]
            )
        case "boolean":
            return Text(f"NOT {sql}", "boolean")
        case "double":
            return Text(f"{sql} > 1", "boolean")
        case _:
            return rng.choice(
                [
                    Text(f"CASE WHEN {sql} > 2 THEN 'many' ELSE 'few' END", "string"),
                    Text(f"{sql} IS NULL", "boolean"),
                    Text(f"coalesce({sql}, 0)", text.type),
                    Text(f"CAST({sql} AS STRING)", "string"),
                    Text(f"{sql} % 3", "int"),
                ]
            )


def _constants(type_: str) -> tuple[str, ...]:
    match type_:
        case "string":
            return "'a'", "'b'", "'ab'", "'c'"
        case "date":
            return "DATE '2023-12-31'", "DATE '2024-01-01'", "DATE '2024-02-29'", "'2024-03-01'"
        case "int" | "bigint" | "smallint":
            return "0", "1", "2", "3"
        case "double":
            return "0.5", "1", "2E0"
        case _ if type_.startswith("decimal"):
            return "0", "1.50", "2", "2.5"
        case _:
            return ("TRUE",)
