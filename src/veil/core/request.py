"""What a user can ask for, as data: command-line options, plan files and forms all come from it.

A request is a frozen dataclass whose fields carry their help, choices and marks (`option`). The functions
`read`, `plan` and `release` of a kind have the same parameters; a test holds them equal.
"""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, get_args, get_type_hints

from veil.core.checks import choice, delta_of, integer, items, positive, within
from veil.core.errors import InvalidArgument, with_fields
from veil.core.kind import Progress

if TYPE_CHECKING:
    from veil.core.preview import Preview

_OPTION = "veil.option"
NO_DEFAULT = dataclasses.MISSING


@dataclass(frozen=True, slots=True)
class Option:
    """One field of a request, for people.

    help: one sentence; other fields are named in braces, such as "{cap}". flag: the name on the command line,
    where it is not that of the field; short: one letter. group: the heading under which it is listed.
    choices: the words that it takes; meanings: what each of them means, in the same order. unit: of a
    number. least, most: its limits (most only with least).
    secret: never in plan files, records, hashes or the ledger (addresses, paths). public: a property of the
    request, never of the data. advanced: most users leave it alone. negative: of a switch, the flag that
    turns it off. in_python: whether the Python function has it; not what only joins reading and releasing.
    in_command: whether the command line has it; not what cannot be typed in. column: whether it names a
    column of the source, or several with commas, so that forms can offer the columns that there are.
    """

    help: str
    flag: str = ""
    short: str | None = None
    group: str = "Options"
    choices: tuple[str, ...] = ()
    meanings: tuple[str, ...] = ()
    unit: str = ""
    least: float | None = None
    most: float | None = None
    secret: bool = False
    public: bool = True
    advanced: bool = False
    negative: str | None = None
    in_python: bool = True
    in_command: bool = True
    column: bool = False


def option(default: Any = NO_DEFAULT, *, help: str, **marks: Any) -> Any:  # noqa: A002
    """A field of a request with its help and marks; see `Option`."""
    return dataclasses.field(default=default, metadata={_OPTION: Option(help, **marks)})


def mechanism_option(names: tuple[str, ...], *, help: str) -> Any:  # noqa: A002
    """The field of a release for its mechanism: auto, or one of these names."""
    return option("auto", help=help, short="-m", choices=("auto", *names), group="Mechanism")


# Of every command that writes CSV.
CSV_SAFE = "In CSV, put an apostrophe before text that a spreadsheet would take for a formula (= + - @)."


@dataclass(frozen=True, kw_only=True)
class Request:
    """Everything that a user can ask for in one call. Nothing in it is computed from the data."""

    # Fields of good examples, each with a sentence about it; interfaces write them in their own way.
    examples: ClassVar[tuple[tuple[str, Mapping[str, Any]], ...]] = ()

    @classmethod
    def given(cls, arguments: Mapping[str, Any]) -> Self:
        """The request with the arguments of a function that has its fields as parameters."""
        return cls(**{name: arguments[name] for name in cls.options() if name in arguments})

    @classmethod
    @cache
    def options(cls) -> dict[str, tuple[dataclasses.Field[Any], Option, Any]]:
        """The fields with their options, whose flags are filled in, and their types."""
        hints, options = get_type_hints(cls), {}
        for field in dataclasses.fields(cls):
            if _OPTION in field.metadata:
                mark = field.metadata[_OPTION]
                # The source is the one positional argument of a command.
                usual = "INPUT" if field.name == "source" else f"--{field.name.replace('_', '-')}"
                options[field.name] = field, replace(mark, flag=mark.flag or usual), hints[field.name]
        return options

    @classmethod
    def required(cls) -> list[str]:
        """The fields that a plan file must have."""
        options = cls.options().items()
        return [name for name, (field, mark, _) in options if field.default is NO_DEFAULT and not mark.secret]

    def check(self) -> None:
        """Refuse what cannot be meant, before anything is read."""
        for name, (_, mark, kind) in self.options().items():
            value = getattr(self, name)
            if value is None:
                continue
            if mark.choices:
                for one in value if isinstance(value, (tuple, list)) else (value,):
                    choice(name, one, mark.choices)
            types, least, most = get_args(kind) or (kind,), mark.least, mark.most
            if least is None or (isinstance(value, str) and str in types):
                continue
            if int in types:
                integer(name, value, least=int(least), most=None if most is None else int(most))
            else:
                limits = f"of at least {least:g}" if most is None else f"between {least:g} and {most:g}"
                highest = math.inf if most is None else most
                within(name, value, least, highest, expected=f"a number {limits}")

    @property
    def inputs(self) -> tuple[str, ...]:
        """The files that it names, which must not be overwritten."""
        return ()

    def to_dict(self) -> dict[str, Any]:
        """The fields that differ from their defaults, without secrets; for plan files."""
        content = {}
        for name, (field, mark, _) in self.options().items():
            value = getattr(self, name)
            if not mark.secret and (field.default is NO_DEFAULT or value != field.default):
                content[name] = list(value) if isinstance(value, tuple) else value
        return content

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Self:
        """The request that `to_dict` wrote, each field checked for its type."""
        import msgspec

        unknown = sorted(set(content) - set(cls.options()))
        if unknown:
            expected = f"some of {', '.join(cls.options())}"
            raise InvalidArgument(unknown[0], expected=expected, found="an unknown field")
        fields = {}
        for name, value in content.items():
            kind = cls.options()[name][2]
            try:
                fields[name] = value if kind is Any else msgspec.convert(value, kind)
            except msgspec.ValidationError as error:
                expected = str(error).removeprefix("Expected ").partition(", got")[0].replace("`", "")
                expected, found = expected or "another type", repr(value)[:40]
                raise InvalidArgument(name, expected=expected, found=found) from None
        missing = [name for name in cls.required() if name not in fields]
        if missing:
            raise InvalidArgument(missing[0], expected="a value", found="none")
        return cls(**fields)

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """The JSON Schema of plan files that hold such a request; secrets are not part of it."""
        import msgspec

        properties: dict[str, Any] = {}
        for name, (field, mark, kind) in cls.options().items():
            if mark.secret:
                continue
            try:
                entry: dict[str, Any] = {} if kind is Any else msgspec.json.schema(kind)
            except TypeError:
                # JSON cannot tell this type from another one: anything will do.
                entry = {}
            if mark.choices:
                entry = {"enum": [*mark.choices, *((None,) if field.default is None else ())]}
            entry["description"] = with_fields(mark.help, None)
            limits = {"minimum": mark.least, "maximum": mark.most, "x-unit": mark.unit or None}
            entry |= {key: limit for key, limit in limits.items() if limit is not None}
            if field.default is not NO_DEFAULT:
                entry["default"] = field.default
            properties[name] = entry
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": cls.__name__,
            "description": (cls.__doc__ or "").strip().partition("\n")[0],
            "type": "object",
            "properties": properties,
            "required": cls.required(),
            "additionalProperties": False,
        }


