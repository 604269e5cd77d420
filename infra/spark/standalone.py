"""Starts a real standalone Spark cluster on loopback: a master and workers, a process each.

    python infra/spark/standalone.py --workers 2

prints the master's address, runs until it is interrupted, and leaves nothing behind. Sessions use
it with `CUBEKEEPER_SPARK_MASTER` set to that address.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from cubekeeper.spark.archive import archive_path, use_archive
from cubekeeper.spark.jars import find_jars
from cubekeeper.spark.java import find_java
from cubekeeper.spark.jvm import JVM_OPTIONS, spark_class_path, spark_home

LOOPBACK = "127.0.0.1"
READY_SECONDS = 120
STOP_SECONDS = 15


@contextmanager
def standalone_cluster(workers: int = 2, cores: int = 1, memory: str = "1g") -> Iterator[str]:
    """A cluster for as long as it is needed; gives the master's address."""
    folder = Path(tempfile.mkdtemp(prefix="cubekeeper-cluster-"))
    port, page = free_ports(2)
    master = f"spark://{LOOPBACK}:{port}"
    processes: list[subprocess.Popen[bytes]] = []
    try:
        place = ("--host", LOOPBACK, "--port", str(port), "--webui-port", str(page))
        processes.append(_start("master.Master", place, folder / "master.log"))
        for number in range(1, workers + 1):
            home = folder / f"worker-{number}"
            size = ("--cores", str(cores), "--memory", memory, "--work-dir", str(home))
            rest = ("--host", LOOPBACK, "--webui-port", "0", master)
            log = folder / f"worker-{number}.log"
            processes.append(_start("worker.Worker", (*size, *rest), log))
        _wait_for_workers(page, workers, processes, folder)
        yield master
    finally:
        _stop(processes)
        shutil.rmtree(folder, ignore_errors=True)


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on, all different."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind((LOOPBACK, 0))
        return [int(each.getsockname()[1]) for each in sockets]
    finally:
        for each in sockets:
            each.close()


def _start(name: str, arguments: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    java = find_java()
    class_path = spark_class_path(find_jars())
    with log.open("wb") as output:
        return subprocess.Popen(
            [
                str(java.executable),
                "-cp",
                os.pathsep.join(map(str, class_path)),
                *JVM_OPTIONS,
                *use_archive(archive_path(java, class_path)),
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                f"org.apache.spark.deploy.{name}",
                *arguments,
            ],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={
                **os.environ,
                "JAVA_HOME": str(java.home),
                "SPARK_HOME": str(spark_home()),
                "SPARK_SCALA_VERSION": "2.13",
                "SPARK_LOCAL_IP": LOOPBACK,
            },
            process_group=0,  # executors belong to their worker's group and end with it
        )


def _wait_for_workers(
    page: int, workers: int, processes: Sequence[subprocess.Popen[bytes]], folder: Path
) -> None:
    end = time.monotonic() + READY_SECONDS
    while _alive_workers(page) < workers:
        if time.monotonic() > end or any(process.poll() is not None for process in processes):
            logs = "\n".join(path.read_text()[-2000:] for path in sorted(folder.glob("*.log")))
            raise RuntimeError(f"the cluster did not come up:\n{logs}")
        time.sleep(0.1)


def _alive_workers(page: int) -> int:
    try:
        with urlopen(f"http://{LOOPBACK}:{page}/json/", timeout=5) as answer:
            return int(json.load(answer)["aliveworkers"])
    except (URLError, OSError, ValueError):
        return 0


def _stop(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """End workers before their master, and whatever they started."""
    for process in reversed(processes):
        process.terminate()
    end = time.monotonic() + STOP_SECONDS
    for process in reversed(processes):
        while not _has_ended(process) and time.monotonic() < end:
            time.sleep(0.05)
        with suppress(ProcessLookupError, PermissionError):  # where none of the group is left
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether a process has ended, without letting the system give its number to another."""
    look = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return os.waitid(os.P_PID, process.pid, look) is not None


def main() -> None:
    """Run a cluster in the foreground."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--cores", type=int, default=1, help="of each worker")
    parser.add_argument("--memory", default="1g", help="of each worker")
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with standalone_cluster(chosen.workers, chosen.cores, chosen.memory) as master:
        sys.stdout.write(f"{master}\n")
        sys.stdout.flush()
        with suppress(KeyboardInterrupt):
            signal.pause()


if __name__ == "__main__":
    main()
