"""The building blocks of the document models: words, SQL, numbers and lists read from YAML nodes.

pydantic validates the node tree itself: a leaf takes a `Scalar` and gives a value that knows its
place, a `Document` takes a `Mapping` (or a shorthand for one) and keeps it. An item of a list that
is wrong is reported and left out, so that one reading finds the problems of all the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, Final, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetJsonSchemaHandler,
    ModelWrapValidatorHandler,
    PlainValidator,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError

from cubekeeper.declare.nodes import Mapping, Node, Scalar, Sequence, kind_of
from cubekeeper.errors import InputError, Problems, did_you_mean
from cubekeeper.source import Fragment, Span

RESERVED_PREFIX: Final = "__"
LONGEST_NAME: Final = 255


@dataclass(frozen=True)
class Word:
    """A text and its place."""

    text: str
    span: Span

    def __str__(self) -> str:
        return self.text


@dataclass
class Reading:
    """What validation shares: the problems found, and the names of items that were left out."""

    problems: Problems
    broken: set[str] = field(default_factory=set)

    def report(self, error: ValidationError, node: Node) -> None:
        """Turn pydantic's errors, whose places are relative to `node`, into ours."""
        for detail in error.errors(include_url=False, include_context=True):
            self.problems.add(_input_error(detail, node))
        name = node.values.get("name") if isinstance(node, Mapping) else None
        if isinstance(name, Scalar):
            self.broken.add(name.text.lower())


