"""The files that a command writes, checked before any work."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veil.core.errors import InvalidArgument, OutputExists

if TYPE_CHECKING:
    from veil.core.job import Job
    from veil.core.record import Release


def check_ending(option: str, path: Path | None, endings: Sequence[str]) -> None:
    """The ending decides the format, so it must be one that is known."""
    if path is not None and not path.name.lower().endswith(tuple(endings)):
        expected = "a name that ends in " + " or ".join(endings)
        raise InvalidArgument(option, expected=expected, found=path.name)


def refuse_existing(
    outputs: Mapping[str, Path | None], *, force: bool, inputs: Sequence[str | Path] = ()
) -> None:
    """Before any work: no output may be an input, be named twice, or overwrite a file unless asked to."""
    taken = {Path(source).resolve(): "the input" for source in inputs if str(source) != "-"}
    for option, path in outputs.items():
        if path is None:
            continue
        place = path.resolve()
        if place in taken:
            raise OutputExists(option, expected="a file of its own", found=f"{path}, which is {taken[place]}")
        taken[place] = option
        if path.exists() and not path.is_file():
            found = f"{path}, which is {'a folder' if path.is_dir() else 'no file'}"
            raise OutputExists(option, expected="a file", found=found)
        if path.exists() and not force:
            hint = "Add --force to overwrite it."
            raise OutputExists(option, expected="a new file", found=f"{path} exists already", hint=hint)
        if not path.parent.is_dir():
            raise OutputExists(option, expected="an existing folder", found=f"no folder {path.parent}")
        if not _takes_files(path.parent):
            expected = "a folder that can be written to"
            raise OutputExists(option, expected=expected, found=f"{path.parent}, which cannot")


def _takes_files(folder: Path) -> bool:
    """By trying: a release that cannot be kept would be paid for all the same."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@dataclass(frozen=True)
class OutputFiles:
    """The files that a release is to be written to.

    tables: endings of files that hold the value alone; the record is then written beside it.
    """

    output: Path | None
    report: Path | None
    force: bool
    tables: Sequence[str] = (".csv",)

    @cached_property
    def record(self) -> Path | None:
        """The record beside a table."""
        if self.output is None:
            return None
        # The longest first: .csv.gz before .gz.
        for ending in sorted(self.tables, key=len, reverse=True):
            if self.output.name.lower().endswith(ending):
                return self.output.with_name(self.output.name[: -len(ending)] + ".json")
        return None

    def check(self, inputs: Sequence[str]) -> None:
        """Before any work: endings that are known, places that are free."""
        check_ending("--output", self.output, (".json", *self.tables))
        check_ending("--report", self.report, (".html",))
        outputs = {
            "--output": self.output,
            "the record beside --output": self.record,
            "--report": self.report,
        }
        refuse_existing(outputs, force=self.force, inputs=inputs)

    def check_job(self, job: Job[Any]) -> None:
        """Before the charge: a table that could not hold the value."""
        if self.output is None or self.record is None:
            return
        try:
            job.kind.check_output(self.output, job)
        except InvalidArgument as error:
            raise InvalidArgument(
                "--output", expected=error.expected, found=error.found, hint=error.hint, names=error.names
            ) from None

    def write(self, release: Release[Any], job: Job[Any]) -> tuple[list[Path], Release[Any]]:
        """Write what was asked for; returns the files, and the release as it was recorded."""
        from veil.core.files import save, write_text

        kept = release
        if self.output is not None and self.record is not None:
            kept = job.kind.write_table(self.output, release, job, overwrite=self.force)
            save(kept, self.record, overwrite=self.force)
        elif self.output is not None:
            save(release, self.output, overwrite=self.force)
        if self.report is not None:
            write_text(self.report, job.kind.page(release, plan=job.plan), overwrite=self.force)
        return [path for path in (self.output, self.record, self.report) if path is not None], kept
