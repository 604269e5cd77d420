"""Settings shared by all tests."""

from hypothesis import settings

from tests.spark_fixtures import cluster, spark

__all__ = ["cluster", "spark"]

# `make test` gives the same answer twice; `make test-long` looks for cases nobody has seen.
settings.register_profile("fast", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("long", deadline=None, max_examples=1000, print_blob=True)
settings.load_profile("fast")
