"""Where a release goes: the same for everything that is released."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from veil.cli.output import check_ending, print_json, refuse_existing, working

if TYPE_CHECKING:
    from veil.releases.record import Release


@dataclass(frozen=True, slots=True)
class Keeping:
    """The files that a release is to be written to. record: beside a CSV, which holds the value alone."""

    output: Path | None
    report: Path | None
    force: bool
    as_json: bool

    @property
    def record(self) -> Path | None:
        if self.output is None or self.output.suffix.lower() != ".csv":
            return None
        return self.output.with_suffix(".json")

    def check(self, inputs: Sequence[str]) -> None:
        """Before any work: endings that are known, places that are free."""
        check_ending("--output", self.output, (".json", ".csv"))
        check_ending("--report", self.report, (".html",))
        outputs = {
            "--output": self.output,
            "the record beside --output": self.record,
            "--report": self.report,
        }
        refuse_existing(outputs, force=self.force, inputs=inputs)

    def write(self, release: Release, page: Callable[[], str]) -> list[Path]:
        """Write what was asked for; with --json also print the record. Returns the files."""
        from veil.releases.files import save, to_json, write_text

        for path in (self.output, self.record):
            if path is not None:
                save(release, path, overwrite=self.force)
        if self.report is not None:
            with working("Drawing the report", quiet=self.as_json):
                write_text(self.report, page(), overwrite=self.force)
        if self.as_json:
            import json

            print_json(json.loads(to_json(release)))
        return [path for path in (self.output, self.record, self.report) if path is not None]


def chain_page(release: Release) -> str:
    """The report of a released matrix or chain."""
    from veil.report.chain import ChainReport

    return ChainReport.of_release(release).html()
