"""Which warehouse is meant: the one named, or the one found from the current folder upward."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from cubekeeper.errors import InputError, did_you_mean

VARIABLE: Final = "CUBEKEEPER_WAREHOUSE"
FOLDER_MARKS: Final = ("warehouse.yml", "warehouse.yaml")
WHOLE_FILES: Final = ("cubekeeper.yml", "cubekeeper.yaml")


def locate(given: str | None) -> Path:
    """The path of the warehouse: as given, by the environment, or found; it must exist."""
    if given is not None:
        return _existing(given)
    named = os.environ.get(VARIABLE)
    if named:
        return _existing(named, f", which {VARIABLE} names,")
    try:
        found = find_upward(Path.cwd())
    except OSError as error:
        raise InputError("no-folder", "the current folder is no longer there") from error
    if found is None:
        raise InputError(
            "no-warehouse",
            "there is no `warehouse.yml` in this folder or any folder above it",
            hint=f"name the warehouse (a folder or a YAML file), set {VARIABLE},"
            " or start one with `cubekeeper init my_warehouse`",
        )
    return found


def find_upward(start: Path) -> Path | None:
    """The nearest warehouse from a folder upward, written as short as it can be.

    A folder that holds ``warehouse.yml`` is one, read with all YAML files in it. A file
    ``cubekeeper.yml`` is one by itself, for a folder whose other YAML files are something else.
    """
    for folder in (start, *start.parents):
        if any((folder / name).is_file() for name in FOLDER_MARKS):
            return _shortened(folder, start)
        for name in WHOLE_FILES:
            if (folder / name).is_file():
                return _shortened(folder / name, start)
    return None


def _shortened(path: Path, start: Path) -> Path:
    """A path that the user recognises in messages."""
    return Path(os.path.relpath(path, start))


def _existing(text: str, origin: str = "") -> Path:
    path = Path(text)
    if not text or not path.exists():
        raise InputError(
            "no-such-path",
            f"`{text}`{origin} does not exist",
            hint=_neighbour(path) if text else None,
        )
    if not path.is_dir() and not path.is_file():
        raise InputError("not-a-file", f"`{text}`{origin} is neither a folder nor a file")
    return path


def _neighbour(path: Path) -> str | None:
    """The name beside the missing one that may have been meant."""
    if not path.parent.is_dir():
        return None
    siblings = [entry.name for entry in path.parent.iterdir() if entry.exists()]
    return did_you_mean(path.name, [name for name in siblings if not name.startswith(".")])
