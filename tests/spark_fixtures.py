"""One Spark for all tests: starting one takes longer than most tests.

Imports stand inside the fixtures, so that tests without Spark do not wait for pyspark.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A local session; give tables paths below `tmp_path`, and leave its settings as they were."""
    from cubekeeper.spark.session import close_session, open_session
    from cubekeeper.spark.settings import SparkSettings

    yield open_session(SparkSettings(master="local[2]"))
    close_session()


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    """The address of a standalone cluster of two workers.

    A process has one Spark, so sessions on it are opened in processes of their own.
    """
    from infra.spark.standalone import standalone_cluster

    with standalone_cluster(workers=2) as master:
        yield master
