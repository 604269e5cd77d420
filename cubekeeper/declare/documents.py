"""The declaration language, as pydantic models: what an editor knows through the JSON Schema.

Here is only the shape of a file; names are resolved, SQL is read and types are checked when the
warehouse is built from it. Every text keeps its place in the file.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from pydantic import ConfigDict, Field, PlainValidator, WithJsonSchema

from cubekeeper.declare.leaves import (
    Amount,
    Count,
    Document,
    Exactly,
    Flag,
    Many,
    Name,
    Named,
    OneOrMany,
    Prose,
    Ref,
    Sql,
    Word,
    either,
    one_of,
    wrong_kind,
)
from cubekeeper.declare.nodes import Mapping, Node, Scalar
from cubekeeper.warehouse.model import Policy


def _enum(choices: type[Enum]) -> dict[str, object]:
    return {"type": "string", "enum": [choice.value for choice in choices]}


def _choices(choices: type[Enum]) -> WithJsonSchema:
    return WithJsonSchema(_enum(choices))


PolicyChoice = Annotated[Policy, one_of(Policy), _choices(Policy)]


def _version(node: Node) -> int:
    if isinstance(node, Scalar) and node.value == 1:
        return 1
    raise wrong_kind("1, the only version there is", node)


class ColumnDocument(Document):
    """A column: its Spark SQL type (`int`, `decimal(10,2) not null`), or the same in full.

    A column with `expr` is computed from the other columns of its table and stored nowhere.
    """

    model_config = ConfigDict(
        title="Column", json_schema_extra=either({"type": "string", "title": "Spark SQL type"})
    )
    type: Ref | None = Field(None, description="Spark SQL type, such as int or decimal(10,2)")
    nullable: Flag | None = Field(None, description="whether it can be NULL; true by default")
    expr: Sql | None = Field(None, description="makes it a computed column of its table")
    description: Prose = ""

    @classmethod
    def from_node(cls, node: Node) -> dict[str, Node]:
        """A lone text is the type."""
        return {"type": node} if isinstance(node, Scalar) else super().from_node(node)


class JoinDocument(Document):
    """A foreign key: each row refers to exactly one row of the dimension (many to one)."""

    model_config = ConfigDict(title="Join")
    dimension: Ref = Field(description="the dimension referred to")
    name: Name | None = Field(
        None, description="the role it plays, such as ship_date; by default the dimension's name"
    )
    on: OneOrMany[Ref] | None = Field(
        None,
        description="the referring column, or columns in the order of the dimension's key;"
        " by default the columns that are named like the key",
    )
    description: Prose = ""


_NAMED_SHORTHANDS: tuple[dict[str, object], ...] = (
    {"type": "string", "title": "a column, or a column reached through joins (cities.name)"},
    {
        "type": "object",
        "title": "name: expression",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": {"type": ["string", "number", "boolean"]},
    },
)


class NamedExpression(Document):
    """A column (`city`, `stores.city`), or a named expression (`year: year(date)`)."""

    model_config = ConfigDict(title="Expression", json_schema_extra=either(*_NAMED_SHORTHANDS))
    name: Name | None = Field(None, description="its name in the summary table")
    expr: Sql = Field(description="a Spark SQL expression over columns of the fact and dimensions")
    description: Prose = ""

    @classmethod
    def from_node(cls, node: Node) -> dict[str, Node]:
        """A lone text is the expression; a single `name: expression` is both."""
        return _name_and_expr(node) or super().from_node(node)


def _name_and_expr(node: Node) -> dict[str, Node] | None:
    if isinstance(node, Scalar):
        return {"expr": node}
    if isinstance(node, Mapping) and len(node.entries) == 1:
        key, value = node.entries[0]
        if isinstance(value, Scalar) and key.text not in ("expr", "agg"):
            return {"name": key, "expr": value}
    return None


class HierarchyDocument(Document):
    """Levels from fine to coarse: each determines the next, as a city determines its region.

    `levels` is one chain; `paths` are several that share levels (days in weeks, days in months).
    """

    model_config = ConfigDict(
        title="Hierarchy",
        json_schema_extra={"oneOf": [{"required": ["levels"]}, {"required": ["paths"]}]},
    )
    name: Name
    levels: Exactly[NamedExpression] | None = Field(None, description="one chain, fine to coarse")
    paths: Exactly[Exactly[NamedExpression]] | None = Field(
        None, description="several chains, each fine to coarse"
    )
    description: Prose = ""


class TableDocument(Document):
    """What facts and dimensions have in common."""

    name: Name
    description: Prose = ""
    columns: Named[ColumnDocument] = Field(description="column names with their Spark SQL types")
    joins: Many[JoinDocument] = Field((), description="foreign keys to dimensions")
    hierarchies: Many[HierarchyDocument] = Field((), description="levels from fine to coarse")

    def column_words(self) -> tuple[Word, ...]:
        """The names of all columns written, those of wrong ones included."""
        columns = self.node("columns")
        assert isinstance(columns, Mapping)
        return tuple(Word(key.text, key.span) for key, _ in columns.entries)


class FactDocument(TableDocument):
    """A table of events, such as sales; without a key it may hold the same row several times."""

    model_config = ConfigDict(title="Fact")
    key: OneOrMany[Ref] = Field((), description="the columns that identify a row, if any do")


class DimensionDocument(TableDocument):
    """A table of things that facts refer to, such as stores."""

    model_config = ConfigDict(title="Dimension")
    key: OneOrMany[Ref] = Field(description="the column or columns that identify a row")


class MeasureDocument(Document):
    """An aggregate: `agg` with `expr`, or the aggregate inside `expr` (`SUM(qty * price)`)."""

    model_config = ConfigDict(title="Measure", json_schema_extra=either(_NAMED_SHORTHANDS[1]))
    name: Name | None = Field(None, description="its name in the summary table")
    agg: Ref | None = Field(
        None,
        description="sum, count, min, max, avg, stddev, variance …; count alone is COUNT(*)",
    )
    expr: Sql | None = Field(None, description="what is aggregated, or the aggregate itself")
    filter: Sql | None = Field(None, description="aggregate only the rows for which this holds")
    description: Prose = ""

    @classmethod
    def from_node(cls, node: Node) -> dict[str, Node]:
        """A lone text is the aggregate; a single `name: aggregate` is both."""
        return _name_and_expr(node) or super().from_node(node)


class ViewDocument(Document):
    """What summary tables and cubes have in common."""

    name: Name
    description: Prose = ""
    fact: Ref | None = Field(None, description="the fact table that is aggregated")
    measures: Exactly[MeasureDocument] = Field((), description="the aggregates")
    filter: OneOrMany[Sql] = Field((), description="keep only the rows for which all of this holds")
    policy: PolicyChoice | None = Field(
        None, description="how it may be brought up to date; auto by default"
    )
    lattice_friendly: Flag | None = Field(
        None, description="whether it may carry hidden columns for tables below it; true by default"
    )


class SummaryTableDocument(ViewDocument):
    """A summary table: `fact`, `group_by` and `measures`, or the same as one SELECT in `sql`."""

    model_config = ConfigDict(
        title="Summary table",
        json_schema_extra={"oneOf": [{"required": ["sql"]}, {"required": ["fact"]}]},
    )
    group_by: Exactly[NamedExpression] = Field((), description="the columns that form the groups")
    sql: Sql | None = Field(
        None, description="SELECT … FROM fact JOIN dimension ON … WHERE … GROUP BY …"
    )


class CubeDocument(ViewDocument):
    """Many summary tables at once: every combination of the given columns and hierarchy levels."""

    model_config = ConfigDict(
        title="Cube",
        json_schema_extra={
            "required": ["name", "fact"],
            "oneOf": [
                {"required": ["cube"]},
                {"required": ["rollup"]},
                {"required": ["grouping_sets"]},
            ],
        },
    )
    cube: Exactly[NamedExpression] | None = Field(
        None,
        description="columns, each in or out, and hierarchies (stores.geography), each at one"
        " of its levels or out",
    )
    rollup: Exactly[NamedExpression] | None = Field(
        None, description="columns coarse to fine: all of them, all but the last, …, none"
    )
    grouping_sets: Exactly[Exactly[NamedExpression]] | None = Field(
        None, description="the combinations themselves"
    )
    mandatory: Exactly[Ref] = Field(
        (), description="items of `cube` that every summary table must have"
    )
    exclude: Exactly[Exactly[Ref]] = Field((), description="combinations that are left out")
    max_dimensions: Count | None = Field(
        None, description="leave out combinations of more columns than this"
    )


class ChangesDocument(Document):
    """Changed rows in a usual batch: a number of insertions, or each kind of change."""

    model_config = ConfigDict(
        title="Changes", json_schema_extra=either({"type": "integer", "minimum": 0})
    )
    insertions: Count = 0
    deletions: Count = 0
    updates: Count = 0

    @classmethod
    def from_node(cls, node: Node) -> dict[str, Node]:
        """A lone number counts insertions."""
        return {"insertions": node} if isinstance(node, Scalar) else super().from_node(node)


class TableStatisticsDocument(Document):
    """What is known of the size of a fact or dimension."""

    model_config = ConfigDict(title="Statistics of a table")
    rows: Count | None = None
    changes: ChangesDocument | None = Field(None, description="changed rows in a usual batch")
    distinct: Named[Count] = Field({}, description="how many values a column has")


class ViewStatisticsDocument(Document):
    """What is known of the size and the use of a summary table."""

    model_config = ConfigDict(title="Statistics of a summary table")
    rows: Count | None = Field(None, description="its groups")
    delta_rows: Count | None = Field(None, description="the groups that a usual batch touches")
    queries: Amount | None = Field(None, description="how often it is asked, relative to others")


class WeightSet(Enum):
    """The sets of weights that have a name."""

    PAPER = "paper"
    DEFAULT = "default"


class DocumentKind(Enum):
    """What a file may say it is."""

    STATISTICS = "statistics"


class WeightsDocument(Document):
    """What one tuple costs in each role: `default`, `paper` (joins are free), or numbers."""

    model_config = ConfigDict(title="Cost weights", json_schema_extra=either(_enum(WeightSet)))
    base: Annotated[WeightSet | None, one_of(WeightSet), _choices(WeightSet)] = Field(
        None, description="the set that the numbers below change"
    )
    read: Amount | None = None
    write: Amount | None = None
    join_probe: Amount | None = None
    join_build: Amount | None = None
    stage: Amount | None = None
    unit: Prose | None = Field(None, description="what the costs are measured in")

    @classmethod
    def from_node(cls, node: Node) -> dict[str, Node]:
        """A lone word names a set."""
        return {"base": node} if isinstance(node, Scalar) else super().from_node(node)


class StatisticsDocument(Document):
    """Sizes, usual changes and cost weights of a warehouse."""

    model_config = ConfigDict(title="Statistics")
    kind: Annotated[DocumentKind | None, one_of(DocumentKind), _choices(DocumentKind)] = Field(
        None, description="marks a file of statistics"
    )
    description: Prose = ""
    tables: Named[TableStatisticsDocument] = Field({}, description="facts and dimensions by name")
    views: Named[ViewStatisticsDocument] = Field({}, description="summary tables by name")
    weights: WeightsDocument | None = None


class DefaultsDocument(Document):
    """Settings for the summary tables and cubes of this file that do not say otherwise."""

    model_config = ConfigDict(title="Defaults")
    policy: PolicyChoice = Policy.AUTO
    lattice_friendly: Flag = True


class WarehouseDocument(Document):
    """A warehouse, or a part of one: the files of a folder are read as one."""

    model_config = ConfigDict(title="cubekeeper warehouse")
    version: Annotated[int, PlainValidator(_version), WithJsonSchema({"const": 1})] = Field(
        1, description="the version of the declaration language"
    )
    name: Name | None = Field(None, description="the warehouse's name; by default the folder's")
    description: Prose = ""
    defaults: DefaultsDocument | None = None
    facts: Many[FactDocument] = ()
    dimensions: Many[DimensionDocument] = ()
    summary_tables: Many[SummaryTableDocument] = ()
    cubes: Many[CubeDocument] = ()
    statistics: StatisticsDocument | None = Field(
        None, description="sizes and usual changes; or write them in stats.yml"
    )


DECLARATION_KEYS = ("facts", "dimensions", "summary_tables", "cubes")
STATISTICS_KEYS = ("tables", "views", "weights")
