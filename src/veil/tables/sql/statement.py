"""One SELECT statement, parsed: whatever else a user hands in as a query is refused before it is run.

Engines are asked to read only, each in its own way. This is the first fence: a text that is not a single
SELECT, or that calls a function with side effects, never reaches an engine.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from veil.core.errors import InvalidArgument
from veil.tables.sql.side_effects import acts

# Characters of a query. People write a few hundred.
LONGEST = 100_000
# What may not occur anywhere in a query, by sqlglot's names, and how messages call it.
_REFUSED = {
    "a statement that changes or writes something": (
        *("Insert", "Update", "Delete", "Merge", "Create", "Drop", "Alter", "Copy", "TruncateTable", "Into"),
        *("Set", "Pragma", "Attach", "Detach", "Use", "Transaction", "Commit", "Rollback", "Kill", "Analyze"),
        *("Command", "Cache", "Uncache", "LoadData", "Grant", "Revoke", "Comment", "Refresh", "Execute"),
    ),
    "a lock on rows": ("Lock",),
    "a program to be run": ("QueryTransform",),
    "a pivot, whose columns would be named after cells": ("Pivot",),
    "a place for a value": ("Placeholder", "Parameter", "SessionParameter"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    """A query that is one SELECT.

    text: without a semicolon at its end. tree: as sqlglot reads it. tokens: of the text, up to its end.
    dialect: the engine's, by sqlglot's name.
    """

    text: str
    tree: Any
    tokens: tuple[Any, ...]
    dialect: str

    @property
    def called(self) -> frozenset[str]:
        """Whatever stands before a bracket, in small letters: among it all functions that are called."""
        pairs = zip(self.tokens, self.tokens[1:], strict=False)
        return frozenset(one.text.casefold() for one, after in pairs if after.text == "(" and _is_mark(after))

    @property
    def dotted(self) -> frozenset[str]:
        """Whatever stands after a dot: PostgreSQL takes t.f for a function of t if it is no column."""
        pairs = zip(self.tokens, self.tokens[1:], strict=False)
        return frozenset(one.text.casefold() for dot, one in pairs if dot.text == "." and _is_mark(dot))


def one_select(query: str, dialect: str) -> Statement:
    """The query, if it is a single SELECT statement without side effects; an error otherwise."""
    import sqlglot
    from sqlglot import exp

    if len(query) > LONGEST:
        raise _refused(f"at most {LONGEST:,} characters", "more")
    if "\0" in query:
        raise _refused("text", "a character that is none")
    try:
        with _quietly():
            trees = [tree for tree in sqlglot.parse(query, dialect=dialect) if _says_something(tree)]
            tokens = sqlglot.tokenize(query, dialect=dialect)
    except sqlglot.errors.ParseError as error:
        raise _refused("one SELECT statement", f"a syntax error{_place(error)}") from None
    except (sqlglot.errors.SqlglotError, RecursionError, ValueError):
        raise _refused("one SELECT statement", "a syntax error") from None
    if len(trees) != 1:
        raise _refused("one SELECT statement", "several" if trees else "none")
    inner = trees[0].unnest() if isinstance(trees[0], exp.Subquery) else trees[0]
    if not isinstance(inner, (exp.Select, exp.SetOperation)):
        raise _refused("one SELECT statement", "another statement")
    for words, names in _REFUSED.items():
        kinds = tuple(getattr(exp, name) for name in names if hasattr(exp, name))
        if trees[0].find(*kinds) is not None:
            raise _refused("a SELECT that only reads", words)
    end = next((i for i, token in enumerate(tokens) if token.text == ";" and _is_mark(token)), len(tokens))
    text = query[: tokens[end].start] if end < len(tokens) else query
    statement = Statement(text, trees[0], tuple(tokens[:end]), dialect)
    if any(acts(name, dialect) for name in statement.called):
        raise _refused("a SELECT that only reads", "a function that does more than to compute a value")
    return statement


def _is_mark(token: Any) -> bool:
    """Whether a token is a mark, rather than a text that consists of one."""
    return bool(token.end == token.start)


def _says_something(tree: Any) -> bool:
    return tree is not None and type(tree).__name__ != "Semicolon"


def _place(error: Any) -> str:
    """Where a syntax error is; its own words would quote the query."""
    for one in getattr(error, "errors", None) or ():
        if one.get("line") and one.get("col"):
            return f" in line {one['line']} near column {one['col']}"
    return ""


def _refused(expected: str, found: str) -> InvalidArgument:
    return InvalidArgument("query", expected=expected, found=found, hint="Nothing was run.")


@contextmanager
def _quietly() -> Iterator[None]:
    """Without sqlglot's warnings, which quote the query."""
    log = logging.getLogger("sqlglot")
    silent, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = silent
