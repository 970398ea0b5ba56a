"""What a person can look at of a chain of very many states: the busiest ones, and the flows among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from veil.core.job import Job
from veil.core.record import MOST_SHOWN, Release
from veil.matrices.back_off import BackOffChain
from veil.matrices.chain import Chain
from veil.matrices.report.chain import ChainReport
from veil.report.console import bar, new_console, print_guarantee, print_written
from veil.report.figures import short_labels

if TYPE_CHECKING:
    from veil.chains.mechanisms.sparse_chain import SparseChain

# Pictures of so many states; flows and states in lists; states that can be searched.
_MOST_FLOWS, _MOST_LISTED, _MOST_SEARCHED, _MOST_NEXT = 30, 12, 3_000, 5


@dataclass(frozen=True, slots=True)
class Flow:
    """A frequent step: its share of all, and its probability."""

    origin: str
    end: str
    share: float
    probability: float


@dataclass(frozen=True, slots=True)
class BusyState:
    """A state: its share of time, its likely next states, and how often the law is followed instead."""

    name: str
    share: float
    next: tuple[tuple[str, float], ...]
    rest: float


def flows(chain: BackOffChain, most: int = _MOST_FLOWS) -> tuple[Flow, ...]:
    """The most frequent steps that have a probability of their own."""
    own, shares, names = chain.likely.tocoo(), chain.stationary(), chain.states
    probabilities = own.data + chain.rest[own.row] * chain.law[own.col]
    joint = shares[own.row] * probabilities
    first = np.argpartition(-joint, min(most, len(joint)) - 1)[:most] if len(joint) else np.zeros(0, np.intp)
    order = first[np.argsort(-joint[first], kind="stable")]
    return tuple(
        Flow(str(names[own.row[k]]), str(names[own.col[k]]), float(joint[k]), float(probabilities[k]))
        for k in order.tolist()
    )


def busiest(chain: BackOffChain, most: int) -> tuple[BusyState, ...]:
    """The states with the largest share of time."""
    shares, likely, states = chain.stationary(), chain.likely, []
    first = np.argpartition(-shares, min(most, len(shares)) - 1)[:most]
    for place in first[np.argsort(-shares[first], kind="stable")].tolist():
        part = slice(likely.indptr[place], likely.indptr[place + 1])
        ends = likely.indices[part]
        probabilities = likely.data[part] + chain.rest[place] * chain.law[ends]
        best = np.argsort(-probabilities, kind="stable")[:_MOST_NEXT]
        following = tuple((str(chain.states[ends[k]]), float(probabilities[k])) for k in best.tolist())
        rest = float(chain.rest[place])
        states.append(BusyState(str(chain.states[place]), float(shares[place]), following, rest))
    return tuple(states)


class SparseReport(ChainReport):
    """The report of a chain of which only large counts were kept."""

    template: ClassVar[str] = "sparse_chain.html"
    packages: ClassVar[tuple[str, ...]] = ("veil.chains.report", "veil.matrices.report")
    secret: ClassVar[str] = "data"

    @classmethod
    def _intervals(cls, release: Release[Any]) -> None:  # type: ignore[override]
        return None

    @classmethod
    def of(cls, chain: Chain, release: Release[Any] | None = None, *, group: str | None = None) -> Self:
        """The report without error bars: they need the noisy counts of all pairs of states."""
        report = super().of(chain, release, group=group)
        why = "they need the noisy counts of all pairs of states, and only large ones were kept"
        return replace(report, no_bars=why)

    @cached_property
    def kept(self) -> Kept:
        """What the release keeps."""
        assert self.release is not None
        return Kept.of(self.release)

    def extra_content(self) -> dict[str, Any]:
        chain: Any = self.chain
        return {
            "kept": self.kept,
            "flows_listed": flows(chain),
            "searched": [
                [state.name, state.share, [list(one) for one in state.next], state.rest]
                for state in busiest(chain, _MOST_SEARCHED)
            ],
        }


@dataclass(frozen=True, slots=True)
class Kept:
    """What a release keeps: of how many pairs, from which noisy count on, of empty ones about how many."""

    pairs: int
    threshold: int
    cells: int
    false: float
    own_share: float
    once: bool

    @classmethod
    def of(cls, release: Release[Any]) -> Kept:
        """From a release."""
        from veil.chains.sparse.choosing import expected_pairs

        chain = release.value
        mechanism: SparseChain = release.mechanism.on(len(chain))  # type: ignore[attr-defined]
        own = float(chain.stationary() @ (1.0 - chain.rest))
        pairs = len(release.tables["cells"])
        return cls(
            pairs, mechanism.threshold, mechanism.cells, expected_pairs(mechanism), own, mechanism.once
        )

    @property
    def words(self) -> str:
        """In two sentences."""
        told = "by each user once" if self.once else "in all"
        # Expected if no pair had a count: where pairs have one, fewer are false.
        false = min(self.false, float(self.pairs))
        return (
            f"Of {self.cells:,} pairs of states {self.pairs:,} have a noisy count ({told}) of at least "
            f"{self.threshold:,}, at most about {false:,.0f} of them although nobody went there. "
            f"{100 * self.own_share:.3g} % of the steps have a probability of their own; the others follow "
            "one law that all states share."
        )


def card(chain: BackOffChain) -> str:
    """The rows of a small HTML table: the busiest states, and where they lead."""
    from veil.core.brief import card_rows

    lines = []
    for state in busiest(chain, MOST_SHOWN):
        to, probability = state.next[0] if state.next else ("any state", state.rest)
        lines.append((state.name, f"{state.share:.4f}", to, f"{probability:.3f}"))
    header = ("state", "share of time", "mostly to", "probability")
    return card_rows(header, lines) + card_rows((), [(f"the first of {len(chain):,} states",)])


def print_sparse_release(release: Release[Any], *, job: Job[Any], written: Sequence[Path]) -> None:
    """The busiest states, the most frequent steps, what was kept and what is guaranteed."""
    from rich.table import Column, Table

    console, chain = new_console(), release.value
    table = Table("state", Column("long-run share", justify="right"), "", box=None, pad_edge=False)
    states = busiest(chain, _MOST_LISTED)
    names = short_labels([state.name for state in states], 38, drawn=False)
    for name, state in zip(names, states, strict=True):
        table.add_row(name, f"{state.share:.4f}", bar(state.share / states[0].share))
    console.print(table)
    if len(chain) > len(states):
        console.print(f"and {len(chain) - len(states):,} more")
    console.print()
    console.print("Most frequent transitions:")
    for flow in flows(chain, 8):
        start, end = (short_labels([name], 48, drawn=False)[0] for name in (flow.origin, flow.end))
        console.print(f"  {100 * flow.share:6.3f} %  {start} -> {end}")
    console.print()
    console.print(Kept.of(release).words)
    for text in release.kind.details(release):
        console.print(text)
    print_guarantee(console, release)
    console.print(f"Mechanism: {job.chosen}: {job.why}.")
    later = (text for text in job.warnings if text not in job.told_first)
    for text in (*job.notes, *(f"WARNING: {text}" for text in later)):
        console.print(f"{text}.")
    print_written(console, written)
