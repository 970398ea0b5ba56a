"""Where a release goes: the same for everything that is released."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from veil.cli.output import check_ending, print_json, refuse_existing, working

if TYPE_CHECKING:
    from veil.core.record import Release


@dataclass(frozen=True, slots=True)
class Keeping:
    """The files that a release is to be written to.

    tables: endings of files that hold the value alone. record: beside such a file.
    """

    output: Path | None
    report: Path | None
    force: bool
    as_json: bool
    tables: Sequence[str] = (".csv",)

    @property
    def record(self) -> Path | None:
        name = "" if self.output is None else self.output.name
        # The longest first: .csv.gz before .gz.
        for ending in sorted(self.tables, key=len, reverse=True):
            if self.output is not None and name.lower().endswith(ending):
                return self.output.with_name(name[: -len(ending)] + ".json")
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

    def write(
        self, release: Release, page: Callable[[], str], table: Callable[[Path], None] | None = None
    ) -> list[Path]:
        """Write what was asked for; with --json also print the record. Returns the files.

        table: writes the value alone to a file, where that is not for `save` to do.
        """
        from veil.core.files import save, to_json, write_text

        if self.output is not None and self.record is not None and table is not None:
            table(self.output)
        elif self.output is not None:
            save(release, self.output, overwrite=self.force)
        if self.record is not None:
            save(release, self.record, overwrite=self.force)
        if self.report is not None:
            with working("Drawing the report", quiet=self.as_json):
                write_text(self.report, page(), overwrite=self.force)
        if self.as_json:
            import json

            print_json(json.loads(to_json(release)))
        return [path for path in (self.output, self.record, self.report) if path is not None]


def chain_page(release: Release) -> str:
    """The report of a released matrix or chain."""
    from veil.matrices.report.chain import ChainReport

    return ChainReport.of_release(release).html()
