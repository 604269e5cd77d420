"""What `cubekeeper setup` does, once per machine: Java, Delta's jars, the class-data archive.

Each step looks first and does nothing where all is there, so that it may be called always.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from cubekeeper.errors import CubekeeperError, InputError
from cubekeeper.spark.archive import archive_path, drop_old_archives, write_archive
from cubekeeper.spark.exercise import night
from cubekeeper.spark.jars import (
    DELTA_JARS,
    JARS_VARIABLE,
    Jar,
    cache_folder,
    find_jars,
    is_jar,
    keep_jar,
)
from cubekeeper.spark.java import Java, find_java
from cubekeeper.spark.jvm import Launch, spark_class_path, start_jvm
from cubekeeper.spark.session import LOOPBACK, connect, plan_launch
from cubekeeper.spark.settings import SparkSettings

ARCHIVE_SECONDS: Final = 300

Reporter = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that is in place now: what, and whether it had to be done."""

    name: str
    detail: str
    done_now: bool


def set_up(say: Reporter, environment: Mapping[str, str] = os.environ) -> tuple[Step, ...]:
    """Bring the machine into the state in which sessions start, and say what takes long."""
    java = find_java(environment)
    return (
        Step("Java", f"{java.version} in {java.home}", False),
        _jars(java, say, environment),
        _archive(java, say, environment),
    )


def _jars(java: Java, say: Reporter, environment: Mapping[str, str]) -> Step:
    detail = f"Delta {DELTA_JARS[0].version}"
    if environment.get(JARS_VARIABLE):
        find_jars(environment)
        return Step("jars", f"{detail} in the folder that {JARS_VARIABLE} names", False)
    folder = cache_folder(environment) / "jars"
    missing = [jar for jar in DELTA_JARS if not is_jar(jar, folder / jar.file_name)]
    if missing:
        say("fetching Delta's jars, once")
        fetch_jars(java, missing, folder, environment)
    return Step("jars", f"{detail} in {folder}", bool(missing))


def fetch_jars(
    java: Java, jars: Sequence[Jar], folder: Path, environment: Mapping[str, str]
) -> None:
    """Let Spark's own resolver fetch jars, from where this machine's settings tell it to."""
    with tempfile.TemporaryDirectory(prefix="cubekeeper-ivy-") as ivy:
        jvm = start_jvm(_resolver(java, ivy, environment))
        try:
            session = connect(jvm)
            for jar in jars:
                session.sql(f"ADD JAR ivy://{jar.coordinate}?transitive=false")
            session.stop()
        except (Py4JError, PySparkException) as error:
            names = " and ".join(f"`{jar.file_name}`" for jar in jars)
            raise InputError(
                "fetch",
                f"{names} could not be fetched: there is no network here, or no way through it",
                hint="try again with network; HTTPS_PROXY and `spark.jars.ivySettings` in"
                f" spark-defaults.conf are respected; or set {JARS_VARIABLE} to a folder into"
                " which you copied them",
            ) from error
        finally:
            jvm.close()
        for jar in jars:
            keep_jar(jar, Path(ivy, "jars", f"{jar.group}_{jar.file_name}"), folder)


def _resolver(java: Java, ivy: str, environment: Mapping[str, str]) -> Launch:
    """The smallest Spark that can resolve: no Delta, no archive."""
    return Launch(
        java,
        spark_class_path(),
        (
            "-Xmx512m",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-Dsun.net.client.defaultConnectTimeout=15000",
            "-Dsun.net.client.defaultReadTimeout=60000",
            *proxy_options(environment),
        ),
        {
            "spark.master": "local[1]",
            "spark.app.name": "cubekeeper setup",
            "spark.ui.enabled": "false",
            "spark.jars.ivy": ivy,
            "spark.driver.host": LOOPBACK,
        },
        {**environment, "SPARK_LOCAL_IP": LOOPBACK},
    )


def proxy_options(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The proxy of the environment, said to a JVM, which does not look there.

    >>> proxy_options({"https_proxy": "http://proxy.example:3128"})
    ('-Dhttps.proxyHost=proxy.example', '-Dhttps.proxyPort=3128')
    >>> proxy_options({})
    ()
    """
    named = environment.get("HTTPS_PROXY") or environment.get("https_proxy") or ""
    address = urlsplit(named if "://" in named else f"//{named}")
    if not address.hostname:
        return ()
    return (f"-Dhttps.proxyHost={address.hostname}", f"-Dhttps.proxyPort={address.port or 80}")


def _archive(java: Java, say: Reporter, environment: Mapping[str, str]) -> Step:
    path = archive_path(java, spark_class_path(find_jars(environment)), environment)
    if path.is_file():
        return Step("class-data archive", str(path), False)
    say("writing the class-data archive, once; this takes about a minute")
    try:
        made = make_archive(java, path, environment)
    except (CubekeeperError, Py4JError, PySparkException, OSError) as error:
        made, why = False, str(error).splitlines()[0]
    else:
        why = "this Java wrote none"
    drop_old_archives(path.parent)
    if made:
        return Step("class-data archive", str(path), True)
    return Step("class-data archive", f"not made, so Spark starts more slowly: {why}", False)


def make_archive(java: Java, path: Path, environment: Mapping[str, str]) -> bool:
    """Run a small night in a JVM that writes its classes to a file when it ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}.draft")
    # folders on the class path would keep the JVM from writing
    lean = {name: text for name, text in environment.items() if not name.endswith("_CONF_DIR")}
    _make_base_archive(java)
    jvm = start_jvm(plan_launch(SparkSettings(), lean, write_archive(draft)))
    try:
        session = connect(jvm)
        with tempfile.TemporaryDirectory(prefix="cubekeeper-setup-") as folder:
            night(session, folder)
            session.stop()
    finally:
        jvm.close(ARCHIVE_SECONDS)
    if not draft.is_file():
        return False
    draft.replace(path)
    return True


def _make_base_archive(java: Java) -> None:
    """Give a Java that came without the archive of its own classes one, if it lets us."""
    if not any((java.home / "lib").glob("*/classes.jsa")):
        subprocess.run(
            [java.executable, "-Xshare:dump"], capture_output=True, check=False, timeout=120
        )
