"""YAML text to a tree of nodes, without recursion: depth and size are bounded, not the stack.

The parser's events are read one by one; composing, tags and types are ours. Plain aliases (``*x``)
and merge keys (``<<``) work; tags, several documents in a file, keys that are not words and keys
written twice are refused, each at its place. What leaves the rest of the file readable is put with
the other problems; what does not is raised.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import yaml

from cubekeeper.declare.nodes import Mapping, Node, Scalar, Sequence
from cubekeeper.errors import InputError, Problems
from cubekeeper.source import Source, Span

MAX_DEPTH: Final = 64
MAX_NODES: Final = 1_000_000

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_UNPRINTABLE: Final = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


def compose(source: Source, problems: Problems) -> Node | None:
    """The tree of a YAML text, or None for a text without content; raises `InputError`.

    >>> tree = compose(Source("a.yml", "facts: [pos, 'items']"), Problems())
    >>> [item.text for item in tree.values["facts"].items]
    ['pos', 'items']
    """
    strange = _UNPRINTABLE.search(source.text)
    if strange:
        raise InputError(
            "yaml-control-character",
            f"the character U+{ord(strange[0]):04X} is not allowed in YAML",
            span=Span(source, strange.start(), strange.end()),
            hint="remove it, or write it as an escape in double quotes",
        )
    return _Composer(source, problems).compose()


@dataclass
class _Open:
    """A list or mapping that has begun and not ended."""

    start: int
    anchor: str | None
    is_mapping: bool
    children: list[Node] = field(default_factory=list)


@dataclass
class _Composer:
    source: Source
    problems: Problems
    anchors: dict[str, Node | None] = field(default_factory=dict)
    total: int = 0

    def compose(self) -> Node | None:
        root: Node | None = None
        stack: list[_Open] = []
        documents = 0
        for event in self._events():
            match event:
                case yaml.DocumentStartEvent():
                    documents += 1
                    if documents > 1:
                        raise InputError(
                            "yaml-documents",
                            "a second document begins here; a file holds one",
                            span=self._span(event, at_least=3),
                            hint="remove the `---`, or move what follows into a file of its own",
                        )
                case yaml.SequenceStartEvent() | yaml.MappingStartEvent():
                    self._refuse_tag(event)
                    if len(stack) == MAX_DEPTH:
                        raise InputError(
                            "yaml-depth",
                            f"the file is nested more than {MAX_DEPTH} levels deep",
                            span=self._span(event, at_least=1),
                            hint="declarations need fewer than ten levels; look for brackets"
                            " that are never closed",
                        )
                    is_mapping = isinstance(event, yaml.MappingStartEvent)
                    if event.anchor:
                        self.anchors[event.anchor] = None
                    stack.append(_Open(_start(event), event.anchor, is_mapping))
                case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                    done = stack.pop()
                    node = self._close(done, _end(event))
                    root = self._keep(node, done.anchor, stack)
                case yaml.ScalarEvent():
                    root = self._keep(self._scalar(event), event.anchor, stack)
                case yaml.AliasEvent():
                    root = self._keep(self._aliased(event), None, stack)
                case _:
                    pass
        if isinstance(root, Scalar) and root.value is None:
            return None
        return root

    def _events(self) -> Iterator[yaml.Event]:
        try:
            yield from yaml.parse(self.source.text, Loader=_LOADER)
        except yaml.MarkedYAMLError as error:
            raise _syntax_error(self.source, error) from None

    def _keep(self, node: Node, anchor: str | None, stack: list[_Open]) -> Node:
        self.total += 1 if isinstance(node, Scalar) else 2
        if anchor:
            self.anchors[anchor] = node
        if stack:
            stack[-1].children.append(node)
        return node

    def _scalar(self, event: yaml.ScalarEvent) -> Scalar:
        self._refuse_tag(event)
        plain, block = event.style in ("", None), event.style in ("|", ">")
        return Scalar(event.value, self._span(event), plain, block)

    def _aliased(self, event: yaml.AliasEvent) -> Node:
        name = event.anchor or ""
        node = self.anchors.get(name)
        if node is None:
            inside = name in self.anchors
            raise InputError(
                "yaml-alias",
                f"`*{name}` stands inside what it names"
                if inside
                else f"`*{name}` refers to an anchor that is not defined above it",
                span=self._span(event),
                hint=f"mark the part to repeat with `&{name}`, above this line",
            )
        self._count(node.size, event)
        return node

    def _count(self, size: int, event: yaml.Event) -> None:
        self.total += size
        if self.total > MAX_NODES:
            raise InputError(
                "yaml-size",
                f"with its aliases written out the file has more than {MAX_NODES:,} values",
                span=self._span(event),
                hint="write fewer aliases of aliases",
            )

    def _close(self, done: _Open, end: int) -> Node:
        span = self._trimmed(done.start, end)
        size = 1 + sum(child.size for child in done.children)
        if not done.is_mapping:
            return Sequence(tuple(done.children), span, size)
        pairs = list(zip(done.children[::2], done.children[1::2], strict=True))
        return Mapping(
            tuple(_merged(_checked_keys(pairs, self.problems), self.problems)), span, size
        )

    def _span(self, event: yaml.Event, at_least: int = 0) -> Span:
        start = _start(event)
        return self._trimmed(start, max(_end(event), start + at_least))

    def _trimmed(self, start: int, end: int) -> Span:
        """Block values end where the next line's word begins; their text ends earlier."""
        end = min(end, len(self.source.text))
        while end > start and self.source.text[end - 1].isspace():
            end -= 1
        return Span(self.source, start, end)

    def _refuse_tag(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent) -> None:
        if event.tag:
            self.problems.add(
                InputError(
                    "yaml-tag",
                    "YAML tags (`!…`) have no meaning here",
                    span=self._span(event, at_least=1),
                    hint="remove the tag; put text that begins with `!` in quotes",
                )
            )


