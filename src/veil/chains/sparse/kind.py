"""Counted chains of many states, of which only large counts are kept, as a form of released chains.

They are asked for, read and released as chains are. Their files, pages and audits are their own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from veil.chains.adjacency import Transitions
from veil.chains.kind import ChainKind
from veil.chains.transition_counts import TransitionCounts
from veil.core.adjacency import Adjacency
from veil.core.baseline import Baseline
from veil.core.checks import shown
from veil.core.errors import InvalidArgument
from veil.core.intake import Labels
from veil.core.job import Job
from veil.core.kind import Content, Kind, Places
from veil.core.mechanism import Mechanism
from veil.core.record import Release
from veil.matrices.chain import Chain

if TYPE_CHECKING:
    from veil.matrices.report.chain import ChainReport

# Bytes that a kept pair and a state take in a file, with what stands around them.
_PAIR, _STATE = 40, 200
_SILENT_FROM = 0.5


class SparseChainKind(ChainKind):
    """Chains of many states: the large noisy counts, and one law for all other steps."""

    name = "sparse-chain"
    description = "Counted chains of many states, of which large counts are kept"
    built_on = ("chain", "matrix", "vector")
    mechanisms: ClassVar[Places] = {
        "SparseChain": "veil.chains.mechanisms.sparse_chain:SparseChain",
        "DiscoveredChain": "veil.chains.mechanisms.discovered_chain:DiscoveredChain",
    }
    domains: ClassVar[Places] = {"FoundTransitions": "veil.chains.transition_counts:FoundTransitions"}
    adjacencies: ClassVar[Places] = {}
    short_adjacencies: ClassVar[Any] = {}
    # They are released as chains: `veil release chain`.
    read_request = None
    release_request = None
    plan_request = None
    release_printer = "veil.chains.sparse.report:print_sparse_release"
    commands: ClassVar[Places] = {}
    audit_subject = "veil.chains.sparse.auditing:KeptCountsAudit"

    def check(self, mechanism: Mechanism, adjacency: Adjacency, valid: Any) -> None:
        super().check(mechanism, adjacency, valid)
        if isinstance(adjacency, Transitions) and adjacency.unit == "user" and valid.cap is None:
            raise InvalidArgument("adjacency", expected="counts with a cap", found="counts without one")

    def data_findings(self, job: Job[Any]) -> tuple[str, ...]:
        """How many states have no transition at all, and another number than was stated."""
        counts: TransitionCounts = job.value
        left, entered = counts.margins()
        silent, stated = int(((left == 0) & (entered == 0)).sum()), job.records
        is_listed = counts.visitors is None
        found = {
            f"{silent:,} of {len(counts):,} states have no transition": is_listed
            and silent > _SILENT_FROM * len(counts),
            f"{counts.total:,} transitions were counted, where {{records}} is {stated}": stated is not None
            and abs(counts.total - stated) > 0.1 * stated,
        }
        return tuple(text for text, applies in found.items() if applies)

    def released(self, drawn: Any, valid: Any) -> Content:
        labels = None if drawn.states is None else tuple(map(str, drawn.states))
        return Content(drawn.chain, drawn.tables, labels)

    # Files

    def texts(self, job: Job[Any]) -> Mapping[str, Iterable[Any]]:
        return {"labels": job.labels or ()}

    def files_beside(self, record: Path) -> tuple[Path, ...]:
        from veil.chains.sparse.files import places

        return tuple(places(record).values())

    def write_beside(self, release: Release[Any], record: Path, *, overwrite: bool) -> Release[Any]:
        from veil.chains.sparse.files import written_beside

        return written_beside(release, record, overwrite=overwrite)

    def read_beside(self, content: Mapping[str, Any], record: Path | None) -> Mapping[str, Any]:
        from veil.chains.sparse.files import with_files

        return with_files(content, record)

    def recorded_tables(self, release: Release[Any]) -> dict[str, Any]:
        tables = super().recorded_tables(release)
        if not release.attachments:
            return tables
        return {key: tables[key] for key in release.mechanism.in_record}  # type: ignore[attr-defined]

    def digested_parts(self, release: Release[Any]) -> dict[str, Any]:
        """Of the tables' bytes: the same however they were packed, in the record or beside it."""
        tables = {
            key: hashlib.sha256(table.astype("<i8").tobytes()).hexdigest()
            for key, table in release.tables.items()
        }
        return {"tables": tables, "attachments": {}}

    def encode(self, release: Release[Any]) -> dict[str, Any]:
        from veil.chains.sparse.files import encoded

        return encoded(release)

    def digested(self, release: Release[Any]) -> dict[str, Any]:
        chain = release.value
        probabilities = hashlib.sha256(chain.likely.data.astype("<f8").tobytes())
        probabilities.update(chain.law.astype("<f8").tobytes())
        names = hashlib.sha256("\0".join(map(repr, chain.states)).encode())
        return {"likely": probabilities.hexdigest(), "states": names.hexdigest()}

    def decode(self, content: Mapping[str, Any], mechanism: Any) -> Content:
        from veil.chains.sparse.files import decoded

        return decoded(content, mechanism)

    def room(self, job: Job[Any]) -> int:
        from veil.chains.sparse.choosing import expected_pairs

        # How many are kept of those that are not empty is not public: as many as the false ones, say.
        mechanism: Any = job.mechanism.on(job.mechanism.states)  # type: ignore[attr-defined]
        pairs = int(expected_pairs(mechanism))
        return Kind.room(self, job) + 2 * _PAIR * pairs + _STATE * int(mechanism.states)

    def rows(self, release: Release[Any]) -> tuple[Sequence[Any], Sequence[Sequence[Any]]]:
        """The steps with a probability of their own; then, without a "from", the law of all states."""
        chain = release.value
        entries, names = chain.likely.tocoo(), list(map(str, chain.states))
        own = zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist(), strict=True)
        lines = [[names[i], names[j], repr(p)] for i, j, p in own]
        lines += [["", name, repr(p)] for name, p in zip(names, chain.law.tolist(), strict=True)]
        return ["from", "to", "probability"], lines

    def to_pandas(self, release: Release[Any]) -> Any:
        import pandas

        chain = release.value
        entries, names = chain.likely.tocoo(), np.array(chain.states, dtype=object)
        columns = {"from": names[entries.row], "to": names[entries.col], "probability": entries.data}
        return pandas.DataFrame(columns)

    # Words

    def size(self, release: Release[Any]) -> str:
        return f"{len(release.value):,} states, {len(release.tables['cells']):,} pairs kept"

    def sizes(self, release: Release[Any]) -> dict[str, Any]:
        return {"shape": (len(release.value),) * 2, "pairs_kept": len(release.tables["cells"])}

    def details(self, release: Release[Any]) -> tuple[str, ...]:
        told: tuple[str, ...] = release.mechanism.told(release.tables)  # type: ignore[attr-defined]
        return told

    # Pictures and pages

    def chain(self, release: Release[Any], group: str | None = None) -> Chain:
        _no_group(group)
        chain: Chain = release.value
        return chain

    def chain_report(self, release: Release[Any], group: str | None = None) -> ChainReport:
        from veil.chains.sparse.report import SparseReport

        _no_group(group)
        return SparseReport.of(release.value, release)

    def baselines(self, release: Release[Any]) -> tuple[Baseline, ...]:
        return ()

    def known_before(self, job: Job[Any]) -> tuple[Baseline, ...]:
        return ()

    def page(self, release: Release[Any], *, plan: Any = None, record: Path | None = None) -> str:
        return self.chain_report(release).html()

    def card(self, release: Release[Any]) -> str:
        from veil.chains.sparse.report import card

        return card(release.value)

    def plot(self, release: Release[Any]) -> Any:
        from veil.chains.sparse.report import SparseReport

        return SparseReport.of(release.value, release).figure()

    def labels(self, value: Any, valid: Any) -> tuple[Labels | None, Labels | None]:
        # Which of the states that were found are named is drawn: none may be told before.
        return (tuple(map(str, valid.states)), None) if valid.visitors is None else (None, None)


def _no_group(group: str | None) -> None:
    if group is not None:
        expected = "none, since the release has no groups"
        raise InvalidArgument("group", expected=expected, found=shown(group))
