"""Commands that are imported when they are called, and help that shows examples.

Importing the whole of cubekeeper takes half a second and `--help` must not, so a group knows of
each of its commands only where it lives and one line about it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Final

import click

from cubekeeper.errors import InputError, did_you_mean


@dataclass(frozen=True, slots=True)
class Entry:
    """A command by name: its module, the object in it, and the line that a list shows."""

    name: str
    module: str
    attribute: str
    summary: str
    section: str = "Commands"


_WAREHOUSE: Final = (
    "A folder of YAML files, or one file. By default the one that CUBEKEEPER_WAREHOUSE names, or "
    "the nearest from the current folder upward."
)


class Command(click.Command):
    """A command whose help ends with examples; a test runs every one of them."""

    def __init__(self, *args: object, examples: Sequence[str] = (), **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # what click takes
        self.examples = tuple(examples)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line; an error in it says whose it is."""
        with _naming(ctx):
            return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the warehouse may be, if there is one, and the options."""
        if any(parameter.name == "warehouse" for parameter in self.params):
            with formatter.section("Arguments"):
                formatter.write_dl([("WAREHOUSE", _WAREHOUSE)])
        super().format_options(ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, then what else is to be said."""
        write_examples(self.examples, formatter)
        super().format_epilog(ctx, formatter)


class LazyGroup(click.Group):
    """A group of commands that are imported when they are called."""

    def __init__(
        self,
        *args: object,
        entries: Sequence[Entry] = (),
        examples: Sequence[str] = (),
        notes: str = "",
        **kwargs: object,
    ) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # what click takes
        self.entries = {entry.name: entry for entry in entries}
        self.examples = tuple(examples)
        self.notes = notes

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line; an error in it says whose it is."""
        with _naming(ctx):
            return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        """The names of the commands, in the order in which to learn them."""
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of that name, imported now."""
        entry = self.entries.get(cmd_name)
        if entry is None:
            return None
        command = getattr(import_module(entry.module), entry.attribute)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is meant, or say which one may have been meant."""
        if args and not args[0].startswith("-") and args[0] not in self.entries:
            raise InputError(
                "unknown-command",
                f"`{ctx.command_path}` has no command `{args[0]}`",
                hint=did_you_mean(args[0], self.entries),
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands under the titles of their sections, importing none of them."""
        width = max(map(len, self.entries), default=0)
        sections = dict.fromkeys(entry.section for entry in self.entries.values())
        for section in sections:
            with formatter.section(section):
                formatter.write_dl(
                    [
                        (entry.name.ljust(width), entry.summary)
                        for entry in self.entries.values()
                        if entry.section == section
                    ]
                )

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples and the notes."""
        write_examples(self.examples, formatter)
        if self.notes:
            formatter.write("\n" + self.notes.strip() + "\n")
        super().format_epilog(ctx, formatter)


@contextmanager
def _naming(ctx: click.Context) -> Iterator[None]:
    """Let a usage error know its command also where click does not say."""
    try:
        yield
    except click.UsageError as error:
        error.ctx = error.ctx or ctx
        raise


def write_examples(examples: Sequence[str], formatter: click.HelpFormatter) -> None:
    """Write command lines as they are: no wrapping, so that they can be copied."""
    if examples:
        with formatter.section("Examples"):
            for example in examples:
                formatter.write(f"{'':>{formatter.current_indent}}{example}\n")