def _start(event: yaml.Event) -> int:
    return event.start_mark.index if event.start_mark else 0


def _end(event: yaml.Event) -> int:
    return event.end_mark.index if event.end_mark else 0


def _checked_keys(
    pairs: list[tuple[Node, Node]], problems: Problems
) -> Iterator[tuple[Scalar, Node]]:
    seen: dict[str, Scalar] = {}
    for key, value in pairs:
        if not isinstance(key, Scalar):
            problems.add(
                InputError(
                    "yaml-key",
                    "a key must be a word, not a list or a mapping",
                    span=key.span,
                    hint="put braces that belong to a text in quotes",
                )
            )
        elif key.text in seen and key.text != "<<":
            problems.add(
                InputError(
                    "yaml-duplicate-key",
                    f"the key `{key.text}` stands twice in this mapping, first on line"
                    f" {seen[key.text].span.line}",
                    span=key.span,
                    hint="YAML would keep only one of them; merge or rename them",
                )
            )
        else:
            seen[key.text] = key
            yield key, value


def _merged(
    entries: Iterator[tuple[Scalar, Node]], problems: Problems
) -> Iterator[tuple[Scalar, Node]]:
    """The entries with ``<<`` replaced by what it brings; keys written here win."""
    own: list[tuple[Scalar, Node]] = []
    brought: dict[str, tuple[Scalar, Node]] = {}
    for key, value in entries:
        if key.text != "<<" or not key.plain:
            own.append((key, value))
            continue
        for mapping in value.items if isinstance(value, Sequence) else (value,):
            if not isinstance(mapping, Mapping):
                problems.add(
                    InputError(
                        "yaml-merge",
                        "`<<` takes a mapping, or a list of mappings",
                        span=mapping.span,
                        hint="write `<<: *name`, where `&name` marks a mapping",
                    )
                )
                continue
            for entry in mapping.entries:
                brought.setdefault(entry[0].text, entry)
    yield from own
    written = {key.text for key, _ in own}
    yield from (entry for name, entry in brought.items() if name not in written)


def _syntax_error(source: Source, error: yaml.MarkedYAMLError) -> InputError:
    """Say what the parser found, in the same words whichever of its two builds is at work."""
    mark = error.problem_mark or error.context_mark
    at = min(mark.index, len(source.text)) if mark else 0
    began = error.context_mark.index if error.context_mark else at
    here = source.text[at : at + 1]
    context = error.context or ""
    line_start = source.text.rfind("\n", 0, at) + 1
    if "\t" in source.text[line_start : at + 1] and not source.text[line_start:at].strip():
        return InputError(
            "yaml-tab",
            "a tab cannot indent YAML",
            span=Span(source, source.text.index("\t", line_start), at + 1),
            hint="indent with spaces",
        )
    if "next token" in context:
        message, hint = f"an unquoted text cannot begin with `{here}`", "put the text in quotes"
    elif "quoted scalar" in context and "end of stream" in (error.problem or ""):
        return InputError(
            "yaml-syntax",
            "this quotation mark is never closed",
            span=Span(source, began, began + 1),
            hint="close it, or double a quotation mark that belongs to the text",
        )
    elif "flow sequence" in context or "flow mapping" in context:
        close = "]" if "sequence" in context else "}"
        hint = f"close it with `{close}`, or put text that has brackets or commas in quotes"
        if not source.text[at:].strip():
            message, at, here = "this bracket is never closed", began, source.text[began]
        else:
            opened = source.position(began)[0]
            message = f"expected `,` or `{close}` for the bracket opened on line {opened}"
    elif "mapping values" in (error.problem or ""):
        message = "a `:` is not expected here"
        hint = "put text that contains `: ` in quotes, and check the indentation"
    elif "block" in context or "simple key" in context:
        message = "this line does not fit the lines above it"
        hint = "check its indentation, and that keys end with `:`"
    else:
        message = f"this is not YAML: {error.problem or error.context or 'it cannot be read'}"
        hint = None
    return InputError("yaml-syntax", message, span=Span(source, at, at + len(here)), hint=hint)
