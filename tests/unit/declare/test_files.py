"""Files as the world gives them: missing, broken, huge, deep, or simply not ours."""

import pytest
import yaml

from cubekeeper.declare import compose as compose_module
from cubekeeper.declare import load, load_statistics, load_text
from cubekeeper.declare.files import MAX_BYTES
from cubekeeper.errors import DeclarationErrors, ExitCode

SHOP = "facts:\n  - {name: pos, columns: {qty: int}}\n"


def refused(path_or_text, reader=load):
    with pytest.raises(DeclarationErrors) as raised:
        reader(path_or_text)
    assert raised.value.exit_code is ExitCode.INPUT
    return raised.value.errors


def test_missing_path(tmp_path):
    (error,) = refused(tmp_path / "nowhere")
    assert error.code == "no-file"
    assert "nowhere" in error.message


def test_folder_without_yaml(tmp_path):
    (tmp_path / "notes.txt").write_text("facts: []")
    (tmp_path / ".hidden.yml").write_text(SHOP)
    (error,) = refused(tmp_path)
    assert error.code == "no-yaml"


def test_folder_with_the_name_of_a_file(tmp_path):
    (tmp_path / "folder.yml").mkdir()
    (tmp_path / "shop.yml").write_text(SHOP)
    assert len(load(tmp_path).files) == 1


def test_not_utf8_names_the_byte(tmp_path):
    file = tmp_path / "shop.yml"
    file.write_bytes("description: Zürich\n".encode() + b"name: caf\xe9\n")
    (error,) = refused(file)
    assert error.code == "not-utf-8"
    assert "byte 0xe9 at offset 30" in error.message
    assert (error.span.line, error.span.column) == (2, 10)


def test_utf16_is_recognised(tmp_path):
    file = tmp_path / "shop.yml"
    file.write_bytes(SHOP.encode("utf-16"))
    (error,) = refused(file)
    assert error.code == "not-utf-8"
    assert "UTF-16" in error.hint


def test_byte_order_mark_is_no_problem(tmp_path):
    file = tmp_path / "shop.yml"
    file.write_bytes(b"\xef\xbb\xbf" + SHOP.encode())
    assert [fact.name for fact in load(file).warehouse.facts] == ["pos"]


def test_windows_line_ends(tmp_path):
    file = tmp_path / "shop.yml"
    file.write_bytes(SHOP.replace("\n", "\r\n").encode() + b"nmae: x\r\n")
    (error,) = refused(file)
    assert (error.code, error.span.line, error.span.text) == ("unknown-key", 3, "nmae")


def test_too_large(tmp_path):
    file = tmp_path / "shop.yml"
    file.write_bytes(b"#" * MAX_BYTES + b"#")
    (error,) = refused(file)
    assert error.code == "too-large"


def test_ten_megabytes_of_nothing_are_read(tmp_path):
    file = tmp_path / "shop.yml"
    file.write_bytes(SHOP.encode() + b"#" * (MAX_BYTES - len(SHOP)))
    assert [fact.name for fact in load(file).warehouse.facts] == ["pos"]


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "---\n", "~", "null\n"])
def test_empty(text):
    (error,) = refused(text, load_text)
    assert error.code == "empty-file"


@pytest.mark.parametrize("character", ["\x00", "\x07", "\x1b", "\ufeff", "\ufffe"])
def test_control_characters(character):
    (error,) = refused(f'name: "a{character}b"\n', load_text)
    assert error.code == "yaml-control-character"
    assert error.span.text == character
    assert f"U+{ord(character):04X}" in error.message


DEEP = {
    "lists in brackets": "[" * 10_000,
    "mappings in braces": "{a: " * 10_000,
    "lists in one line": "- " * 10_000,
    "keys in one line": "? " * 10_000,
    "closed again": "[" * 10_000 + "]" * 10_000,
    "inside a field": SHOP + "description: " + "[" * 10_000,
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
@pytest.mark.parametrize("parser", ["CSafeLoader", "SafeLoader"])
def test_ten_thousand_levels(text, parser, monkeypatch):
    if not hasattr(yaml, parser):
        pytest.skip("PyYAML was built without libyaml")
    monkeypatch.setattr(compose_module, "_LOADER", getattr(yaml, parser))
    (error,) = refused(text, load_text)
    assert error.code == "yaml-depth"


def test_aliases_of_aliases_do_not_explode():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    (error,) = refused("\n".join(lines), load_text)
    assert error.code == "yaml-size"


def test_statistics_are_no_declarations(tmp_path):
    (tmp_path / "shop.yml").write_text(SHOP)
    (tmp_path / "stats.yml").write_text("tables: {pos: {rows: 7}}")
    (tmp_path / "other.yml").write_text("kind: statistics\ntables: {pos: {rows: 1}}")
    loaded = load(tmp_path)
    assert loaded.statistics.table("pos").rows == 7
    assert loaded.statistics.origin == str(tmp_path / "stats.yml")
    assert [file.name for file in loaded.files] == ["other.yml", "shop.yml", "stats.yml"]


def test_a_file_alone_has_no_statistics(tmp_path):
    (tmp_path / "shop.yml").write_text(SHOP)
    (tmp_path / "stats.yml").write_text("tables: {pos: {rows: 7}}")
    assert load(tmp_path / "shop.yml").statistics.table("pos").rows is None


def test_only_statistics(tmp_path):
    (tmp_path / "stats.yml").write_text("tables: {pos: {rows: 7}}")
    (error,) = refused(tmp_path)
    assert error.code == "no-declarations"
    (error,) = refused(tmp_path / "stats.yml")
    assert error.code == "no-declarations"


def test_a_broken_file_does_not_hide_the_shape_of_others(tmp_path):
    (tmp_path / "a.yml").write_text("facts: [")
    (tmp_path / "b.yml").write_text("factz: []\nsummary_tables: [{name: a, fact: pos}]\n")
    errors = refused(tmp_path)
    assert [error.code for error in errors] == ["yaml-syntax", "unknown-key"]


def test_wrong_statistics_file(tmp_path):
    warehouse = load_text(SHOP).warehouse
    for text, code in (
        ("tables: {poss: {rows: 1}}", "unknown-table"),
        ("facts: []", "unknown-key"),
        ("- a", "not-a-mapping"),
        ("kind: stats", "wrong-kind"),
        ("weights: {read: -1}", "wrong-kind"),
    ):
        (tmp_path / "s.yml").write_text(text)
        with pytest.raises(DeclarationErrors) as raised:
            load_statistics(tmp_path / "s.yml", warehouse)
        assert [error.code for error in raised.value.errors] == [code]
    with pytest.raises(DeclarationErrors) as raised:
        load_statistics(tmp_path / "missing.yml", warehouse)
    assert [error.code for error in raised.value.errors] == ["no-file"]


def test_every_file_of_statistics_is_checked(tmp_path):
    (tmp_path / "warehouse.yml").write_text("facts: [{name: f, columns: {a: int}}]")
    (tmp_path / "stats.yml").write_text("tables: {f: {rows: 10}}")
    (tmp_path / "other.yml").write_text("kind: statistics\ntables: {g: {rows: 99}}")
    with pytest.raises(DeclarationErrors, match=r"other\.yml:2:10: .*`g`"):
        load(tmp_path)
    (tmp_path / "other.yml").write_text("kind: statistics\ntables: {f: {rows: 99}}")
    assert load(tmp_path).statistics.table("f").rows == 10
