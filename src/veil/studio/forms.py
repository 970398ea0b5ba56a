"""Forms from requests: a field to fill in for every field of a request, and texts back into values."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from veil.core.checks import shown
from veil.core.errors import InvalidArgument, InvalidField, with_fields
from veil.core.request import NO_DEFAULT, Option, Request

R = TypeVar("R", bound=Request)
YES = "yes"
# A file that is there, by which fields are known that name files.
_PROBE = __file__
_PLAIN = (str, int, float, bool, Path)


@dataclass(frozen=True)
class FormField:
    """One field of a form, from one field of a request.

    part: of which request ("read", "release" or "plan"). takes: the type that its text is turned into.
    blank: whether nothing is chosen at first, though the request has a default. file: whether it may name a
    file, such as a public list of states.
    """

    part: str
    name: str
    mark: Option
    takes: Any
    default: Any
    blank: bool = False
    file: bool = False

    @property
    def key(self) -> str:
        """What it is called in the form."""
        return f"{self.part}.{self.name}"

    @property
    def label(self) -> str:
        """What people call it."""
        return label_of(self.name)

    @property
    def required(self) -> bool:
        return self.default is NO_DEFAULT or self.blank

    @property
    def input(self) -> str:
        """How it is filled in: choice, flag, share (a number between two limits), number, or text."""
        if self.mark.choices and not _is_list(self.takes):
            return "choice"
        if self.takes is bool:
            return "flag"
        if self.takes is float and None not in (self.mark.least, self.mark.most):
            return "share"
        return "number" if self.takes in (int, float) else "text"

    @property
    def placeholder(self) -> str:
        """What holds where nothing is typed in."""
        plain = isinstance(self.default, (str, int, float)) and not isinstance(self.default, bool)
        return "" if self.blank or not plain else f"{self.default}"

    def value(self, text: str) -> Any:
        """The value of a text that is not empty."""
        if self.input == "flag":
            return text == YES
        try:
            return self.takes(text) if self.takes in (int, float, Path) else text
        except ValueError:
            expected = "a whole number" if self.takes is int else "a number"
            raise InvalidArgument(self.name, expected=expected, found=shown(text)) from None


def label_of(name: str) -> str:
    """What people call a field."""
    return name.replace("_", " ").capitalize()


def fields_of(part: str, request: type[Request], *, blank: Iterable[str] = ()) -> Iterator[FormField]:
    """The fields of a request that can be typed in. blank: those that start empty."""
    described: Any = request
    blank, files = tuple(blank), _files_of(described)
    for name, (field, mark, kind) in request.options().items():
        if mark.in_command:
            typed = _typed(kind)
            yield FormField(part, name, mark, typed, field.default, blank=name in blank, file=name in files)


@cache
def _files_of(request: Any) -> frozenset[str]:
    """The fields whose text may be the path of a file, by what the request says that it reads."""
    options = request.options().items()
    needed = {name: "" for name, (field, _, _) in options if field.default is NO_DEFAULT}
    public = [name for name, (_, mark, _) in options if not mark.secret]
    return frozenset(name for name in public if _PROBE in request(**{**needed, name: _PROBE}).inputs)


def help_of(field: FormField, labels: Mapping[str, str]) -> str:
    """The help of a field; other fields by what people call them."""
    return with_fields(field.mark.help, None, labels)


def labels_of(requests: Iterable[type[Request]]) -> dict[str, str]:
    """What people call the fields of requests."""
    return {name: f"“{label_of(name)}”" for request in requests for name in request.options()}


def filled(request: type[R], part: str, texts: Mapping[str, str], **more: Any) -> R:
    """The request with what was typed in; fields without a text keep their defaults."""
    given: dict[str, Any] = {}
    for field in fields_of(part, request):
        text = texts.get(field.key, "").strip()
        if text:
            given[field.name] = field.value(text)
    given |= more
    missing = [name for name, (field, _, _) in request.options().items() if field.default is NO_DEFAULT]
    for name in missing:
        if name not in given:
            raise InvalidArgument(name, expected="a value", found="none")
    return request(**given)


def sentence(error: Exception, labels: Mapping[str, str]) -> str:
    """What is wrong, with fields as people call them."""
    if isinstance(error, InvalidField):
        text = f"Expected {error.expected}, found {error.found}." + f" {error.hint}".rstrip()
        return with_fields(text, None, labels)
    return str(error)


def _typed(kind: Any) -> Any:
    """The type that text is turned into, object for any: what Python takes besides cannot be typed in."""
    if kind is Any:
        return object
    origin = typing.get_origin(kind)
    parts = typing.get_args(kind) if origin in (typing.Union, types.UnionType) else (kind,)
    plain = [part for part in parts if part in _PLAIN]
    if plain:
        return plain[0]
    return Sequence if any(_is_list(part) for part in parts) else str


def _is_list(kind: Any) -> bool:
    origin = typing.get_origin(kind) or kind
    return isinstance(origin, type) and issubclass(origin, (Sequence, Mapping)) and origin is not str
