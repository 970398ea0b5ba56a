"""The files that a command writes, checked before any work."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    endings: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Before any work: no output may be an input, be named twice, or overwrite a file unless asked to.

    endings: those that are known of each option, since the ending decides the format.
    """
    for option, known in (endings or {}).items():
        path = outputs[option]
        if path is not None and not path.name.lower().endswith(tuple(known)):
            expected = "a name that ends in " + " or ".join(known)
            raise InvalidArgument(option, expected=expected, found=path.name)
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
        try:
            # A release that cannot be kept would be paid for all the same.
            tempfile.TemporaryFile(dir=path.parent).close()
        except OSError:
            found = f"{path.parent}, which cannot"
            raise OutputExists(option, expected="a folder that can be written to", found=found) from None


@dataclass(frozen=True)
class OutputFiles:
    """The files that a release is to be written to.

    record: what is written beside a table, which holds the value alone.
    """

    output: Path | None
    record: Path | None
    report: Path | None
    force: bool

    @classmethod
    def checked(
        cls,
        output: Path | None,
        report: Path | None,
        *,
        force: bool,
        tables: Sequence[str],
        inputs: Sequence[str],
    ) -> OutputFiles:
        """Before any work: endings that are known, places that are free. tables: the endings of tables."""
        record = None
        # The longest last, which stays: .csv.gz after .gz.
        for ending in sorted(tables, key=len):
            if output is not None and output.name.lower().endswith(ending):
                record = output.with_name(output.name[: -len(ending)] + ".json")
        outputs = {"--output": output, "the record beside --output": record, "--report": report}
        endings = {"--output": (".json", *tables), "--report": (".html",)}
        refuse_existing(outputs, force=force, inputs=inputs, endings=endings)
        return cls(output, record, report, force)

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
