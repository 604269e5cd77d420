"""`cubekeeper schema`: the JSON Schema of declaration files."""

from __future__ import annotations

from pathlib import Path

import click

from cubekeeper.cli.lazy import Command
from cubekeeper.cli.options import json_option, output_option
from cubekeeper.cli.output import deliver_json


@click.command(
    cls=Command,
    examples=["cubekeeper schema", "cubekeeper schema --output build/cubekeeper.schema.json"],
)
@output_option
@json_option
def schema(output: Path | None, json_wanted: bool) -> None:  # noqa: ARG001  # it is JSON always
    """Print the JSON Schema of the declarations, for editors.

    An editor with a YAML language server checks and completes a file that begins with

    \b
      # yaml-language-server: $schema=cubekeeper.schema.json
    """
    from cubekeeper.declare import json_schema

    deliver_json(json_schema(), output)
