"""Live views: SQL to triggers that keep a result up to date while its tables change."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cubekeeper.live.view import LiveView


def compile(sql: str) -> LiveView:  # noqa: A001
    """A live view of a SQL text: its tables, and one or more queries over them.

    >>> view = compile("CREATE TABLE R (a INT); SELECT COUNT(*) AS n FROM R")
    >>> view.apply({"R": [(1,), (2,)]})
    >>> view.rows()
    [(2,)]
    """
    from cubekeeper.live.view import LiveView as View

    return View.of(sql)
