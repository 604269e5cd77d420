"""What the owner of a warehouse may say about Spark, in YAML and in the environment.

=================  =============================  =================================================
key under `spark`  variable                       what it says
=================  =============================  =================================================
master             CUBEKEEPER_SPARK_MASTER        where to run: `local[*]`, `spark://host:port`, …
storage            CUBEKEEPER_STORAGE             the root of all tables: a folder, or the address
                                                  of any file system that Hadoop knows
profile            CUBEKEEPER_SPARK_PROFILE       `small` or `throughput`, see `Profile`
driver_memory      CUBEKEEPER_SPARK_MEMORY        the JVM's heap, `4g`
shuffle_partitions CUBEKEEPER_SHUFFLE_PARTITIONS  into how many parts a shuffle divides its rows
retention_days     CUBEKEEPER_RETENTION_DAYS      how long old versions of tables stay readable
conf               CUBEKEEPER_SPARK_CONF          any further Spark settings; as a variable
                                                  `key=value` with `;` between them
=================  =============================  =================================================

A variable goes before YAML, and YAML before what cubekeeper would choose.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Final

from cubekeeper.errors import InputError, did_you_mean


class Profile(StrEnum):
    """What the JVM is tuned for: a quick start, or long computation.

    `SMALL` compiles with the fast compiler only and collects garbage on one thread. A cold process
    has its first result in two thirds of the time, and code that runs for minutes is up to three
    times slower; for tests, demonstrations and nights of up to some million rows.
    `THROUGHPUT` lets the JVM optimize and collect on all cores.
    """

    SMALL = "small"
    THROUGHPUT = "throughput"


@dataclass(frozen=True, slots=True)
class SparkSettings:
    """How to run Spark, and where the tables are.

    >>> SparkSettings(storage="s3a://lake/shop/").path("summary", "SID_sales")
    's3a://lake/shop/summary/SID_sales'
    >>> SparkSettings(master="local[4]").is_local, SparkSettings(master="spark://a:7077").is_local
    (True, False)
    """

    master: str = "local[*]"
    storage: str = "data"
    profile: Profile = Profile.SMALL
    driver_memory: str = "2g"
    shuffle_partitions: int | None = None
    retention_days: int = 30
    conf: tuple[tuple[str, str], ...] = ()

    @property
    def is_local(self) -> bool:
        """Whether all of Spark runs in one JVM on this machine."""
        return self.master == "local" or self.master.startswith("local[")

    @property
    def cores(self) -> int:
        """The threads that compute in local mode; on a cluster those of this machine.

        >>> SparkSettings(master="local").cores, SparkSettings(master="local[3,2]").cores
        (1, 3)
        """
        if self.master == "local":
            return 1
        counted = re.match(r"local\[(\d+)", self.master)
        return int(counted.group(1)) if counted else os.cpu_count() or 2

    def path(self, *parts: str) -> str:
        """The address of something below the storage root."""
        scheme, mark, rest = self.storage.rpartition("://")
        return scheme + mark + str(PurePosixPath(rest, *parts))


_VARIABLES: Final[Mapping[str, str]] = {
    "master": "CUBEKEEPER_SPARK_MASTER",
    "storage": "CUBEKEEPER_STORAGE",
    "profile": "CUBEKEEPER_SPARK_PROFILE",
    "driver_memory": "CUBEKEEPER_SPARK_MEMORY",
    "shuffle_partitions": "CUBEKEEPER_SHUFFLE_PARTITIONS",
    "retention_days": "CUBEKEEPER_RETENTION_DAYS",
    "conf": "CUBEKEEPER_SPARK_CONF",
}


def read_settings(
    declared: Mapping[str, object] | None = None, environment: Mapping[str, str] = os.environ
) -> SparkSettings:
    """The settings of a YAML mapping and of the environment, all checked.

    >>> read_settings({"master": "local[2]"}, {"CUBEKEEPER_SPARK_MEMORY": "4g"})
    SparkSettings(master='local[2]', ..., driver_memory='4g', ...)
    >>> read_settings({"mastr": "local[2]"}, {})
    Traceback (most recent call last):
    ...
    cubekeeper.errors.InputError: error: unknown key `mastr` under `spark` [unknown-key]
      hint: did you mean `master`?
    """
    settings = SparkSettings()
    for key, value in (declared or {}).items():
        if key not in _VARIABLES:
            raise InputError(
                "unknown-key",
                f"unknown key `{key}` under `spark`",
                hint=did_you_mean(key, _VARIABLES),
            )
        settings = _with(settings, key, value, f"`spark.{key}`")
    for key, variable in _VARIABLES.items():
        if text := environment.get(variable, "").strip():
            value = _pairs(text, variable) if key == "conf" else text
            settings = _with(settings, key, value, variable)
    return settings


def _with(settings: SparkSettings, key: str, value: object, where: str) -> SparkSettings:
    match key:
        case "master":
            return replace(settings, master=_text(value, where, r"\S+", "`local[*]`"))
        case "storage":
            return replace(settings, storage=_text(value, where, r".*\S.*", "a folder").strip())
        case "driver_memory":
            return replace(settings, driver_memory=_text(value, where, r"\d+[kmgKMG]", "`4g`"))
        case "profile":
            return replace(settings, profile=_profile(value, where))
        case "shuffle_partitions":
            return replace(settings, shuffle_partitions=_count(value, where))
        case "retention_days":
            return replace(settings, retention_days=_count(value, where))
        case _:
            return replace(settings, conf=_merged(settings.conf, value, where))


def _text(value: object, where: str, pattern: str, example: str) -> str:
    text = value if isinstance(value, str) else ""
    if not re.fullmatch(pattern, text):
        raise InputError(
            "spark-setting", f"{where} cannot be `{value}`", hint=f"it looks like {example}"
        )
    return text


def _profile(value: object, where: str) -> Profile:
    if not isinstance(value, str) or value not in tuple(Profile):
        known = " or ".join(f"`{profile}`" for profile in Profile)
        raise InputError("spark-setting", f"{where} cannot be `{value}`", hint=f"it is {known}")
    return Profile(value)


def _count(value: object, where: str) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InputError(
            "spark-setting", f"{where} cannot be `{value}`", hint="it is a whole number from 1"
        )
    return value


def _pairs(text: str, variable: str) -> Mapping[str, str]:
    """Spark settings written in one line.

    >>> _pairs("spark.a=1; spark.b=x=y;", "V")
    {'spark.a': '1', 'spark.b': 'x=y'}
    """
    pairs = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        key, equals, value = part.partition("=")
        if not equals:
            raise InputError(
                "spark-setting",
                f"{variable} has `{part}`, which is no `key=value`",
                hint="write `spark.executor.memory=2g;spark.executor.cores=2`",
            )
        pairs[key.strip()] = value.strip()
    return pairs


def _merged(
    known: tuple[tuple[str, str], ...], value: object, where: str
) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, Mapping):
        raise InputError(
            "spark-setting", f"{where} must map Spark's settings to values", hint="`key: value`"
        )
    pairs = dict(known)
    for key, each in value.items():
        if not isinstance(key, str) or not key.startswith("spark."):
            raise InputError(
                "spark-setting", f"{where} has `{key}`", hint="Spark's settings begin with `spark.`"
            )
        if not isinstance(each, str | int | float):
            raise InputError("spark-setting", f"`{key}` in {where} must have one value")
        pairs[key] = str(each).lower() if isinstance(each, bool) else str(each)
    return tuple(sorted(pairs.items()))
