"""Real sessions: local, on a standalone cluster, and on machines where something is missing."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cubekeeper.spark.archive import archive_path
from cubekeeper.spark.installation import set_up
from cubekeeper.spark.jars import find_jars
from cubekeeper.spark.java import find_java
from cubekeeper.spark.jvm import JVM_OPTIONS, spark_class_path, spark_home
from cubekeeper.spark.session import jvm_process_id, open_session
from cubekeeper.spark.settings import SparkSettings
from tests.e2e.delta_round import ROUND, delta_round

ROOT = Path(__file__).resolve().parents[2]


def python(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the repository, with further environment variables."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


# --- local ---------------------------------------------------------------------------------------


def test_a_table_is_made_merged_and_read_at_both_versions(spark, tmp_path):
    assert delta_round(spark, str(tmp_path)) == ROUND


def test_the_session_is_pinned_to_utc_and_ansi(spark):
    assert spark.sql("SELECT current_timezone()").collect()[0][0] == "UTC"
    with pytest.raises(Exception, match="ARITHMETIC_OVERFLOW"):
        spark.sql("SELECT sum(n) FROM VALUES (9223372036854775807), (1) AS t(n)").collect()
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
        spark.sql("SELECT 1 / 0").collect()


def test_a_timestamp_crosses_to_arrow_with_its_zone(spark):
    arrow = spark.sql("SELECT TIMESTAMP '2026-03-29 02:30:00' AS t").toArrow()
    assert str(arrow.schema.field("t").type) == "timestamp[us, tz=UTC]"
    assert arrow.column("t").to_pylist()[0].isoformat() == "2026-03-29T02:30:00+00:00"


def test_a_process_has_one_session(spark):
    assert open_session(SparkSettings(master="local[2]")) is spark
    with pytest.raises(Exception, match="other settings"):
        open_session(SparkSettings(master="local[1]"))


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs /proc")
def test_the_archive_is_mapped_and_no_setting_is_in_the_list_of_processes(spark):
    process = Path("/proc") / str(jvm_process_id())
    command = process.joinpath("cmdline").read_bytes().decode()
    assert "org.apache.spark.deploy.SparkSubmit" in command
    assert "DeltaCatalog" not in command
    assert spark.conf.get("spark.sql.catalog.spark_catalog").endswith("DeltaCatalog")
    archive = archive_path(find_java(), spark_class_path(find_jars()))
    if archive.exists():
        assert str(archive) in process.joinpath("maps").read_text()


def test_nothing_is_left_in_the_folder_one_works_in(spark):
    spark.sql("SELECT 1").collect()
    for name in ("spark-warehouse", "metastore_db", "derby.log"):
        assert not Path(name).exists()


def test_our_java_options_are_those_of_sparks_own_launcher():
    """Apart from the incubating module, which only machine learning uses and some Javas lack."""
    java = find_java()
    printed = subprocess.run(
        [
            str(java.executable),
            "-cp",
            str(spark_home() / "jars" / "*"),
            "org.apache.spark.launcher.Main",
            "org.apache.spark.deploy.SparkSubmit",
            "pyspark-shell",
        ],
        env={**os.environ, "SPARK_HOME": str(spark_home()), "SPARK_SCALA_VERSION": "2.13"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    theirs = {part for part in printed.split("\0") if re.match("--|-D|-XX", part)}
    ours = set(JVM_OPTIONS)
    assert theirs - ours == {
        "--add-modules=jdk.incubator.vector",
        "-Dderby.connection.requireAuthentication=false",
    }


def test_set_up_that_is_done_is_not_done_again():
    said: list[str] = []
    assert [step.done_now for step in set_up(said.append)] == [False, False, False]
    assert said == []


# --- in processes of their own --------------------------------------------------------------------


@pytest.mark.slow
def test_the_same_on_a_standalone_cluster(cluster, tmp_path):
    done = python(
        "-m",
        "tests.e2e.delta_round",
        CUBEKEEPER_SPARK_MASTER=cluster,
        CUBEKEEPER_STORAGE=str(tmp_path),
        CUBEKEEPER_SPARK_CONF="spark.driver.host=127.0.0.1;spark.scheduler.minRegisteredResources"
        "Ratio=1.0;spark.cores.max=2",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == {"round": ROUND, "master": cluster, "executors": 2}
    assert (tmp_path / "tables" / "round" / "_delta_log").is_dir()


@pytest.mark.slow
def test_settings_come_from_the_environment_and_nothing_is_said(tmp_path):
    done = python(
        "-m",
        "tests.e2e.delta_round",
        CUBEKEEPER_SPARK_MASTER="local[1]",
        CUBEKEEPER_SPARK_PROFILE="throughput",
        CUBEKEEPER_STORAGE=str(tmp_path),
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == {"round": ROUND, "master": "local[1]", "executors": 0}


@pytest.mark.slow
def test_the_jvm_ends_when_python_is_killed():
    script = (
        "from cubekeeper.spark.session import *; from cubekeeper.spark.settings import *;"
        "open_session(SparkSettings(master='local[1]'));"
        "print(jvm_process_id(), flush=True); input()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout is not None
        jvm = int(process.stdout.readline())
        os.kill(jvm, 0)
        process.send_signal(signal.SIGKILL)
    for _ in range(300):
        if not is_alive(jvm):
            return
        time.sleep(0.1)
    pytest.fail(f"the JVM {jvm} is still there")


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_without_set_up_a_session_says_what_to_do(tmp_path):
    script = (
        "from cubekeeper.spark.session import *; from cubekeeper.spark.settings import *;"
        "open_session(SparkSettings())"
    )
    done = python("-c", script, CUBEKEEPER_CACHE=str(tmp_path), CUBEKEEPER_JARS="")
    assert done.returncode == 1
    assert "[jars-missing]" in done.stderr
    assert "`cubekeeper setup`" in done.stderr


@pytest.mark.slow
def test_set_up_without_network_says_so(tmp_path):
    done = python(
        "-m",
        "cubekeeper",
        "setup",
        CUBEKEEPER_CACHE=str(tmp_path / "cache"),
        CUBEKEEPER_JARS="",
        HTTPS_PROXY="http://127.0.0.1:9",
        JAVA_TOOL_OPTIONS=f"-Duser.home={tmp_path}",  # whose Maven cache has no jars
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "could not be fetched: there is no network here" in done.stderr
    assert "CUBEKEEPER_JARS" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_memory_that_no_machine_has_is_the_users_move(tmp_path):
    done = python(
        "-m",
        "tests.e2e.delta_round",
        CUBEKEEPER_SPARK_MEMORY="900000g",
        CUBEKEEPER_STORAGE=str(tmp_path),
    )
    assert "error: Spark's JVM did not start: " in done.stderr
    assert "CUBEKEEPER_SPARK_LOG" in done.stderr
