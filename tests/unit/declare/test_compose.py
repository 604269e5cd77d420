"""The YAML tree: values, places, and SQL that knows where its words stand."""

import pytest
import yaml

from cubekeeper.declare import compose as compose_module
from cubekeeper.declare.compose import compose
from cubekeeper.declare.nodes import Mapping, Scalar, Sequence
from cubekeeper.errors import Problems
from cubekeeper.source import Source


def tree(text):
    problems = Problems()
    node = compose(Source("t.yml", text), problems)
    assert problems.errors == []
    return node


def plain(node):
    match node:
        case Mapping():
            return {key.text: plain(value) for key, value in node.entries}
        case Sequence():
            return [plain(item) for item in node.items]
        case Scalar():
            return node.value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("abc", "abc"),
        ("'1'", "1"),
        ('"yes"', "yes"),
        ("1_000_000", 1_000_000),
        ("-3", -3),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("yes", True),
        ("Off", False),
        ("true", True),
        ("~", None),
        ("2024-01-31", "2024-01-31"),
        ("0x1F", "0x1F"),
        ("1,000", "1,000"),
        ("|\n  a\n  b\n", "a\nb\n"),
        (">-\n  a\n  b\n", "a b"),
    ],
)
def test_values(text, value):
    assert plain(tree(f"k: {text}\n")) == {"k": value}


def test_keys_are_always_text():
    assert plain(tree("on: 1\nyes: 2\n3: 4\nnull: 5\n")) == {"on": 1, "yes": 2, "3": 4, "null": 5}


def test_aliases_and_merges():
    text = "a: &a {x: 1, y: 2}\nb: *a\nc: {<<: *a, y: 3}\nd: {<<: [{x: 9}, *a], z: 0}\n"
    whole = plain(tree(text))
    assert whole["b"] == {"x": 1, "y": 2}
    assert whole["c"] == {"x": 1, "y": 3}
    assert whole["d"] == {"x": 9, "y": 2, "z": 0}


@pytest.mark.parametrize("parser", ["CSafeLoader", "SafeLoader"])
def test_spans_name_what_is_written(parser, monkeypatch):
    if not hasattr(yaml, parser):
        pytest.skip("PyYAML was built without libyaml")
    monkeypatch.setattr(compose_module, "_LOADER", getattr(yaml, parser))
    text = (
        "ä: [b, 'c d', \"e\"]\nf:\n  - g: h\n    i: |\n      j k\n\n  # comment\nl:   m  n   # o\n"
    )
    root = tree(text)
    assert [key.span.text for key, _ in root.entries] == ["ä", "f", "l"]
    assert [item.span.text for item in root.values["ä"].items] == ["b", "'c d'", '"e"']
    block = root.values["f"].items[0].values["i"]
    assert block.span.text == "|\n      j k"
    assert root.values["l"].span.text == "m  n"
    assert root.values["f"].span.text == "- g: h\n    i: |\n      j k\n\n  # comment"


STYLES = {
    "plain": "k: SUM(a) + b.c\n",
    "plain over lines": "k: SUM(a)\n   + b.c\n",
    "single quotes": "k: 'SUM(a) + b.c'\n",
    "double quotes": 'k: "SUM(a) + b.c"\n',
    "double quotes over lines": 'k: "SUM(a)\n\n   + b.c"\n',
    "escapes": 'k: "\\x53UM(a)\\n+ b.c"\n',
    "doubled quotes": "k: '''x''=SUM(a) + b.c'\n",
    "literal block": "k: |\n    SUM(a)\n      + b.c\n",
    "literal block with a comment": "k: |-  # SUM(a) b.c\n    SUM(a)\n      + b.c\n",
    "literal block with an indent": "k: |2\n    SUM(a)\n  + b.c\n",
    "folded block": "k: >\n    SUM(a)\n\n    + b.c\n",
    "in a list": "k: [z, SUM(a) + b.c]\n",
    "windows lines": "k: |\r\n    SUM(a)\r\n      + b.c\r\n",
}


@pytest.mark.parametrize("text", STYLES.values(), ids=STYLES)
def test_words_of_sql_are_found_in_the_file(text):
    node = tree(text).values["k"]
    node = node.items[1] if isinstance(node, Sequence) else node
    assert isinstance(node, Scalar)
    fragment = node.fragment()
    at = fragment.text.index("b.c")
    assert fragment.span(at, at + 3).text == "b.c"
    assert 0 <= fragment.span().start <= fragment.span().end <= len(text)


def test_a_tag_and_a_duplicate_do_not_stop_the_reading():
    problems = Problems()
    node = compose(Source("t.yml", "a: !x 1\nb: 2\nb: 3\n? [c]\n: 4\n"), problems)
    assert plain(node) == {"a": 1, "b": 2}
    assert [error.code for error in problems.errors] == [
        "yaml-tag",
        "yaml-duplicate-key",
        "yaml-key",
    ]
