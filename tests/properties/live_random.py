"""Random queries of the calculus and random databases for them."""

from dataclasses import dataclass

from hypothesis import strategies as st

from cubekeeper.live.calculus.build import (
    add,
    cond,
    const,
    exists,
    extreme,
    let,
    lift,
    mul,
    neg,
    relation,
    sum_over,
    value,
    var,
)
from cubekeeper.live.calculus.nodes import AtomKind
from cubekeeper.live.calculus.variables import free
from cubekeeper.live.interpret.collection import Collection
from cubekeeper.scalar.build import call, literal
from cubekeeper.schema import BIGINT

ARITIES = {"R": 2, "S": 2, "T": 1}
POOL = ("a", "b", "c", "d")


@dataclass
class Database:
    """Relations, their changes, and maps, by name."""

    relations: dict
    deltas: dict
    maps: dict

    def find(self, kind, name):
        return {
            AtomKind.RELATION: self.relations,
            AtomKind.DELTA: self.deltas,
            AtomKind.MAP: self.maps,
        }[kind][name]


def v(name):
    return var(name, BIGINT, nullable=True)


def collections(arity, least):
    item = st.one_of(st.none(), st.integers(0, 2))
    counts = st.integers(least, 2).filter(bool)
    return st.dictionaries(st.tuples(*[item] * arity), counts, max_size=4)


def databases(least=1):
    return st.fixed_dictionaries({name: collections(n, least) for name, n in ARITIES.items()})


def database(rows, changes=None):
    return Database(
        {name: Collection(r) for name, r in rows.items()},
        {name: Collection(r) for name, r in (changes or {}).items()},
        {},
    )


def plus(rows, changes):
    found = {name: Collection(r) for name, r in rows.items()}
    for name, change in changes.items():
        for key, count in change.items():
            found[name].add(key, count)
    return {name: c.rows for name, c in found.items()}


@st.composite
def atoms(draw, names=POOL):
    name = draw(st.sampled_from(sorted(ARITIES)))
    return relation(name, *(v(draw(st.sampled_from(names))) for _ in range(ARITIES[name])))


@st.composite
def scalars(draw, names):
    one = v(draw(st.sampled_from(names)))
    if draw(st.booleans()):
        return one
    other = draw(st.one_of(st.sampled_from(names).map(v), st.integers(-1, 2).map(literal)))
    return call(draw(st.sampled_from(["+", "-", "*"])), one, other)


@st.composite
def conditions(draw, names):
    left, right = draw(scalars(names)), draw(scalars(names))
    plain = call(draw(st.sampled_from(["=", "<>", "<", "<="])), left, right)
    return draw(
        st.sampled_from(
            [plain, call("not", call("is_null", left)), call("or", plain, call("is_null", right))]
        )
    )


@st.composite
def queries(draw, depth=2, prefix=""):
    """A query all of whose free variables it finds itself."""
    parts = draw(st.lists(atoms(), min_size=1, max_size=2))
    for step in range(draw(st.integers(0, 2 if depth else 1))):
        names = sorted(free(mul(*parts)))
        parts.append(draw(extras(names, depth, f"{prefix}x{depth}{step}")))
    body = mul(*parts)
    if depth and draw(st.booleans()):
        other = draw(queries(depth - 1, prefix + "o"))
        common = free(body) & free(other)
        body = add(
            sum_over(sorted(free(body) - common), body),
            draw(st.sampled_from([other, neg(other)]))
            if free(other) == common
            else sum_over(sorted(free(other) - common), other),
        )
    kept = draw(st.sets(st.sampled_from(POOL)))
    return sum_over(sorted(free(body) - kept), body)


@st.composite
def extras(draw, names, depth, fresh_name):
    if not names:
        return const(2)
    kinds = ["value", "cond", "let", "const"] + (["lift", "exists", "extreme"] * 2 if depth else [])
    match draw(st.sampled_from(kinds)):
        case "value":
            return value(draw(scalars(names)))
        case "cond":
            return cond(draw(conditions(names)))
        case "let":
            return let(v(fresh_name), draw(scalars(names)))
        case "const":
            return const(draw(st.sampled_from([-1, 2, 3])))
        case "exists":
            return exists(draw(queries(depth - 1, fresh_name)))
        case "extreme":
            inner = draw(queries(depth - 1, fresh_name))
            local = sorted(free(inner) - set(names))
            if not local:
                return exists(inner)
            key = v(local[0])
            return extreme(
                v(fresh_name), key, sum_over(local[1:], inner), least=draw(st.booleans())
            )
    inner = draw(queries(depth - 1, fresh_name))
    if draw(st.booleans()):
        inner = mul(inner, cond(draw(conditions(sorted(free(inner) | set(names))))))
    inner = sum_over(sorted(free(inner) - set(names)), inner)
    lifted = var(fresh_name, BIGINT)
    limit = literal(draw(st.integers(0, 2)))
    return mul(
        lift(lifted, inner), cond(call(draw(st.sampled_from(["=", "<", ">"])), lifted, limit))
    )
