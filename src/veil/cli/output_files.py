"""The files that a command writes, checked before any work."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veil.core.checks import plain_texts
from veil.core.errors import InvalidArgument, OutputExists

if TYPE_CHECKING:
    from veil.core.job import Job
    from veil.core.record import Release


PICTURES = (".svg", ".png", ".pdf")


def refuse_existing(
    outputs: Mapping[str, Path | None],
    *,
    force: bool,
    inputs: Sequence[str | Path] = (),
    ledgers: Sequence[Path] = (),
    endings: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Before any work: no output may be an input, be named twice, or overwrite a file unless asked to.

    A file counts as the same by whatever name or link. ledgers: further files that are never overwritten.
    endings: those that are known of each option, since the ending decides the format.
    """
    for option, known in (endings or {}).items():
        path = outputs[option]
        if path is not None and not path.name.lower().endswith(tuple(known)):
            expected = "a name that ends in " + " or ".join(known)
            raise InvalidArgument(option, expected=expected, found=path.name)
    taken: dict[object, str] = {}
    for source in inputs:
        if str(source) != "-":
            taken |= dict.fromkeys(_identities(Path(source)), "the input")
    taken |= dict.fromkeys((one for path in ledgers for one in _identities(path)), "the ledger")
    for option, path in outputs.items():
        if path is None:
            continue
        places = _identities(path)
        which = next((taken[place] for place in places if place in taken), None)
        if which is not None:
            raise OutputExists(option, expected="a file of its own", found=f"{path}, which is {which}")
        taken |= dict.fromkeys(places, option)
        if path.exists() and not path.is_file():
            found = f"{path}, which is {'a folder' if path.is_dir() else 'no file'}"
            raise OutputExists(option, expected="a file", found=found)
        if path.exists() and not force:
            hint = "Add --force to overwrite it."
            raise OutputExists(option, expected="a new file", found=f"{path} exists already", hint=hint)
        if not path.parent.is_dir():
            raise OutputExists(option, expected="an existing folder", found=f"no folder {path.parent}")
        try:
            # A release that cannot be kept would be paid for all the same.
            tempfile.TemporaryFile(dir=path.parent).close()
        except OSError:
            found = f"{path.parent}, which cannot"
            raise OutputExists(option, expected="a folder that can be written to", found=found) from None


def _identities(path: Path) -> list[object]:
    """The place that a path leads to, and the file that is there, which may have further names."""
    place: list[object] = [path.resolve()]
    with suppress(OSError):
        found = path.stat()
        place.append((found.st_dev, found.st_ino))
    return place


@dataclass(frozen=True)
class OutputFiles:
    """The files that a release is to be written to.

    record: what is written beside a table, which holds the value alone.
    """

    output: Path | None
    record: Path | None
    report: Path | None
    force: bool
    csv_safe: bool = False

    @classmethod
    def checked(
        cls,
        output: Path | None,
        report: Path | None,
        *,
        force: bool,
        tables: Sequence[str],
        inputs: Sequence[str],
        ledgers: Sequence[Path] = (),
        csv_safe: bool = False,
    ) -> OutputFiles:
        """Before any work: endings that are known, places that are free. tables: the endings of tables."""
        record = None
        # The longest last, which stays: .csv.gz after .gz.
        for ending in sorted(tables, key=len):
            if output is not None and output.name.lower().endswith(ending):
                record = output.with_name(output.name[: -len(ending)] + ".json")
        outputs = {"--output": output, "the record beside --output": record, "--report": report}
        endings = {"--output": (".json", *tables), "--report": (".html",)}
        refuse_existing(outputs, force=force, inputs=inputs, ledgers=ledgers, endings=endings)
        if output is not None and record is not None:
            # The record names the table beside it.
            plain_texts("--output", [output.name])
        return cls(output, record, report, force, csv_safe)

    def check_output_stream(self) -> None:
        """Before any work: a result that nobody could see."""
        if self.first is None and sys.stdout is None:
            expected = "a file, since standard output is closed"
            raise InvalidArgument("--output", expected=expected, found="none")

    def check_job(self, job: Job[Any]) -> None:
        """Before the charge: a table that could not hold the value, files beside that are there already."""
        record = self.record or self.output
        for path in (
            () if record is None or record.suffix.lower() != ".json" else job.kind.files_beside(record)
        ):
            refuse_existing({"a file beside --output": path}, force=self.force, inputs=[])
        if self.output is None or self.record is None:
            return
        try:
            job.kind.check_output(self.output, job, csv_safe=self.csv_safe)
        except InvalidArgument as error:
            field = "--csv-safe" if error.field == "csv_safe" else "--output"
            raise InvalidArgument(
                field, expected=error.expected, found=error.found, hint=error.hint, names=error.names
            ) from None

    @property
    def first(self) -> Path | None:
        """The file that holds the result; None where there is none, and standard output must do."""
        return self.output or self.report

    @property
    def has_further_report(self) -> bool:
        """Whether there is a report besides the file that holds the result."""
        return self.output is not None and self.report is not None

    @property
    def places(self) -> dict[str, Path]:
        """The files by their options."""
        named = {"--output": self.output, "the record beside --output": self.record, "--report": self.report}
        return {option: path for option, path in named.items() if path is not None}

    def write(self, release: Release[Any], job: Job[Any]) -> tuple[list[Path], Release[Any]]:
        """Write the result; returns the files, and the release as it was recorded."""
        from veil.core.files import save

        kept = release
        if self.output is not None and self.record is not None:
            kept = job.kind.write_table(
                self.output, release, job, overwrite=self.force, csv_safe=self.csv_safe
            )
            kept = save(kept, self.record, overwrite=self.force)
        elif self.output is not None:
            kept = save(release, self.output, overwrite=self.force)
        else:
            return self.write_report(release, job), kept
        written = [path for path in (self.output, self.record) if path is not None]
        folder = written[-1].parent
        beside = [folder / file.file for file in kept.attachments.values()]
        return [*written, *(path for path in beside if path not in written)], kept

    def write_report(self, release: Release[Any], job: Job[Any]) -> list[Path]:
        """Write the report, if there is to be one; returns its file."""
        from veil.core.writing import write_text

        if self.report is None:
            return []
        write_text(self.report, job.kind.page(release, plan=job.plan), overwrite=self.force)
        return [self.report]
