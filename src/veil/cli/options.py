"""From the fields of a request to the options of a command."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter

from veil.cli.output import print_error
from veil.cli.parameters import at_least, number
from veil.core.errors import VeilError
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
    run: Callable[..., int], requests: Sequence[type[Request]], extra: Sequence[inspect.Parameter] = ()
) -> Callable[..., int]:
    """A function whose parameters are the fields of the requests, for Cyclopts to read.

    run: is called with a dictionary of fields for each request, and the extra options by name.
    """
    flags = flags_of(requests) | {one.name: one.annotation.__metadata__[0].name[0] for one in extra}
    owners = [(request, request.options()) for request in requests]
    parameters = [
        _parameter(name, field.default, mark, kind, flags)
        for _, options in owners
        for name, (field, mark, kind) in options.items()
        if mark.in_command
    ]
    parameters = [*parameters, *extra]
    # A positional argument first; those without a default before the others.
    parameters.sort(key=lambda one: (one.kind != one.POSITIONAL_ONLY, one.default is not one.empty))

    def called(*args: Any, **given: Any) -> int:
        if args:
            given["source"] = args[0]
        parts = [{name: given.pop(name) for name in options if name in given} for _, options in owners]
        try:
            return run(*parts, **given)
        except VeilError as error:
            print_error(error, as_json=given.get("as_json", False), flags=flags)
            return error.exit_code

    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in parameters}
    return called


def extra_option(name: str, kind: Any, default: Any, mark: Option) -> inspect.Parameter:
    """An option that an interface adds to those of a request, which check their limits themselves."""
    return _parameter(name, default, mark, kind, {}, validator=at_least(name, mark.least))


def flags_of(requests: Iterable[type[Request]]) -> dict[str, str]:
    """How the command line calls the fields."""
    found = {}
    for request in requests:
        for name, (_, mark, _) in request.options().items():
            found[name] = (
                _positional(mark)
                if name == "source"
                else "/".join(filter(None, (mark.named(name), mark.negative)))
            )
    return found


def _parameter(
    name: str,
    default: Any,
    mark: Option,
    kind: Any,
    flags: Mapping[str, str],
    *,
    validator: Sequence[Callable[[Any, Any], None]] = (),
) -> inspect.Parameter:
    positional = name == "source"
    has_default = default is not NO_DEFAULT
    names = (_positional(mark),) if positional else tuple(filter(None, (mark.named(name), mark.short)))
    annotation = _token_type(kind, mark, required=not has_default)
    repeated = typing.get_origin(annotation) is list or any(
        typing.get_origin(part) is list for part in typing.get_args(annotation)
    )
    marks = Parameter(
        name=names,
        help=mark.helped(flags),
        group=_group("Input" if positional else "Advanced" if mark.advanced else mark.group),
        negative=(mark.negative,) if mark.negative else (),
        allow_leading_hyphen=positional,
        consume_multiple=False if repeated else None,
        validator=validator,
        converter=number if {int, float} & set(_union(annotation)) else None,
        show_default=has_default and not (default is False or default in (None, (), "")),
    )
    return inspect.Parameter(
        name,
        inspect.Parameter.POSITIONAL_ONLY if positional else inspect.Parameter.KEYWORD_ONLY,
        default=_shown_default(default) if has_default else inspect.Parameter.empty,
        annotation=Annotated[annotation, marks],
    )


def _positional(mark: Option) -> str:
    """What the positional argument is called."""
    return mark.flag or "INPUT"


def _shown_default(default: Any) -> Any:
    return None if default == () else default


def _token_type(kind: Any, mark: Option, *, required: bool) -> Any:
    """The type that text is turned into: what Python takes besides, such as tables, cannot be typed in."""
    if mark.choices and kind is not Any and not _is_many(kind):
        words: Any = Literal[mark.choices]
        return words | None if _takes_none(kind) else words
    parts = [part for part in _union(kind) if part is not type(None)]
    plain = [part for part in parts if part in _PLAIN]
    # Where text will do, a list is typed in with commas; where not, the option is repeated.
    chosen: Any = plain[0] if plain else list[str] if any(_is_many(part) for part in parts) else str
    optional = chosen not in _PLAIN or _takes_none(kind) or (kind is Any and not required)
    return chosen | None if optional else chosen


def _union(kind: Any) -> tuple[Any, ...]:
    is_union = typing.get_origin(kind) in (typing.Union, types.UnionType)
    return typing.get_args(kind) if is_union else (kind,)


def _is_many(kind: Any) -> bool:
    origin = typing.get_origin(kind)
    return isinstance(origin, type) and issubclass(origin, (Sequence, Mapping, Iterable))


def _takes_none(kind: Any) -> bool:
    return type(None) in _union(kind)


def _group(heading: str) -> Group:
    place = _HEADINGS.index(heading) if heading in _HEADINGS else len(_HEADINGS)
    return Group(heading, sort_key=place)
