"""Options of commands: from the fields of requests, and those that the command line adds by itself."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter, Token

from veil.cli.output import print_error
from veil.core.checks import integer
from veil.core.errors import VeilError, with_fields
from veil.core.request import NO_DEFAULT, Option, Request

# The order of the headings in --help; others follow.
_HEADINGS = (
    "Input",
    "States",
    "What is counted",
    "Privacy",
    "Mechanism",
    "Options",
    "Advanced",
    "Output",
    "Budget",
)
_PLAIN = (str, int, float, bool, Path)


def command(
    run: Callable[..., int], requests: Sequence[type[Request]], words: Mapping[str, str] | None = None
) -> Callable[..., int]:
    """A function whose parameters are the fields of the requests, for Cyclopts to read.

    run: is called with the requests. words: what else stands in braces in the help of an option.
    """
    flags = flags_of(requests)
    fields = {name: found for request in requests for name, found in request.options().items()}
    parameters = [
        _parameter(name, field.default, mark, kind, {**flags, **(words or {})})
        for name, (field, mark, kind) in fields.items()
        if mark.in_command
    ]
    # A positional argument first; those without a default before the others.
    parameters.sort(key=lambda one: (one.kind != one.POSITIONAL_ONLY, one.default is not one.empty))

    def called(*args: Any, **given: Any) -> int:
        given |= {"source": args[0]} if args else {}
        try:
            return run(
                *(one(**{name: given[name] for name in one.options() if name in given}) for one in requests)
            )
        except VeilError as error:
            print_error(error, as_json=given.get("as_json", False), flags=flags)
            return error.exit_code

    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in parameters}
    return called


def flags_of(requests: Iterable[type[Request]]) -> dict[str, str]:
    """How the command line calls the fields."""
    return {
        name: "/".join(filter(None, (mark.flag, mark.negative)))
        for request in requests
        for name, (_, mark, _) in request.options().items()
    }


def _parameter(
    name: str, default: Any, mark: Option, kind: Any, flags: Mapping[str, str]
) -> inspect.Parameter:
    """One field as a parameter that Cyclopts reads."""
    positional, has_default = name == "source", default is not NO_DEFAULT
    # The type that text is turned into: what Python takes besides, such as tables, cannot be typed in.
    is_union = typing.get_origin(kind) in (typing.Union, types.UnionType)
    parts = typing.get_args(kind) if is_union else (kind,)
    origins = [typing.get_origin(part) for part in parts]
    many = any(isinstance(one, type) and issubclass(one, (Sequence, Mapping, Iterable)) for one in origins)
    annotation: Any
    if mark.choices and kind is not Any and not (many and not is_union):
        annotation, optional = Literal[mark.choices], False
    else:
        # Where text will do, a list is typed in with commas; where not, the option is repeated.
        plain = [part for part in parts if part in _PLAIN]
        annotation = plain[0] if plain else list[str] if many else str
        optional = annotation not in _PLAIN or (kind is Any and has_default)
    if optional or type(None) in parts:
        annotation = annotation | None
    kinds = (annotation, *typing.get_args(annotation))
    heading = "Input" if positional else "Advanced" if mark.advanced else mark.group
    place = _HEADINGS.index(heading) if heading in _HEADINGS else len(_HEADINGS)
    marks = Parameter(
        name=tuple(filter(None, (mark.flag, mark.short))),
        help=with_fields(mark.help, None, flags),
        group=Group(heading, sort_key=place),
        negative=(mark.negative,) if mark.negative else (),
        allow_leading_hyphen=positional,
        # An option that takes a list is repeated.
        consume_multiple=False if any(typing.get_origin(one) is list for one in kinds) else None,
        converter=number if {int, float} & set(kinds) else None,
        show_default=has_default and not (default is False or default in (None, (), "")),
    )
    return inspect.Parameter(
        name,
        inspect.Parameter.POSITIONAL_ONLY if positional else inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if not has_default else None if default == () else default,
        annotation=Annotated[annotation, marks],
    )


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
    """An option of a command that has no request. least: of a whole number. shown: whether its default is."""

    def check(_: Any, value: Any) -> None:
        if value is not None and least is not None:
            integer(names[0].lstrip("-"), value, least=least)

    return Parameter(
        name=names or None,
        help=help,
        negative=(),
        converter=number if is_number or least is not None else None,
        validator=() if least is None else (check,),
        consume_multiple=False,
        show_default=None if shown else False,
    )


ReportOption = Annotated[Path | None, option("--report", help="Also write an HTML report here.")]
ForceOption = Annotated[bool, option("--force", "-f", help="Overwrite existing files.", shown=False)]
JsonOption = Annotated[bool, option("--json", help="Print JSON for machines.", shown=False)]
