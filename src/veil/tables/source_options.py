"""The fields of requests that say which table, or which query, of a source is read."""

from __future__ import annotations

from typing import Any

from veil.core.request import option


def table_option() -> Any:
    """The field for a table of a database."""
    return option(None, help="Which table of a database.", group="Input")


def query_option(done: str) -> Any:
    """The field for a query. done: what is done with its result, such as "counted"."""
    help_text = (
        f"Or one SELECT whose result is {done}: of a database, or of a file, which it calls input. See "
        "Queries and views in the guide to tables."
    )
    return option(None, help=help_text, group="Input", secret=True)
