"""Commands on chains and matrices."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from veil.core.errors import InvalidArgument, InvalidData
from veil.core.files import holds_release, parse_release
from veil.core.kind import Progress
from veil.core.record import Release
from veil.core.request import CommandRequest, option
from veil.core.writing import write_text
from veil.matrices.chain import Chain
from veil.matrices.chain_summary import ChainComparison, to_chain
from veil.matrices.reading import matrix_of
from veil.matrices.report.chain import ChainReport
from veil.report.terminal import say
from veil.tables.files import decoded
from veil.tables.reading import read_table


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
        chain, release = read_chain(self.source, self.group)
        if release is None:
            page = ChainReport.of(chain, group=self.group)
        else:
            kind: Any = release.kind
            page = kind.chain_report(release, self.group)
        other = None if self.against is None else chain.compare(read_chain(self.against)[0])
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
            say(f"Written: {self.report}")


def read_chain(path: str, group: str | None = None) -> tuple[Chain, Release[Any] | None]:
    """The chain in a file: a release of Veil (which is returned too), or a matrix in CSV or JSON.

    group: of a release with a chain for each group, that one's.
    """
    read = read_table(path, expected="a matrix", typed=(), small=True, documents=True)
    name, text = read.name, decoded(read.raw, read.name)
    if not holds_release(text):
        if group is not None:
            raise InvalidArgument("group", expected="a release with groups", found="a plain matrix")
        return Chain(matrix_of(read)), None
    release = parse_release(text, name, record=Path(path))
    # Kinds whose releases are chains have this method.
    chain_of = getattr(release.kind, "chain", lambda release, group: to_chain(release))
    try:
        return chain_of(release, group), release
    except InvalidArgument as error:
        if error.field == "group":
            raise
        raise InvalidData.at(name, error, hint="`veil inspect` explains it.") from None
