"""Files of declarations: found, read and decoded, each way of going wrong with its own words."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from cubekeeper.errors import InputError
from cubekeeper.source import Source, Span

MAX_BYTES: Final = 10_000_000
SUFFIXES: Final = (".yml", ".yaml")
STATISTICS_NAMES: Final = tuple(f"stats{suffix}" for suffix in SUFFIXES)


def declaration_files(path: Path) -> tuple[Path, ...]:
    """The YAML files that a path stands for: those of a folder in sorted order, or one file."""
    if not path.exists():
        raise InputError(
            "no-file",
            f"there is no file or folder `{path}`",
            hint="name a folder of YAML files, or one file",
        )
    if not path.is_dir():
        return (path,)
    files = sorted(
        file
        for file in path.iterdir()
        if file.suffix in SUFFIXES and not file.name.startswith(".") and file.is_file()
    )
    if not files:
        raise InputError(
            "no-yaml",
            f"the folder `{path}` has no YAML files",
            hint=f"declare the warehouse in files that end in {' or '.join(SUFFIXES)}",
        )
    return tuple(files)


def read_source(path: Path) -> Source:
    """The text of a file."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InputError(
                "too-large",
                f"`{path}` is larger than {MAX_BYTES // 1_000_000} MB",
                hint="split the warehouse over the files of a folder",
            )
        content = path.read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError("no-file", f"`{path}` cannot be read: {reason}") from None
    return Source(str(path), _decoded(content, str(path)))


def _decoded(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        shown = Source(name, content.decode("utf-8", errors="replace"))
        at = len(content[: error.start].decode("utf-8", errors="replace"))
        utf16 = content[:2] in (b"\xff\xfe", b"\xfe\xff")
        raise InputError(
            "not-utf-8",
            f"the file is not UTF-8: byte 0x{content[error.start]:02x} at offset {error.start}",
            span=Span(shown, at, at + 1),
            hint="it looks like UTF-16; save it as UTF-8" if utf16 else "save it as UTF-8",
        ) from None
