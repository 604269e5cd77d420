"""Settings from YAML and environment, each checked; and what Spark is told."""

from dataclasses import replace
from pathlib import Path

import pytest

from cubekeeper.errors import InputError
from cubekeeper.spark.archive import archive_path, drop_old_archives, use_archive
from cubekeeper.spark.java import Java
from cubekeeper.spark.session import spark_properties
from cubekeeper.spark.settings import Profile, SparkSettings, read_settings


def test_every_setting_can_be_declared():
    declared = {
        "master": "spark://host:7077",
        "storage": "hdfs://name/lake",
        "profile": "throughput",
        "driver_memory": "8g",
        "shuffle_partitions": 64,
        "retention_days": 45,
        "conf": {"spark.executor.cores": 4, "spark.eventLog.enabled": True},
    }
    assert read_settings(declared, {}) == SparkSettings(
        "spark://host:7077",
        "hdfs://name/lake",
        Profile.THROUGHPUT,
        "8g",
        64,
        45,
        (("spark.eventLog.enabled", "true"), ("spark.executor.cores", "4")),
    )


def test_the_environment_goes_before_yaml():
    declared = {"master": "local[2]", "conf": {"spark.a": "1", "spark.b": "2"}}
    environment = {
        "CUBEKEEPER_SPARK_MASTER": "local[7]",
        "CUBEKEEPER_STORAGE": "/data/lake",
        "CUBEKEEPER_SPARK_PROFILE": "throughput",
        "CUBEKEEPER_SPARK_MEMORY": "3g",
        "CUBEKEEPER_SHUFFLE_PARTITIONS": "5",
        "CUBEKEEPER_RETENTION_DAYS": "9",
        "CUBEKEEPER_SPARK_CONF": "spark.b=3; spark.c=x=y",
    }
    assert read_settings(declared, environment) == SparkSettings(
        "local[7]",
        "/data/lake",
        Profile.THROUGHPUT,
        "3g",
        5,
        9,
        (("spark.a", "1"), ("spark.b", "3"), ("spark.c", "x=y")),
    )


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"master": ""}, "`spark.master` cannot be ``"),
        ({"master": 3}, "`spark.master` cannot be `3`"),
        ({"profile": "fast"}, "it is `small` or `throughput`"),
        ({"driver_memory": "much"}, "it looks like `4g`"),
        ({"shuffle_partitions": 0}, "a whole number from 1"),
        ({"shuffle_partitions": True}, "a whole number from 1"),
        ({"retention_days": "soon"}, "a whole number from 1"),
        ({"conf": "spark.a=1"}, "must map Spark's settings"),
        ({"conf": {"executor.memory": "1g"}}, "begin with `spark.`"),
        ({"conf": {"spark.a": [1]}}, "must have one value"),
        ({"drivermemory": "1g"}, "did you mean `driver_memory`?"),
    ],
)
def test_what_makes_no_sense_is_refused(declared, message):
    with pytest.raises(InputError) as refused:
        read_settings(declared, {})
    assert message in str(refused.value)


def test_a_variable_that_is_no_pair_is_refused():
    with pytest.raises(InputError, match="no `key=value`"):
        read_settings({}, {"CUBEKEEPER_SPARK_CONF": "spark.a"})


@pytest.mark.parametrize(
    ("storage", "path"),
    [
        ("data", "data/v/t"),
        ("/data/", "/data/v/t"),
        ("s3a://bucket", "s3a://bucket/v/t"),
        ("hdfs://name:8020/lake/", "hdfs://name:8020/lake/v/t"),
        ("file:///lake", "file:///lake/v/t"),
    ],
)
def test_paths_lie_below_the_storage_root(storage, path):
    assert SparkSettings(storage=storage).path("v", "t") == path


JARS = (Path("/jars/a.jar"), Path("/jars/b.jar"))


def test_a_cluster_is_sent_the_jars_and_local_mode_is_not():
    local = spark_properties(SparkSettings(), JARS)
    cluster = spark_properties(SparkSettings(master="spark://h:1"), JARS)
    assert "spark.jars" not in local
    assert cluster["spark.jars"] == "/jars/a.jar,/jars/b.jar"
    assert "spark.driver.host" not in cluster


@pytest.mark.parametrize(
    ("settings", "partitions"),
    [
        (SparkSettings("local[3]"), "3"),
        (SparkSettings("local[3]", profile=Profile.THROUGHPUT), "6"),
        (SparkSettings("local[3]", shuffle_partitions=50), "50"),
        (SparkSettings("spark://h:1"), "8"),
        (SparkSettings("spark://h:1", profile=Profile.THROUGHPUT), None),
        (SparkSettings("spark://h:1", shuffle_partitions=50), "50"),
    ],
)
def test_shuffles_are_divided_by_profile_unless_it_is_said(settings, partitions):
    assert spark_properties(settings, JARS).get("spark.sql.shuffle.partitions") == partitions


def test_what_the_owner_declares_goes_before_what_we_choose_or_beside_it():
    conf = (
        ("spark.jars", "/mine.jar"),
        ("spark.sql.extensions", "my.Extension"),
        ("spark.ui.enabled", "true"),
    )
    chosen = spark_properties(SparkSettings(master="yarn", conf=conf), JARS)
    assert chosen["spark.ui.enabled"] == "true"
    assert chosen["spark.jars"] == "/jars/a.jar,/jars/b.jar,/mine.jar"
    assert chosen["spark.sql.extensions"].endswith("DeltaSparkSessionExtension,my.Extension")


def test_readers_need_a_week():
    with pytest.raises(InputError, match="at least 7"):
        spark_properties(SparkSettings(retention_days=6), JARS)


def test_an_archive_belongs_to_one_java_and_one_set_of_jars(tmp_path):
    jar = tmp_path / "a.jar"
    jar.write_bytes(b"1")
    java = Java(Path("/j/bin/java"), "17", "17.0.1+1")
    environment = {"CUBEKEEPER_CACHE": str(tmp_path)}

    def path(java: Java = java, jars: tuple[Path, ...] = (jar,)) -> Path:
        return archive_path(java, jars, environment)

    first = path()
    assert path() == first
    assert path(replace(java, identity="17.0.2+1")) != first
    assert path(jars=(jar, jar)) != first
    jar.write_bytes(b"22")
    assert path() != first


def test_only_the_newest_archives_are_kept_and_use_makes_new(tmp_path):
    import os

    assert use_archive(tmp_path / "none.jsa") == ()
    for age in range(5):
        path = tmp_path / f"{age}.jsa"
        path.write_bytes(b"x")
        os.utime(path, (1000 - age, 1000 - age))
    assert use_archive(tmp_path / "4.jsa")[0].endswith("4.jsa")
    drop_old_archives(tmp_path, keep=2)
    assert sorted(path.name for path in tmp_path.glob("*.jsa")) == ["0.jsa", "4.jsa"]
