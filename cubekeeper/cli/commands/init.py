"""`cubekeeper init`: a commented, working warehouse to start from."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Final

import click

from cubekeeper.cli.lazy import Command
from cubekeeper.cli.options import json_option
from cubekeeper.cli.output import deliver_json, json_text, show, unwritable, write_whole
from cubekeeper.errors import InputError

SCHEMA_FILE: Final = "cubekeeper.schema.json"
SCAFFOLD: Final = ("warehouse.yml", "summary_tables.yml", "stats.yml")


@click.command(cls=Command, examples=["cubekeeper init my_warehouse"])
@click.argument("folder", metavar="DIR")
@json_option
def init(folder: str, json_wanted: bool) -> None:
    """Start a warehouse: write a small, commented one into a folder.

    DIR is made if it does not exist; a folder that holds anything is left alone.
    """
    target = Path(folder)
    written = write_scaffold(target)
    if json_wanted:
        deliver_json({"ok": True, "folder": folder, "files": [str(path) for path in written]})
        return
    about = {
        "warehouse.yml": "facts, dimensions and hierarchies",
        "summary_tables.yml": "summary tables in both forms, and a cube",
        "stats.yml": "sizes, for costs",
        SCHEMA_FILE: "lets editors check and complete the YAML",
    }
    listed = "\n".join(f"  {path!s:<{_width(written)}}  {about[path.name]}" for path in written)
    show(f"Wrote a small warehouse of web-shop orders:\n{listed}\n\n{_next_steps(folder)}")


def _width(paths: tuple[Path, ...]) -> int:
    return max(len(str(path)) for path in paths)


def _next_steps(folder: str) -> str:
    inside = "" if Path(folder) == Path() else f"  cd {folder}\n"
    return f"""\
Next:
{inside}  cubekeeper validate        check the declarations
  cubekeeper lattice show    see which table can be computed from which
  cubekeeper plan            see what a nightly batch would do"""


def write_scaffold(target: Path) -> tuple[Path, ...]:
    """Write the files into a new or empty folder, all of them or none."""
    from cubekeeper.declare import json_schema

    contents = {name: _template(name) for name in SCAFFOLD}
    contents[SCHEMA_FILE] = json_text(json_schema()) + "\n"
    made = _make_folder(target)
    written: list[Path] = []
    try:
        for name, text in contents.items():
            write_whole(target / name, text)
            written.append(target / name)
    except BaseException:
        for path in written:
            path.unlink(missing_ok=True)
        for path in made:
            path.rmdir()
        raise
    return tuple(written)


def _template(name: str) -> str:
    return (files("cubekeeper.cli") / "scaffold" / name).read_text(encoding="utf-8")


def _make_folder(target: Path) -> list[Path]:
    """Make the folder; returns those that were not there before, the deepest first."""
    try:
        if target.exists() and not target.is_dir():
            raise InputError("not-a-folder", f"`{target}` is a file", hint="name a new folder")
        if target.is_dir() and any(target.iterdir()):
            raise InputError(
                "not-empty",
                f"the folder `{target}` is not empty",
                hint="name a new folder, so that nothing of yours is overwritten",
            )
        missing = [path for path in (target, *target.parents) if not path.exists()]
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(target, error) from error
    return missing
