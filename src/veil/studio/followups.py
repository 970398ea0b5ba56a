"""Commands that are run on a finished release, such as synthesis: they read it alone, and cost nothing.

The form of each comes from its request, and what is run is the command that is shown.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from veil.core.errors import InvalidArgument
from veil.core.kind import Kind
from veil.core.request import CommandRequest
from veil.studio.forms import YES, FormField, fields_of, filled

PART = "after"
# Seconds that a command may take, and how much of what it says is shown.
_PATIENCE, _LONGEST = 300.0, 40_000
# The field that keeps spreadsheets from running what a label says.
_SAFE = "csv_safe"
# By this a field is known that names a file.
_PROBE = "probe.csv"
# Bytes of memory, and of a file that it writes.
_MEMORY, _LARGEST = 2**33, 2**31
_SILENT = b"It was stopped: what was asked for is too large."
# Where its files are, in the folder of a release.
FOLDER = "made"


@dataclass(frozen=True)
class FollowUp:
    """A command of a kind, for the release in a record."""

    name: str
    request: type[CommandRequest]

    @property
    def about(self) -> str:
        """What it does, in a sentence."""
        return (self.request.__doc__ or self.name).strip().partition("\n")[0]

    @property
    def source(self) -> str:
        """The field that names the release."""
        return next(iter(self.request.options()))

    def _blank(self) -> CommandRequest:
        return filled(self.request, PART, {}, **{self.source: Path("release.json")})

    @property
    def endings(self) -> tuple[str, ...]:
        """Endings of the file that it writes; none where it writes none."""
        return next((endings for _, endings in self._blank().outputs.values()), ())

    @property
    def fields(self) -> list[FormField]:
        """What can be typed in: neither the release itself nor any other file, read or written."""
        aside = {self.source, _SAFE, *self._blank().outputs}
        fields = [field for field in fields_of(PART, self.request) if field.name not in aside]
        return [field for field in fields if not self._names_a_file(field)]

    def _names_a_file(self, field: FormField) -> bool:
        """Whether what is typed in would be read as a file of this machine."""
        return field.takes is str and _PROBE in replace(self._blank(), **{field.name: _PROBE}).inputs

    def check(self, texts: Mapping[str, str]) -> None:
        """Refuse what cannot be meant, before anything is run."""
        filled(self.request, PART, texts, **{self.source: Path("release.json")}).check()

    def command(self, record: str, texts: Mapping[str, str], output: str) -> list[str]:
        """The command that is run."""
        words = [self.name, record]
        for field in self.fields:
            text = texts.get(field.key, "").strip()
            if field.input == "flag":
                if (text == YES) is not bool(field.default):
                    words.append(field.mark.flag if text == YES else field.mark.negative or "")
            elif text:
                words.append(f"{field.mark.flag}={text}")
        if output:
            (name,) = list(self._blank().outputs)[:1]
            words += [self.request.options()[name][1].flag, output]
            if _SAFE in self.request.options():
                # Labels may be formulas to a spreadsheet.
                words.append(self.request.options()[_SAFE][1].flag)
        return words


def followups(kind: Kind) -> Iterator[FollowUp]:
    """What can be done with a release of a kind."""
    for name, place in kind.followups().items():
        yield FollowUp(name, resolve_name(place))


def followup_named(kind: Kind, name: str) -> FollowUp:
    """The command of this name."""
    found = {one.name: one for one in followups(kind)}
    if name not in found:
        raise InvalidArgument("command", expected=f"one of {', '.join(found)}", found="another")
    return found[name]


@dataclass(frozen=True)
class Outcome:
    """What a command said, the file that it wrote, and the command as it is typed in."""

    text: str
    file: str
    command: str
    well: bool


def run(followup: FollowUp, record: Path, texts: Mapping[str, str], ending: str) -> Outcome:
    """Run a command on the release in a record."""
    followup.check(texts)
    output = f"{followup.name}{ending}" if ending in followup.endings else ""
    folder = record.parent / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    if output:
        (folder / output).unlink(missing_ok=True)
    order = followup.command(str(record), texts, str(folder / output) if output else "")
    shown = followup.command("release.json", texts, output)
    process = subprocess.Popen(
        [sys.executable, "-m", "veil", *order], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    _bound(process.pid)
    try:
        told, complaint = process.communicate(timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return Outcome("It took too long, and was stopped. Ask for less.", "", _line(shown), False)
    well = process.returncode == 0
    said = (told if well else complaint or told or _SILENT).decode("utf-8", "replace")
    # Paths of the workspace mean nothing to a reader.
    said = said.replace(str(folder / output), output).replace(str(record), "release.json")
    return Outcome(said[:_LONGEST].strip(), output if well else "", _line(shown), well)


def _bound(process: int) -> None:
    """Keep a command that was asked for too much from using up the machine."""
    try:
        import resource

        resource.prlimit(process, resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        resource.prlimit(process, resource.RLIMIT_FSIZE, (_LARGEST, _LARGEST))
    except (ImportError, AttributeError, OSError):
        # Other systems know no such limits; the clock stops it.
        return


def _line(words: list[Any]) -> str:
    return shlex.join(["veil", *words])