class Document(BaseModel):
    """A mapping of the declaration language; unknown keys are reported where they stand."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, arbitrary_types_allowed=True, defer_build=True
    )
    _node: Node = PrivateAttr()

    @property
    def span(self) -> Span:
        """Where it is written."""
        return self._node.span

    def key_span(self, name: str) -> Span:
        """Where one of its keys is written (itself, in a shorthand)."""
        if isinstance(self._node, Mapping) and name in self._node.values:
            return self._node.key(name).span
        return self._node.span

    def node(self, name: str) -> Node | None:
        """What is written for a key."""
        return self._node.values.get(name) if isinstance(self._node, Mapping) else None

    def lacks_items(self, name: str) -> bool:
        """Whether items of a list were wrong and had to be left out."""
        node = self.node(name)
        return isinstance(node, Sequence) and len(node.items) > len(getattr(self, name))

    def has(self, name: str) -> bool:
        """Whether a key was written."""
        return name in self.model_fields_set

    @classmethod
    def from_node(cls, node: Node) -> dict[str, Node]:
        """The fields that a node stands for; documents with a shorthand override this."""
        if isinstance(node, Mapping):
            return node.values
        raise wrong_kind("a mapping of keys to values", node)

    @model_validator(mode="wrap")
    @classmethod
    def _keep_node(
        cls, node: Node, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo
    ) -> Self:
        known, reading = cls.model_fields, info.context
        assert isinstance(reading, Reading)
        values = cls.from_node(node)
        for name in values.keys() - known.keys():
            reading.problems.add(
                InputError(
                    "unknown-key",
                    f"unknown key `{name}`",
                    span=node.key(name).span if isinstance(node, Mapping) else node.span,
                    hint=did_you_mean(name, known),
                )
            )
        document = handler({name: value for name, value in values.items() if name in known})
        document._node = node
        return document


def wrong_kind(wanted: str, node: Node, hint: str = "") -> PydanticCustomError:
    """The error of a value that is not of the kind a key takes."""
    code = "no-value" if isinstance(node, Scalar) and node.value is None else "wrong-kind"
    context = {"wanted": wanted, "found": kind_of(node), "hint": hint}
    return PydanticCustomError(code, "takes {wanted}, not {found}", context)


def _word(node: Node) -> Word:
    if isinstance(node, Scalar):
        value = node.value
        if isinstance(value, str) and value.strip():
            return Word(value.strip(), node.span)
        if value is not None and not isinstance(value, str):
            raise wrong_kind("a text", node, f"to mean the text, quote it: '{node.text}'")
        if value is not None:
            raise PydanticCustomError("empty-text", "is an empty text")
    raise wrong_kind("a text", node)


def bad_name(name: str) -> tuple[str, str, str] | None:
    """Why a text cannot name a table or a column: code, reason and hint; or None.

    >>> bad_name("__count")[0], bad_name("storeID")
    ('reserved-name', None)
    """
    if name.startswith(RESERVED_PREFIX):
        reason = f"`{name}` begins with `{RESERVED_PREFIX}`, which is kept for helper columns"
        return "reserved-name", reason, f"try `{name.lstrip('_') or 'name'}`"
    if not name or name != name.strip():
        reason = "it is empty" if not name.strip() else "it has spaces around it"
        return "bad-name", f"`{name}` cannot be a name: {reason}", ""
    bad = next((char for char in name if char in ".`" or not char.isprintable()), None)
    if bad is not None:
        shown = {"\n": "a line break", ".": "a dot", "`": "a backtick"}.get(bad, f"{bad!r}")
        shown = f"`{' '.join(name.split())}` cannot be a name: it has {shown} in it"
        return "bad-name", shown, "use letters, digits and `_`"
    if len(name) > LONGEST_NAME:
        return "bad-name", f"a name has at most {LONGEST_NAME} characters", ""
    return None


def _name(node: Node) -> Word:
    word = _word(node)
    problem = bad_name(word.text)
    if problem:
        code, message, hint = problem
        context = {"code": code, "message": message, "hint": hint}
        raise PydanticCustomError("told", "{message}", context)
    return word


def _sql(node: Node) -> Fragment:
    if isinstance(node, Scalar) and node.value is not None:
        if node.text.strip():
            return node.fragment()
        raise PydanticCustomError("empty-text", "is an empty text")
    raise wrong_kind("SQL text", node)


def _prose(node: Node) -> str:
    if isinstance(node, Scalar):
        return node.text.strip()
    raise wrong_kind("a text", node)


def _flag(node: Node) -> bool:
    if isinstance(node, Scalar) and isinstance(node.value, bool):
        return node.value
    raise wrong_kind("`true` or `false`", node)


def _count(node: Node) -> int:
    value = node.value if isinstance(node, Scalar) else None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63:
        return value
    hint = "write it without separators, or as 1_000_000"
    raise wrong_kind("a whole number, 0 or more", node, hint if isinstance(value, str) else "")


def _amount(node: Node) -> float:
    value = node.value if isinstance(node, Scalar) else None
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e300:
        return float(value)
    raise wrong_kind("a number, 0 or more", node)


def one_of(choices: type[Enum]) -> PlainValidator:
    """Reads one of the values of an enumeration."""

    def read(node: Node) -> Enum:
        text = node.text if isinstance(node, Scalar) else ""
        for choice in choices:
            if choice.value == text:
                return choice
        wanted = " | ".join(str(choice.value) for choice in choices)
        hint = did_you_mean(text, [str(c.value) for c in choices]) if text else None
        raise wrong_kind(f"one of {wanted}", node, hint or "")

    return PlainValidator(read)


T = TypeVar("T")

Name = Annotated[
    Word,
    PlainValidator(_name),
    WithJsonSchema({"type": "string", "pattern": "^(?!__)[^.`\\n]+$", "maxLength": LONGEST_NAME}),
]
"""A name that is given here."""

Ref = Annotated[Word, PlainValidator(_word), WithJsonSchema({"type": "string", "minLength": 1})]
"""A name that is used here."""

Sql = Annotated[
    Fragment,
    PlainValidator(_sql),
    WithJsonSchema({"type": ["string", "number", "boolean"], "minLength": 1}),
]
"""A piece of Spark SQL."""

Prose = Annotated[str, PlainValidator(_prose), WithJsonSchema({"type": "string"})]
Flag = Annotated[bool, PlainValidator(_flag), WithJsonSchema({"type": "boolean"})]
Count = Annotated[int, PlainValidator(_count), WithJsonSchema({"type": "integer", "minimum": 0})]
Amount = Annotated[float, PlainValidator(_amount), WithJsonSchema({"type": "number", "minimum": 0})]


def _items(node: Node) -> tuple[Node, ...]:
    if isinstance(node, Sequence):
        return node.items
    raise wrong_kind("a list", node, "begin each item with `- `, or put them in [ ]")


def _one_or_items(node: Node) -> tuple[Node, ...]:
    return node.items if isinstance(node, Sequence) else (node,)


def _entries(node: Node) -> dict[str, Node]:
    if isinstance(node, Mapping):
        return node.values
    raise wrong_kind("a mapping of names to values", node)


def _tolerate(node: Node, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    try:
        return handler(node)
    except ValidationError as error:
        assert isinstance(info.context, Reading)
        info.context.report(error, node)
        return None


def _drop_left_out(items: tuple[T | None, ...]) -> tuple[T, ...]:
    return tuple(item for item in items if item is not None)


def _drop_unnamed(entries: dict[str, T | None]) -> dict[str, T]:
    return {name: value for name, value in entries.items() if value is not None}


Many = Annotated[
    tuple[Annotated[T, WrapValidator(_tolerate)], ...],
    BeforeValidator(_items),
    AfterValidator(_drop_left_out),
]
"""A list whose wrong items are reported and left out."""

Exactly = Annotated[tuple[T, ...], BeforeValidator(_items)]
"""A list of which every item counts: one wrong item makes the whole wrong."""


class _ItemOrList:
    """Tells the JSON Schema of a list that one item may stand for itself."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        written = handler(schema)
        return {"anyOf": [written["items"], written]}


