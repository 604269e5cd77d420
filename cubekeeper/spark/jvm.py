"""Starts the JVM that Spark's driver lives in, and connects Python to it.

pyspark would start it through two shell scripts and a second JVM that only prints the command line.
Started directly, it is up sooner, its messages go to a log instead of between ours, it runs on a
Java without the incubating modules that those scripts demand, and nobody sees settings (which may
hold passwords) in the list of processes. `spark-defaults.conf` is read as ever; `spark-env.sh` is
not.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO, Final

from py4j.java_gateway import JavaGateway
from pyspark import SparkContext
from pyspark.java_gateway import launch_gateway

from cubekeeper.errors import InputError
from cubekeeper.spark.java import Java

LOG_VARIABLE: Final = "CUBEKEEPER_SPARK_LOG"
START_SECONDS: Final = 120

# packages of the JDK that Spark reaches into; a test compares them with Spark's own list
_OPENED: Final = (
    "java.base/java.lang",
    "java.base/java.lang.invoke",
    "java.base/java.lang.reflect",
    "java.base/java.io",
    "java.base/java.net",
    "java.base/java.nio",
    "java.base/java.util",
    "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.base/jdk.internal.ref",
    "java.base/sun.nio.ch",
    "java.base/sun.nio.cs",
    "java.base/sun.security.action",
    "java.base/sun.util.calendar",
    "java.security.jgss/sun.security.krb5",
)

JVM_OPTIONS: Final = (
    "-XX:+IgnoreUnrecognizedVMOptions",  # the two below are known to newer Javas only
    "--sun-misc-unsafe-memory-access=allow",
    "--enable-native-access=ALL-UNNAMED",
    *(f"--add-opens={package}=ALL-UNNAMED" for package in _OPENED),
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.type=pooled",
    "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE",
    "-Duser.timezone=UTC",
    "-Dfile.encoding=UTF-8",
    "-Xss4m",  # the plan of many views is a deep tree
    "-Xlog:disable",  # of the JVM's own log only errors are worth a line
    "-Xlog:all=error:stderr",
)


@dataclass(frozen=True, slots=True)
class Launch:
    """All that a JVM is started with."""

    java: Java
    class_path: tuple[Path, ...]
    options: tuple[str, ...]
    properties: Mapping[str, str]
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Jvm:
    """A running JVM, the way to talk to it, and what it said."""

    process: subprocess.Popen[bytes]
    gateway: JavaGateway
    log: BinaryIO

    def last_words(self) -> str:
        """The end of its log."""
        return _tail(self.log)

    def close(self, seconds: float = 60) -> None:
        """Let the JVM end by itself, and wait until it has."""
        SparkContext._gateway = None
        SparkContext._jvm = None
        self.gateway.shutdown()
        assert self.process.stdin is not None
        self.process.stdin.close()  # Spark ends its JVM when this pipe does
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


def spark_home() -> Path:
    """The folder of the Spark that comes with the package, whatever SPARK_HOME says."""
    found = find_spec("pyspark")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent


def spark_class_path(extra: tuple[Path, ...] = ()) -> tuple[Path, ...]:
    """Spark's jars after some others, always in the same order."""
    return (*extra, *sorted((spark_home() / "jars").glob("*.jar")))


def start_jvm(launch: Launch) -> Jvm:
    """Start a JVM, wait until it listens, and make it the one that pyspark uses."""
    log = _open_log(launch.environment)
    with _meeting_place() as folder:
        properties = folder / "spark.properties"
        properties.write_text(properties_text(launch.properties), encoding="utf-8")
        process = subprocess.Popen(
            _command(launch, properties),
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            env=_environment(launch, folder / "address"),
            process_group=0,  # an interrupt is for us; we tell the JVM
        )
        try:
            port, secret = _address(process, folder / "address", log)
        except BaseException:
            process.kill()
            process.communicate()
            log.close()
            raise
    jvm = Jvm(process, _connect(port, secret), log)
    SparkContext._ensure_initialized(gateway=jvm.gateway)
    return jvm


def _command(launch: Launch, properties: Path) -> list[str]:
    configured = f"-Dlog4j2.configurationFile={(files(__package__) / 'log4j2.properties')!s}"
    return [
        str(launch.java.executable),
        "-cp",
        os.pathsep.join(map(str, launch.class_path)),
        *JVM_OPTIONS,
        configured,
        *launch.options,
        "org.apache.spark.deploy.SparkSubmit",
        "--properties-file",
        str(properties),
        "--load-spark-defaults",
        "pyspark-shell",
    ]


def _environment(launch: Launch, address: Path) -> dict[str, str]:
    return {
        "PYSPARK_PYTHON": sys.executable,
        **launch.environment,
        "SPARK_HOME": str(spark_home()),
        "SPARK_SCALA_VERSION": "2.13",
        "SPARK_CONNECT_MODE": "0",
        "_PYSPARK_DRIVER_CONN_INFO_PATH": str(address),
    }


def _open_log(environment: Mapping[str, str]) -> BinaryIO:
    """Where the JVM writes: the file that is asked for, or one that goes with the process."""
    if named := environment.get(LOG_VARIABLE):
        try:
            return Path(named).open("a+b")
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            message = f"cannot write `{named}`, which {LOG_VARIABLE} names: {reason}"
            raise InputError("unwritable", message) from error
    return tempfile.TemporaryFile(prefix="cubekeeper-spark-")


@contextmanager
def _meeting_place() -> Iterator[Path]:
    """A folder that only this user can read, for as long as the JVM needs to start."""
    folder = Path(tempfile.mkdtemp(prefix="cubekeeper-spark-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def properties_text(properties: Mapping[str, str]) -> str:
    r"""A Java properties file.

    >>> print(properties_text({"spark.a": "x\ny", "spark.b": r" c:\d"}), end="")
    spark.a=x\ny
    spark.b=\ c:\\d
    """
    lines = []
    for key, value in properties.items():
        text = value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
        text = "\\" + text if text[:1] in (" ", "\t", "\f") else text
        name = "".join("\\" + char if char in " :=#!\\" else char for char in key)
        lines.append(f"{name}={text}\n")
    return "".join(lines)


def _address(process: subprocess.Popen[bytes], path: Path, log: BinaryIO) -> tuple[int, str]:
    """Where the JVM listens, and the word that opens it; it writes both when it is ready."""
    end = time.monotonic() + START_SECONDS
    while not path.exists():
        if process.poll() is not None or time.monotonic() > end:
            said = _tail(log) or "it said nothing"
            raise InputError(
                "spark-start",
                f"Spark's JVM did not start: {said.splitlines()[-1]}",
                hint=f"{LOG_VARIABLE}=FILE keeps all that it says; is the memory too large?",
            )
        time.sleep(0.01)
    data = path.read_bytes()
    port, length = struct.unpack("!ii", data[:8])
    return port, data[8 : 8 + length].decode()


def _connect(port: int, secret: str) -> JavaGateway:
    """pyspark's own gateway to a JVM that is there already.

    pyspark takes address and secret from the environment. They are put back at once, or processes
    that we start would talk to this JVM as well.
    """
    told = {"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": secret}
    before = {name: os.environ.get(name) for name in told}
    os.environ.update(told)
    try:
        gateway: JavaGateway = launch_gateway()  # type: ignore[no-untyped-call]
        return gateway
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _tail(log: BinaryIO, size: int = 4000) -> str:
    end = log.seek(0, os.SEEK_END)
    log.seek(max(0, end - size))
    return log.read().decode(errors="replace").strip()
