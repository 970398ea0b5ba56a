"""Keeping a release that was drawn: in its files, or on standard output, or else in a second place."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex
from typing import Any

from veil.cli.deferral import Deferral
from veil.cli.output import silence_output
from veil.cli.output_files import OutputFiles
from veil.cli.room import Room
from veil.cli.second_place import kept_elsewhere
from veil.core.errors import InvalidField, ResultKept, ResultLost, VeilError
from veil.core.files import to_json
from veil.core.job import Job
from veil.core.record import Release

# Shows a release: as it was drawn, as it was recorded, and which files were written.
Show = Callable[[Release[Any], Release[Any], list[Path]], None]
STANDARD_OUTPUT = "standard output"


class Keeper:
    """What `Job.run` calls with a release before it is confirmed.

    kept: the release as it was recorded; None before that. written: its files. trouble: what could not be
    written, and where the result is instead. output_failed: standard output could not be written.
    """

    def __init__(self, files: OutputFiles, job: Job[Any], *, room: Room, stops: Deferral, show: Show) -> None:
        self._files, self._job, self._room, self._stops, self._show = files, job, room, stops, show
        self.kept: Release[Any] | None = None
        self.written: list[Path] = []
        self.trouble: ResultKept | None = None
        self.output_failed = False

    @property
    def uses_output(self) -> bool:
        """Whether standard output is the only place that was asked for."""
        return self._files.first is None

    def __call__(self, release: Release[Any]) -> Release[Any]:
        # Without a ledger nothing was spent before this; now something is about to be seen.
        self._stops.begin()
        self._room.free()
        try:
            self.kept = self._write(release)
        except Exception as error:
            self.kept = self._elsewhere(release, why_not(self._files.first or STANDARD_OUTPUT, error))
        return self.kept

    def _write(self, release: Release[Any]) -> Release[Any]:
        if self.uses_output:
            try:
                self._show(release, release, [])
                sys.stdout.flush()
            except BaseException:
                self.give_up_output()
                raise
            return release
        self.written, kept = self._files.write(release, self._job)
        return kept

    def _elsewhere(self, release: Release[Any], why: str) -> Release[Any]:
        """The whole record in the first place that takes it."""
        text = to_json(release)
        place = kept_elsewhere(text, f"{release.created.replace(':', '')}-{token_hex(4)}")
        if isinstance(place, str) and not self.uses_output and sys.stdout is not None:
            try:
                sys.stdout.write(text)
                sys.stdout.flush()
                place = Path(STANDARD_OUTPUT)
            except (OSError, ValueError):
                self.give_up_output()
        if isinstance(place, str):
            raise ResultLost(entry=release.entry, why=f"{why}; {place}", release=release)
        self.trouble = ResultKept(entry=release.entry, why=why, place=str(place))
        return release

    def give_up_output(self) -> None:
        """Standard output failed: nothing more is said there."""
        self.output_failed = True
        silence_output()

    def add_report(self, release: Release[Any]) -> None:
        """The report, where it is not the only output: the result is safe by then."""
        try:
            self.written += self._files.write_report(release, self._job)
        except Exception as error:
            why = why_not(self._files.report or "the report", error)
            place = ", ".join(map(str, self.written))
            self.trouble = ResultKept(entry=release.entry, why=why, place=place)


def why_not(place: Path | str, error: Exception) -> str:
    """Why something could not be written. An unforeseen error may quote data: only its kind is said."""
    why = type(error).__name__
    if isinstance(error, InvalidField):
        why = error.found
    elif isinstance(error, VeilError):
        why = str(error).rstrip(".")
    elif isinstance(error, OSError) and error.strerror:
        why = error.strerror
    return f"{place} could not be written ({why})"
