"""Everything that Veil raises on purpose.

An error names the field, what was expected and what was found, in public terms: it says where a
sensitive value is wrong, never what the value is.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from importlib import import_module
from typing import Any, Self

from veil.core.text import visible


class VeilError(Exception):
    """The base of all errors of Veil. `exit_code` is what the command line returns for it."""

    exit_code = 1

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied and unpickled as it is: constructors take other arguments than the message."""
        return Exception.__new__, (type(self), *self.args), self.__dict__


# Of each part of a message. Names of columns, which messages quote, may be as long as a file.
_LONGEST = 1000


def _shortened(text: str) -> str:
    # A file could speak in our name by line breaks and other control characters.
    return visible(text[:_LONGEST]) + ("..." if len(text) > _LONGEST else "")


_FIELD = re.compile(r"\{(\w+)(?:=([^{}]*))?\}")


def with_fields(text: str, names: Container[str] | None, flags: Mapping[str, str] | None = None) -> str:
    """A text that names fields in braces, with the names that an interface has for them.

    "{cap}" becomes --cap on the command line and cap= in Python, "{unit=user}" becomes --unit user and
    unit="user". names: the fields that may be named; None for any. flags: of an interface; Python otherwise.
    """
    for match in _FIELD.finditer(text):
        name, value = match[1], match[2]
        if names is not None and name not in names:
            continue
        if flags is not None and name in flags:
            said = flags[name] if value in (None, "True") else f"{flags[name]} {value}"
        elif value is None or value.isdecimal() or value in ("True", "False"):
            said = f"{name}={value or ''}"
        else:
            said = f'{name}="{value}"'
        text = text.replace(match[0], said)
    return text


class InvalidField(VeilError, ValueError):
    """A field holds something else than it should."""

    exit_code = 2

    def __init__(
        self, field: str, *, expected: str, found: str, hint: str = "", names: Sequence[str] = ()
    ) -> None:
        """names: other fields that the texts name in braces, such as "{cap}"; see `with_fields`."""
        self.field, self.expected, self.found, self.hint = map(_shortened, (field, expected, found, hint))
        self.names = tuple(names)
        super().__init__(self.sentence())

    @classmethod
    def at(cls, field: str, error: InvalidField, *, hint: str = "") -> Self:
        """The same error at another field, such as one row of a table."""
        hint = hint or error.hint
        return cls(field, expected=error.expected, found=error.found, hint=hint, names=error.names)

    def sentence(self, flags: Mapping[str, str] | None = None) -> str:
        """What is wrong. flags: how an interface calls the fields; as arguments of a function otherwise."""
        known = flags or {}
        text = f"expected {self.expected}, found {self.found}." + f" {self.hint}".rstrip()
        return f"{known.get(self.field, self.field)}: {with_fields(text, self.names, flags)}"


class InvalidArgument(InvalidField):
    """A parameter of a call or an option of a command is wrong."""


class InvalidData(InvalidField):
    """The data itself is malformed, or lies outside the domain of the mechanism."""

    exit_code = 4


class UnreadableFile(InvalidData):
    """A file is missing, is not in the format it should be, or is from a newer Veil."""


class OutputExists(InvalidArgument):
    """The output is there already and may not be overwritten."""


class NoGuarantee(VeilError):
    """The mechanism cannot give the guarantee that was asked of it."""

    exit_code = 2


class CannotCalibrate(NoGuarantee):
    """No parameter of the mechanism reaches the privacy or the accuracy that was asked for."""


class MissingExtra(VeilError):
    """An optional library is needed and not installed."""

    exit_code = 2

    def __init__(self, library: str, extra: str) -> None:
        self.library, self.extra = library, extra
        super().__init__(f"{library} is not installed. Install it with: pip install 'veil[{extra}]'")


def optional(library: str, extra: str) -> Any:
    """An optional library, imported; `extra`: what of Veil brings it."""
    try:
        return import_module(library)
    except ImportError:
        raise MissingExtra(library, extra) from None


class BudgetExceeded(VeilError):
    """The ledger refuses the charge. Nothing was drawn and nothing was spent."""

    exit_code = 3

    def __init__(self, *, spent: str, asked: str, remaining: str, hint: str = "") -> None:
        self.spent, self.asked, self.remaining, self.hint = spent, asked, remaining, hint
        super().__init__(
            f"privacy budget exceeded: {asked} asked for, {remaining} remaining, {spent} spent already."
            + f" {hint}".rstrip()
        )


class ResultKept(VeilError):
    """A release was made, and charged if there is a ledger, but could not be written as asked.

    entry: of the ledger. place: where the result is.
    """

    exit_code = 7

    def __init__(self, *, entry: Any, why: str, place: str) -> None:
        self.entry, self.why, self.place = entry, visible(why), visible(place)
        super().__init__(f"{_made(entry)}, but {self.why}; the result is kept in {self.place}.")


class ResultLost(VeilError):
    """A release was charged, or made without a ledger, and nothing of it was kept.

    entry: of the ledger. release: in Python, the release itself where it was drawn; it can still be saved.
    """

    exit_code = 8

    def __init__(self, *, entry: Any, why: str, release: Any = None) -> None:
        self.entry, self.why, self.release = entry, visible(why), release
        result = "there is no result" if release is None else "the result could not be kept"
        super().__init__(f"{_made(entry)}, and {result}: {self.why}.")


def _made(entry: Any) -> str:
    return "the release was made" if entry is None else f"charged as {visible(str(entry))}"


class LedgerUnavailable(VeilError):
    """The ledger cannot be reached, read or written just now. Nothing was charged unless it says so."""

    exit_code = 6


class LedgerCorrupt(VeilError):
    """The ledger is inconsistent: it was changed by other programs than Veil, or damaged."""

    exit_code = 4

    def __init__(self, where: str, found: str) -> None:
        self.where, self.found = map(_shortened, (where, found))
        super().__init__(f"ledger: {self.where}: expected consistent entries, found {self.found}.")


class PrivacyWarning(UserWarning):
    """Something that weakens what a release promises, though not the promise as it is written."""