@dataclass(frozen=True, kw_only=True)
class ReadRequest(Request):
    """Where the data is and how to read it."""

    @abstractmethod
    def read(self, progress: Progress | None = None) -> Any:
        """The data, as `release` of the kind takes it. It is sensitive, not a release."""


@dataclass(frozen=True, kw_only=True)
class ReleaseRequest(Request):
    """What is to be released of data that was read, and what it may cost."""

    epsilon: float = option(help="Privacy loss; smaller is more private.", short="-e", group="Privacy")
    delta: float = option(
        0.0, help="Failure probability; far below 1/people. 0 for pure privacy.", short="-d", group="Privacy"
    )
    mechanism: str = option("auto", help="auto takes the most accurate.", short="-m", group="Mechanism")

    def check(self) -> None:
        super().check()
        positive("epsilon", self.epsilon)
        delta_of(self.delta)

    def adapted(self, read: Any, *, seed: int | None = None) -> tuple[Any, tuple[str, ...]]:
        """How the data is to be read for such a release, and sentences about what was chosen."""
        return read, ()

    @abstractmethod
    def prepare(self, data: Any, *, rng: Any = None, progress: Progress | None = None) -> Any:
        """The job: data validated, mechanism chosen from public numbers alone, nothing drawn."""


@dataclass(frozen=True, kw_only=True)
class PlanRequest(Request):
    """What is to be expected of a release, from public numbers alone."""

    @abstractmethod
    def plan(self, progress: Progress | None = None) -> Any:
        """The plan."""

    def quick_plan(self) -> Any:
        """The plan as a point of a curve: with the usual errors of `plan`, perhaps without ranges."""
        return self.plan()

    def preview(self, plan: Any) -> Preview | None:
        """A release of made-up data of the size that is planned for; None where there is none.

        plan: of this request.
        """
        return None

    def at(self, epsilon: float) -> Self:
        """The same question at this epsilon."""
        asked = {"epsilon": epsilon, "error": None}
        return replace(self, **{name: value for name, value in asked.items() if name in self.options()})


@dataclass(frozen=True, kw_only=True)
class CommandRequest(Request):
    """A further command of a kind, such as an analysis of a release."""

    @property
    def records(self) -> tuple[Path, ...]:
        """The records of releases that it reads: its fields that are paths and cannot be left out."""
        return tuple(getattr(self, name) for name, (_, _, kind) in self.options().items() if kind is Path)

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(map(str, self.records))

    @property
    def outputs(self) -> dict[str, tuple[Path | None, tuple[str, ...]]]:
        """The files that it writes, by field, with the endings that they may have."""
        return {}

    @abstractmethod
    def run(self, *, overwrite: bool, progress: Progress | None = None) -> CommandResult:
        """Do it."""


class CommandResult(Protocol):
    """What came of a command."""

    def to_dict(self) -> dict[str, Any]:
        """For machines."""

    def show(self) -> None:
        """In the terminal."""


def texts(field: str, value: Sequence[str] | str | None) -> list[str]:
    """A list of names: as it is, or as text with commas in it."""
    if value is None:
        return []
    expected = "a list of names, or text with commas between them"
    parts = value.split(",") if isinstance(value, str) else items(field, value, expected=expected)
    return [part.strip() if isinstance(part, str) else part for part in parts]
