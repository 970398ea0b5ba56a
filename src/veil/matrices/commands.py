"""Commands on chains and matrices."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from veil.core.kind import Progress
from veil.core.request import CommandRequest, option
from veil.matrices.chain_comparison import ChainComparison
from veil.matrices.chain_summary import read_chain
from veil.matrices.report.chain import ChainReport


@dataclass(frozen=True, kw_only=True)
class AnalyseChain(CommandRequest):
    """Analyse a chain, released or public: stationary distribution, mixing, classes, pictures.

    Of a release it also gives error bars for the true chain, from public information alone.
    """

    examples = (("", {"source": "private.json", "report": "chain.html"}),)

    source: str = option(help="A release (.json), or a public chain: CSV or JSON, - for a pipe.", flag="FILE")
    against: str | None = option(None, help="Another chain on the same states, to compare with.")
    group: str | None = option(None, help="Of a release with groups: the chain of this one.")
    report: Path | None = option(None, help="Also write an HTML report here.", group="Output")

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.source,) if self.against is None else (self.source, self.against)

    @property
    def outputs(self) -> dict[str, tuple[Path | None, tuple[str, ...]]]:
        return {"report": (self.report, (".html",))}

    def run(self, *, overwrite: bool, progress: Progress | None = None) -> ChainAnalysis:
        from veil.core.files import write_text

        found, release = read_chain(self.source, self.group)
        if release is None:
            page = ChainReport.of(found, group=self.group)
        else:
            kind: Any = release.kind
            page = kind.chain_report(release, self.group)
        other = None if self.against is None else found.compare(read_chain(self.against)[0])
        if self.report is not None:
            write_text(self.report, page.html(), overwrite=overwrite)
        return ChainAnalysis(page, other, self.against, self.report)


@dataclass(frozen=True, slots=True)
class ChainAnalysis:
    """What there is to say of a chain, and how another one differs."""

    page: ChainReport
    comparison: ChainComparison | None
    against: str | None
    report: Path | None

    def to_dict(self) -> dict[str, Any]:
        content = self.page.to_dict()
        return content if self.comparison is None else content | {"comparison": self.comparison.to_dict()}

    def show(self) -> None:
        from veil.matrices.report.console import print_chain, print_comparison_of_chains

        print_chain(self.page)
        if self.comparison is not None:
            print_comparison_of_chains(self.comparison, str(self.against))
        if self.report is not None:
            print(f"Written: {self.report}")