OneOrMany = Annotated[tuple[T, ...], BeforeValidator(_one_or_items), _ItemOrList()]
"""A list, or one item that stands for itself."""

Named = Annotated[
    dict[str, Annotated[T, WrapValidator(_tolerate)]],
    BeforeValidator(_entries),
    AfterValidator(_drop_unnamed),
]
"""Names with their values; wrong ones are reported and left out."""


def either(*schemas: dict[str, object]) -> Callable[[dict[str, Any]], None]:
    """For the JSON Schema of a document with shorthands: those, or the mapping in full."""

    def add(schema: dict[str, Any]) -> None:
        full = {key: value for key, value in schema.items() if key not in ("title", "description")}
        kept = {key: schema[key] for key in ("title", "description") if key in schema}
        schema.clear()
        schema.update(kept | {"anyOf": [*schemas, full]})

    return add


def _input_error(detail: ErrorDetails, node: Node) -> InputError:
    """pydantic's error as ours: its place in the file, and a sentence with the key as subject."""
    subject, key = "", None
    code = detail["type"]
    for part in detail["loc"][: -1 if code == "missing" else None]:
        if isinstance(node, Mapping) and part in node.values:
            key, node = node.key(str(part)), node.values[str(part)]
            subject = f"`{part}`"
        elif isinstance(node, Mapping) and part in ("name", "expr") and len(node.entries) == 1:
            node = node.entries[0][0 if part == "name" else 1]  # the shorthand `name: expr`
        elif isinstance(node, Sequence) and isinstance(part, int) and part < len(node.items):
            node = node.items[part]
            subject = f"an item of {subject}" if subject else ""
    context = detail.get("ctx", {})
    hint = str(context.get("hint") or "") or None
    if code == "missing":
        return InputError("missing-key", f"`{detail['loc'][-1]}` is missing here", span=node.span)
    if code == "no-value" and key is not None and not node.span.end > node.span.start:
        message = f"{subject} has no value; it takes {context['wanted']}"
        return InputError(code, message, span=key.span, hint="give it one, or remove the key")
    if code in ("no-value", "wrong-kind"):
        message = f"takes {context['wanted']}, not {context['found']}"
        message = f"{subject} {message}" if subject else message.replace("takes", "expected", 1)
        return InputError(code, message, span=node.span, hint=hint)
    if code == "told":  # a whole sentence already
        return InputError(str(context["code"]), detail["msg"], span=node.span, hint=hint)
    return InputError(code, f"{subject or 'this'} {detail['msg']}", span=node.span, hint=hint)
