"""Options that commands of the command line itself share, so that they read and mean the same everywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, Token

from veil.core.checks import integer


def at_least(name: str, least: float | None) -> Sequence[Callable[[Any, Any], None]]:
    """For an option that is a whole number: refuse smaller ones."""

    def check(_: Any, value: Any) -> None:
        if value is not None and least is not None:
            integer(name, value, least=int(least))

    return () if least is None else (check,)


def number(kind: Any, tokens: Sequence[Token]) -> Any:
    """Text as a number. A whole number is never made by rounding, nor none of a word."""
    return kind(tokens[0].value)


def option(
    *names: str,
    help: str,  # noqa: A002
    least: int | None = None,
    is_number: bool = False,
    shown: bool = True,
) -> Parameter:
    """An option with its names and help. least: of a whole number. shown: whether its default is."""
    return Parameter(
        name=names or None,
        help=help,
        negative=(),
        converter=number if is_number or least is not None else None,
        validator=at_least(names[0].lstrip("-"), least) if names else (),
        consume_multiple=False,
        show_default=None if shown else False,
    )


def switch(*names: str, help: str) -> Parameter:  # noqa: A002
    """An option without a value, which is off unless given."""
    return option(*names, help=help, shown=False)


ReportOption = Annotated[Path | None, option("--report", help="Also write an HTML report here.")]
ForceOption = Annotated[bool, switch("--force", "-f", help="Overwrite existing files.")]
JsonOption = Annotated[bool, switch("--json", help="Print JSON for machines.")]
