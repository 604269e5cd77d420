"""Delta's jars are found and checked, and never taken for what they are not."""

import hashlib
from pathlib import Path

import pytest

from cubekeeper.errors import InputError
from cubekeeper.spark.jars import DELTA_JARS, Jar, find_jars, is_jar, keep_jar

CONTENT = b"a jar, so to speak"
JAR = Jar("org.example", "thing", "1.0", hashlib.sha256(CONTENT).hexdigest())


def test_missing_jars_name_the_command_that_brings_them(tmp_path):
    with pytest.raises(InputError) as refused:
        find_jars({"CUBEKEEPER_CACHE": str(tmp_path)})
    assert refused.value.code == "jars-missing"
    assert "`cubekeeper setup`" in (refused.value.hint or "")
    assert "CUBEKEEPER_JARS" in (refused.value.hint or "")


def test_a_named_folder_must_hold_them(tmp_path):
    with pytest.raises(InputError, match=f"CUBEKEEPER_JARS names `{tmp_path}`"):
        find_jars({"CUBEKEEPER_JARS": str(tmp_path)})


@pytest.mark.parametrize("prefix", ["", "io.delta_"])
def test_a_jar_with_other_bytes_is_refused(tmp_path, prefix):
    for jar in DELTA_JARS:
        (tmp_path / f"{prefix}{jar.file_name}").write_bytes(b"something else")
    with pytest.raises(InputError) as refused:
        find_jars({"CUBEKEEPER_JARS": str(tmp_path)})
    assert refused.value.code == "wrong-jar"
    assert DELTA_JARS[0].sha256[:12] in refused.value.message


def test_the_jars_of_this_machine_can_be_named_as_a_folder():
    folder = find_jars()[0].parent
    assert find_jars({"CUBEKEEPER_JARS": str(folder)}) == find_jars()


def test_a_jar_is_kept_only_if_it_is_the_right_one(tmp_path: Path):
    fetched = tmp_path / "fetched"
    fetched.write_bytes(CONTENT)
    kept = keep_jar(JAR, fetched, tmp_path / "cache")
    assert is_jar(JAR, kept)
    assert kept.name == "thing-1.0.jar"
    fetched.write_bytes(b"cut off")
    with pytest.raises(InputError, match=r"is not org\.example:thing:1\.0"):
        keep_jar(JAR, fetched, tmp_path / "cache")
    assert is_jar(JAR, kept)
    assert [path.name for path in kept.parent.iterdir()] == [kept.name]
