"""`cubekeeper setup`: what Spark needs on this machine, checked or brought, once."""

from __future__ import annotations

import click

from cubekeeper.cli.lazy import Command
from cubekeeper.cli.options import json_option
from cubekeeper.cli.output import deliver_json, say, show


@click.command(cls=Command, examples=["cubekeeper setup", "cubekeeper setup --json"])
@json_option
def setup(json_wanted: bool) -> None:
    """Prepare this machine for Spark: Java, Delta's jars, a quick start.

    Checks that there is a Java 17 or 21, fetches Delta's two jars into a cache folder, and lets
    Spark's JVM write the class-data archive with which it starts in half the time. What is done
    already is not done again. Afterwards nothing is downloaded: commands that need Spark say so
    if it has not been set up.

    \b
    CUBEKEEPER_CACHE  the folder to keep it in, in place of the user's cache folder
    CUBEKEEPER_JARS   a folder that holds Delta's jars, for machines without network
    """
    from cubekeeper.spark.installation import set_up

    steps = set_up(say)
    if json_wanted:
        data = [
            {"name": step.name, "detail": step.detail, "done_now": step.done_now} for step in steps
        ]
        deliver_json({"ok": True, "steps": data})
        return
    width = max(len(step.name) for step in steps)
    show("\n".join(f"{step.name:<{width}}  {step.detail}" for step in steps))
