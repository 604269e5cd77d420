"""Javas are found where they are, and refused when they are too old or too new."""

from pathlib import Path

import pytest

from cubekeeper.errors import InputError
from cubekeeper.spark.java import find_java


def install(home: Path, version: str, *, release: bool = True) -> Path:
    """A folder that looks like a Java of that version."""
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
    java.chmod(0o755)
    if release:
        (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return home


def test_java_home_goes_before_path_and_path_before_folders(tmp_path):
    named = install(tmp_path / "named", "21.0.1")
    on_path = install(tmp_path / "on_path", "17.0.2")
    install(tmp_path / "jvm" / "a", "17.0.3")
    roots = [(str(tmp_path / "jvm"), "*")]
    environment = {"JAVA_HOME": str(named), "PATH": str(on_path / "bin")}
    assert find_java(environment, roots).version == "21.0.1"
    del environment["JAVA_HOME"]
    found = find_java(environment, roots)
    assert (found.version, found.major, found.home) == ("17.0.2", 17, on_path)
    assert find_java({"PATH": ""}, roots).version == "17.0.3"


def test_an_unusable_one_is_passed_over(tmp_path):
    old = install(tmp_path / "old", "11.0.20")
    good = install(tmp_path / "good", "17")
    found = find_java({"JAVA_HOME": str(old), "PATH": str(good / "bin")}, [])
    assert found.home == good


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.20", "16.0.1", "25"])
def test_a_wrong_version_is_named_with_what_to_do(tmp_path, version):
    java = install(tmp_path / "java", version, release=False)
    with pytest.raises(InputError) as refused:
        find_java({"PATH": str(java / "bin")}, [])
    assert refused.value.code == "wrong-java"
    assert f"`{java / 'bin' / 'java'}` (on PATH) version {version}" in refused.value.message
    for word in ("apt", "brew", "sdk", "cubekeeper[java]", "JAVA_HOME"):
        assert word in (refused.value.hint or "")


def test_no_java_at_all(tmp_path):
    with pytest.raises(InputError, match="there is none here") as refused:
        find_java({"PATH": str(tmp_path)}, [])
    assert refused.value.code == "no-java"


def test_a_java_that_does_not_answer(tmp_path):
    java = install(tmp_path / "java", "", release=False) / "bin" / "java"
    java.write_text("#!/bin/sh\necho 'no runtime present, requesting install' >&2; exit 1\n")
    with pytest.raises(InputError, match="does not answer"):
        find_java({"PATH": str(java.parent)}, [])


def test_behind_a_script_on_path_stands_the_java_it_chooses(tmp_path):
    real = install(tmp_path / "real", "21.0.4")
    shim = tmp_path / "shims" / "java"
    shim.parent.mkdir()
    shim.write_text(f"#!/bin/sh\necho '    java.home = {real}\nopenjdk version \"21.0.4\"'\n")
    shim.chmod(0o755)
    assert find_java({"PATH": str(shim.parent)}, []).home == real
