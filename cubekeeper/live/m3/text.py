"""Programs as text that reads back to the same program.

stream R(a bigint, b bigint not null);
map Q[b]: bigint := Sum[b](R(a, b) * {a});
on batch R { Q[b] += Sum[b](delta R(a, b) * {a}); }
on insert into R(x_a, x_b) { Q[x_b] += {x_a}; }
view q(b, s): (s := Q[b]) * …;
"""

from __future__ import annotations

from cubekeeper.live.calculus.nodes import Var
from cubekeeper.live.calculus.text import to_text
from cubekeeper.live.m3.nodes import (
    Event,
    MapDecl,
    Program,
    Relation,
    Statement,
    Trigger,
    View,
)
from cubekeeper.scalar.text import quote


def program_text(program: Program) -> str:
    """A program as text."""
    blocks = [
        "\n".join(map(relation_text, program.relations)),
        "\n".join(map(map_text, program.maps)),
        "\n\n".join(map(trigger_text, program.triggers)),
        "\n".join(map(view_text, program.views)),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def relation_text(relation: Relation) -> str:
    """The declaration of a base table."""
    word = "static" if relation.static else "stream"
    key = f" key ({_names(relation.key)})" if relation.key else ""
    return f"{word} {quote(relation.name)}({_typed(relation.columns)}){key};"


def _typed(columns: tuple[Var, ...]) -> str:
    return ", ".join(
        f"{quote(c.column)} {c.type}{'' if c.nullable else ' not null'}" for c in columns
    )


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(map(quote, names))


def _listed(keys: tuple[Var, ...]) -> str:
    return _names(tuple(key.column for key in keys))


def map_text(declared: MapDecl) -> str:
    """The declaration of a map."""
    keys = _typed(declared.keys)
    return f"map {quote(declared.name)}[{keys}]: {declared.type} := {to_text(declared.definition)};"


def statement_text(statement: Statement) -> str:
    """One statement."""
    target = f"{quote(statement.target)}[{_listed(statement.keys)}]"
    return f"{target} {statement.effect.value} {to_text(statement.query)};"


_HEADS = {
    Event.BATCH: "on batch {name}",
    Event.INSERT: "on insert into {name}({args})",
    Event.DELETE: "on delete from {name}({args})",
}


def trigger_text(trigger: Trigger) -> str:
    """One trigger."""
    head = _HEADS[trigger.event].format(name=quote(trigger.relation), args=_listed(trigger.args))
    body = "".join(f"  {statement_text(statement)}\n" for statement in trigger.statements)
    return f"{head} {{\n{body}}}"


def view_text(view: View) -> str:
    """The declaration of a view."""
    columns = ", ".join(
        f"{quote(column.column)} {column.type}{'' if column.nullable else ' not null'}"
        + ("" if title == column.column else f" as {quote(title)}")
        for column, title in zip(view.columns, view.titles, strict=False)
    )
    hidden = view.columns[len(view.titles) :]
    if hidden:
        columns += f"; {_typed(hidden)}"
    return f"view {quote(view.name)}({columns}): {to_text(view.query)}{_order_text(view)};"


def _order_text(view: View) -> str:
    text = ""
    if view.order:
        keys = (
            f"{s.column + 1}{' desc' if s.descending else ''} nulls "
            f"{'first' if s.nulls_first else 'last'}"
            for s in view.order
        )
        text += f" order by {', '.join(keys)}"
    if view.limit is not None:
        text += f" limit {view.limit}"
    return text + (f" offset {view.offset}" if view.offset else "")
