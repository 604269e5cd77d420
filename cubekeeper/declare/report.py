"""Ways to keep on reading after a problem, so that all problems are found at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar

from cubekeeper.declare.leaves import Word
from cubekeeper.errors import CubekeeperError, InputError, InternalError, Problems
from cubekeeper.source import Span

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")


class AlreadyReported(InputError):
    """Stands on something that is wrong itself and was reported there; not reported again."""

    def __init__(self) -> None:
        super().__init__("already-reported", "depends on a declaration that could not be read")


def attempt(
    problems: Problems, make: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> T | None:
    """What a call gives, or None after keeping its error."""
    try:
        return make(*args, **kwargs)
    except InternalError:
        raise
    except AlreadyReported:
        return None
    except CubekeeperError as error:
        problems.add(error)
        return None


def attempt_all(problems: Problems, make: Callable[[S], T], items: Iterable[S]) -> tuple[T, ...]:
    """What a call gives for each item; after keeping all errors, raises if there was one."""
    made = [attempt(problems, make, item) for item in items]
    if any(value is None for value in made):
        raise AlreadyReported
    return tuple(value for value in made if value is not None)


@dataclass
class Names:
    """The names taken so far, whatever their case."""

    problems: Problems
    taken: dict[str, tuple[str, Span]] = field(default_factory=dict)
    spelled: set[str] = field(default_factory=set)

    def take(self, name: Word, what: str) -> bool:
        """Take a name for a thing, or report that it is taken."""
        first = self.taken.setdefault(name.text.lower(), (what, name.span))
        if first == (what, name.span):
            self.spelled.add(name.text)
            return True
        kind, span = first
        where = f"line {span.line}"
        if span.source.name != name.span.source.name:
            where += f" of {span.source.name}"
        self.problems.add(
            InputError(
                "duplicate-name",
                f"the name `{name.text}` is taken: it is {kind} on {where}",
                span=name.span,
                hint="give one of them another name"
                if name.text in self.spelled
                else "Spark does not tell upper and lower case apart; give one another name",
            )
        )
        return False
