"""A Spark session with Delta, as cubekeeper wants it: quick to start, quiet, UTC, ANSI.

A process has one Spark. `open_session` starts it, or hands out the one that runs; where somebody
else has started a Spark already, as in a notebook, it is used if it knows Delta.

Two things to know. Timestamps that `collect()` brings to Python are in the zone of the Python
process, not of the session: use `toArrow()`, which says the zone. And a JVM outlives a Python
process that is killed by the moment it takes to notice; `jvm_process_id` says whom else to kill.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Final

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from cubekeeper.errors import InputError
from cubekeeper.spark.archive import archive_path, use_archive
from cubekeeper.spark.jars import find_jars
from cubekeeper.spark.java import find_java
from cubekeeper.spark.jvm import Jvm, Launch, spark_class_path, start_jvm
from cubekeeper.spark.properties import session_defaults
from cubekeeper.spark.settings import Profile, SparkSettings

DELTA_EXTENSION: Final = "io.delta.sql.DeltaSparkSessionExtension"
DELTA_CATALOG: Final = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
LOOPBACK: Final = "127.0.0.1"
SMALL_CLUSTER_PARTITIONS: Final = 8


@dataclass(frozen=True, slots=True)
class _Running:
    settings: SparkSettings
    jvm: Jvm
    session: SparkSession


_lock = Lock()
_running: list[_Running] = []  # none, or the one of this process


def open_session(
    settings: SparkSettings, environment: Mapping[str, str] = os.environ
) -> SparkSession:
    """The Spark session of this process, started now if there is none."""
    with _lock:
        if _running:
            return _same(_running[0], settings)
        other = SparkSession.getActiveSession()
        if other is not None:
            return adopt(other, settings)
        jvm = start_jvm(plan_launch(settings, environment))
        try:
            session = connect(jvm)
        except BaseException:
            jvm.close()
            raise
        _running.append(_Running(settings, jvm, session))
        return session


def close_session() -> None:
    """End the Spark that `open_session` started, and its JVM."""
    with _lock:
        while _running:
            running = _running.pop()
            running.session.stop()
            running.jvm.close()


def jvm_process_id() -> int | None:
    """The process that Spark's driver runs in, if this process has started one."""
    return _running[0].jvm.process.pid if _running else None


def _same(running: _Running, settings: SparkSettings) -> SparkSession:
    if running.settings != settings:
        raise InputError(
            "session-open",
            "this process runs Spark with other settings already",
            hint="close that session first: `close_session()`",
        )
    if running.jvm.process.poll() is not None:
        said = running.jvm.last_words().splitlines() or ["it said nothing"]
        raise InputError("spark-ended", f"Spark's JVM has ended: {said[-1]}")
    return running.session


def adopt(session: SparkSession, settings: SparkSettings) -> SparkSession:
    """A session of our own in a Spark that somebody else has started."""
    if DELTA_EXTENSION not in str(session.conf.get("spark.sql.extensions", "")):
        raise InputError(
            "no-delta",
            "the Spark session that runs in this process knows no Delta tables",
            hint=f"start it with spark.sql.extensions={DELTA_EXTENSION} and"
            f" spark.sql.catalog.spark_catalog={DELTA_CATALOG}, or let cubekeeper start it",
        )
    ours = session.newSession()
    for key, value in _sql_properties(settings).items():
        ours.conf.set(key, value)
    return ours


def plan_launch(
    settings: SparkSettings, environment: Mapping[str, str], archive: tuple[str, ...] | None = None
) -> Launch:
    """What the JVM of a session is started with; `archive` overrides the class-data archive."""
    java = find_java(environment)
    jars = find_jars(environment)
    class_path = spark_class_path(jars)
    extra = dict(settings.conf)
    if archive is None:
        archive = use_archive(archive_path(java, class_path, environment))
    return Launch(
        java,
        class_path + _more_class_path(extra, environment),
        (
            f"-Xmx{settings.driver_memory}",
            *_tuning(settings.profile),
            *archive,
            *extra.get("spark.driver.extraJavaOptions", "").split(),
        ),
        spark_properties(settings, jars),
        {**environment, "SPARK_LOCAL_IP": LOOPBACK} if settings.is_local else environment,
    )


def connect(jvm: Jvm) -> SparkSession:
    """The session in a JVM that has just been started, with the settings it was started with."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # pyspark would take any `python3`
    return SparkSession(SparkContext(conf=SparkConf(_jvm=jvm.gateway.jvm), gateway=jvm.gateway))


def _more_class_path(extra: Mapping[str, str], environment: Mapping[str, str]) -> tuple[Path, ...]:
    """What comes after Spark's jars: the archive knows only what is before."""
    named = extra.get("spark.driver.extraClassPath", "").split(os.pathsep)
    folders = [environment.get(name, "") for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR")]
    return tuple(map(Path, filter(None, [*named, *folders])))


def _tuning(profile: Profile) -> tuple[str, ...]:
    match profile:
        case Profile.SMALL:
            return ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
        case Profile.THROUGHPUT:
            return ("-XX:+UseParallelGC",)


def spark_properties(settings: SparkSettings, jars: tuple[Path, ...]) -> dict[str, str]:
    """Every Spark setting of a session; what the owner declared goes before what we choose."""
    own = {
        "spark.master": settings.master,
        "spark.submit.deployMode": "client",
        "spark.app.name": "cubekeeper",
        "spark.driver.memory": settings.driver_memory,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.extensions": DELTA_EXTENSION,
        "spark.sql.catalog.spark_catalog": DELTA_CATALOG,
        "spark.sql.warehouse.dir": tempfile.gettempdir(),  # or Spark makes one where we stand
        **_sql_properties(settings),
        **(
            _local_properties(settings)
            if settings.is_local
            else _cluster_properties(settings, jars)
        ),
    }
    declared = dict(settings.conf)
    for key in ("spark.sql.extensions", "spark.jars"):  # theirs beside ours, not instead
        if key in own and key in declared:
            declared[key] = f"{own[key]},{declared[key]}"
    return own | declared


def _sql_properties(settings: SparkSettings) -> dict[str, str]:
    """What can be set in any session, also in one that somebody else has started."""
    chosen = {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.ansi.enabled": "true",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",  # as delta-rs writes them
        # into how many parts Delta divides the list of a table's files: ours have hundreds at most
        "spark.databricks.delta.snapshotPartitions": "2",
        **session_defaults(settings.retention_days),
    }
    partitions = settings.shuffle_partitions or _usual_partitions(settings)
    if partitions:
        chosen["spark.sql.shuffle.partitions"] = str(partitions)
    return chosen


def _usual_partitions(settings: SparkSettings) -> int | None:
    """As many parts as threads, or few; none for Spark's 200, of which it joins small ones."""
    match settings.profile:
        case Profile.SMALL:
            return settings.cores if settings.is_local else SMALL_CLUSTER_PARTITIONS
        case Profile.THROUGHPUT:
            return 2 * settings.cores if settings.is_local else None


def _local_properties(settings: SparkSettings) -> dict[str, str]:
    return {
        "spark.driver.host": LOOPBACK,
        "spark.driver.bindAddress": LOOPBACK,
        "spark.default.parallelism": str(settings.cores),
    }


def _cluster_properties(settings: SparkSettings, jars: tuple[Path, ...]) -> dict[str, str]:
    return {
        "spark.jars": ",".join(map(str, jars)),  # the driver has them on its class path as well
        "spark.executor.extraJavaOptions": " ".join(
            ("-Duser.timezone=UTC", *_tuning(settings.profile))
        ),
    }
