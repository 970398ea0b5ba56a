"""Chains that are counted from data, as a kind of data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from veil.chains.adjacency import Transitions
from veil.core.adjacency import Adjacency
from veil.core.baseline import Baseline
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.intake import Labels, checked_labels
from veil.core.job import Job
from veil.core.kind import Content, Kind, Places
from veil.core.mechanism import LAYOUT_IS_PUBLIC, ROW_BY_ROW, STATES_ARE_PUBLIC, Mechanism
from veil.core.record import Release
from veil.matrices.chain import Chain
from veil.vectors.array_kind import FLOAT_TEXT
from veil.version import __version__

if TYPE_CHECKING:
    from veil.chains.mechanisms.private_chain import PrivateChain
    from veil.core.request import PlanRequest
    from veil.matrices.report.chain import ChainReport

ONE_SEQUENCE_EACH = "one sequence per person: each sequence belongs to someone else"
# Who is a neighbour does not depend on how much is counted of a user.
_ANY_CAP = 1
# Another chain than the one that its tables give would differ by more than the rounding of a computation.
_SAME = 1e-6
# A stated number of transitions that is so far off, as a share of it, is worth a word.
_FAR = 0.1


class ChainKind(Kind):
    """Markov chains that are counted from trips, logs or sequences."""

    name = "chain"
    module = "veil.chains"
    description = "Markov chains counted from a table of trips, a log or sequences"
    built_on: ClassVar[tuple[str, ...]] = ("matrix", "vector")
    mechanisms: ClassVar[Places] = {"PrivateChain": "veil.chains.mechanisms.private_chain:PrivateChain"}
    domains: ClassVar[Places] = {"TransitionTable": "veil.chains.transition_counts:TransitionTable"}
    adjacencies: ClassVar[Places] = {"Transitions": "veil.chains.adjacency:Transitions"}
    short_adjacencies: ClassVar[Any] = {
        "event": lambda size: Transitions("event"),
        "event-replace": lambda size: Transitions("event", "replace"),
        "row": lambda size: Transitions("row"),
        "row-replace": lambda size: Transitions("row", "replace"),
        "user": lambda size: Transitions("user", cap=_ANY_CAP),
        "user-replace": lambda size: Transitions("user", "replace", _ANY_CAP),
    }
    read_request: ClassVar[str | None] = "veil.chains.reading:ChainRead"
    release_request: ClassVar[str | None] = "veil.chains.requests:ChainRelease"
    plan_request: ClassVar[str | None] = "veil.chains.requests:ChainPlanning"
    release_printer = "veil.chains.report.summary:print_chain_release"
    commands: ClassVar[Places] = {
        "synth": "veil.chains.sequences.make_synthetic:MakeSynthetic",
        "groups": "veil.chains.released_groups:ListGroups",
    }
    audit_subject = "veil.chains.auditing:ChainAudit"

    def followups(self) -> Places:
        """What can be done with any chain, and with one that was counted."""
        from veil.matrices.kind import MatrixKind

        return {**MatrixKind.commands, **self.commands}

    def check(self, mechanism: Mechanism, adjacency: Adjacency, valid: Any) -> None:
        """That no user has more transitions counted than neighbours may differ by."""
        if not isinstance(adjacency, Transitions):
            return
        if adjacency.unit != "user" and valid.cap is not None:
            raise InvalidArgument(
                "adjacency",
                expected="whole users, since the counts hold at most so many transitions of each",
                found=repr(adjacency.unit),
                hint="One event more can change which of a user's transitions are counted.",
            )
        if adjacency.cap is not None and (valid.cap is None or valid.cap > adjacency.cap):
            raise InvalidData(
                "counts", expected=f"a cap of at most {adjacency.cap} transitions a user", found="another"
            )

    def labels(self, value: Any, valid: Any) -> tuple[Labels | None, Labels | None]:
        states = tuple(map(str, valid.states))
        return states, states

    def assumptions(self, mechanism: Mechanism, adjacency: Adjacency, valid: Any) -> tuple[str, ...]:
        origin, of_users = valid.provenance, isinstance(adjacency, Transitions) and adjacency.unit == "user"
        applies = {
            ROW_BY_ROW: origin.unchecked,
            STATES_ARE_PUBLIC: origin.states_found,
            LAYOUT_IS_PUBLIC: origin.layout_guessed,
            ONE_SEQUENCE_EACH: origin.without_names and of_users,
        }
        return (*mechanism.assumptions(adjacency), *(text for text, holds in applies.items() if holds))

    def data_findings(self, job: Job[Any]) -> tuple[str, ...]:
        """States and groups without transitions, and another number of transitions than was stated."""
        counts, stated = job.value, job.records
        silent = int((np.asarray(counts.matrix.sum(axis=1)) == 0).sum())
        groups = counts.groups or {}
        empty = sum(not table.any() for table in groups.values())
        off = stated is not None and abs(counts.total - stated) > _FAR * stated
        found = {
            f"{silent:,} of {len(counts):,} states have no transition out of them: their rows are noise "
            "alone": silent > 0,
            f"{empty:,} of {len(groups):,} groups have no transition: their chains are noise alone": empty
            > 0,
            f"{counts.total:,} transitions were counted, where {{records}} is {stated}": off,
        }
        return tuple(text for text, applies in found.items() if applies)

    def implied_assumptions(self, release: Release[Any]) -> tuple[str, ...]:
        return release.mechanism.assumptions(release.adjacency)

    def released(self, drawn: Any, valid: Any) -> Content:
        return Content(drawn.model.chain, drawn.tables)

    # Files

    def encode(self, release: Release[Any]) -> dict[str, Any]:
        rows = {} if release.row_labels is None else {"row_labels": list(release.row_labels)}
        # Numbers stay numbers, so that the chain that is read back has the same states.
        states = [state if type(state) in (int, str) else str(state) for state in release.value.states]
        return {"type": "chain", "labels": states, **rows, "data": release.value.to_numpy().tolist()}

    def decode(self, content: Mapping[str, Any], mechanism: Any) -> Content:
        value = content["value"]
        labels, row_labels = checked_labels(value["labels"]), checked_labels(value.get("row_labels"))
        matrix = np.array(value["data"], dtype=np.float64)
        states = mechanism.states
        if matrix.shape != (states, states):
            raise InvalidArgument("value", expected=f"{states} states", found=f"shape {matrix.shape}")
        if row_labels is not None and len(row_labels) != states:
            raise InvalidArgument("value", expected="one label for each row", found="another number")
        chain = Chain(matrix, states=value["labels"])
        if len(set(map(str, chain.states))) != len(chain):
            raise InvalidArgument("labels", expected="labels that all differ", found="one that occurs twice")
        tables = _tables(mechanism, content.get("tables", {}))
        # Another version may have made another chain of the same tables: its files stay readable.
        if content["veil"] == __version__:
            from veil.chains.estimation.transition_table import RANKS

            # Computed elsewhere, a close choice between numbers of dimensions may have fallen differently.
            made = (mechanism.model(tables, chain.states, rank=rank).chain for rank in (None, *RANKS))
            if all(np.abs(one.to_numpy() - matrix).max() > _SAME for one in made):
                raise InvalidArgument("value", expected="the chain that the tables give", found="another")
        return Content(chain, tables, labels, row_labels)

    def room(self, job: Job[Any]) -> int:
        cells = sum(math.prod(part.shape) for part in job.mechanism.parts)  # type: ignore[attr-defined]
        return super().room(job) + FLOAT_TEXT * (cells + len(job.labels or ()) ** 2)

    def rows(self, release: Release[Any]) -> tuple[Sequence[Any], Sequence[Sequence[Any]]]:
        from veil.matrices.kind import matrix_lines

        return matrix_lines(release.value.to_numpy(), release.row_labels, release.labels)

    def to_pandas(self, release: Release[Any]) -> Any:
        return release.value.to_pandas()

    # Words

    def size(self, release: Release[Any]) -> str:
        return f"{len(release.value):,} states"

    def sizes(self, release: Release[Any]) -> dict[str, Any]:
        return {"shape": (len(release.value),) * 2}

    def details(self, release: Release[Any]) -> tuple[str, ...]:
        from veil.chains.report.summary import also_holds

        further = also_holds(release)
        return () if further is None else (further,)

    # Pictures and pages

    def chain(self, release: Release[Any], group: str | None = None) -> Chain:
        """The released chain, or that of one group."""
        from veil.chains.sequence_model import group_chain

        chain: Chain = release.value if group is None else group_chain(release, group)
        return chain

    def chain_report(self, release: Release[Any], group: str | None = None) -> ChainReport:
        """The analysis of the released chain, or of that of one group."""
        from veil.chains.report.page import CountedReport
        from veil.matrices.report.chain import ChainReport

        if group is not None:
            return ChainReport.of(self.chain(release, group), group=group)
        return CountedReport.of_release(release)

    def baselines(self, release: Release[Any]) -> tuple[Baseline, ...]:
        from veil.chains.report.summary import baselines_of

        return baselines_of(release)

    def known_before(self, job: Job[Any]) -> tuple[Baseline, ...]:
        from veil.chains.planning import baseline_of, measured, typical_tables

        mechanism: Any = job.mechanism
        if job.records is None or mechanism.groups is not None or mechanism.strata:
            # It depends on how many transitions there are, which is not public.
            return ()
        tables = typical_tables(mechanism.states, job.records)
        return (baseline_of(tables, measured("as asked", mechanism, tables).row_tv),)

    def page(self, release: Release[Any], *, plan: Any = None, record: Path | None = None) -> str:
        from veil.chains.report.page import CountedReport

        return CountedReport.of(release.value, release).html()

    def card(self, release: Release[Any]) -> str:
        from veil.matrices.kind import chain_card

        return chain_card(release.value)

    def views(self, release: Release[Any]) -> Sequence[Any]:
        from veil.chains.report.views import counted_views

        return counted_views(release)

    def plot(self, release: Release[Any]) -> Any:
        return release.value.plot()

    def check_plot(self, request: PlanRequest) -> None:
        if getattr(request, "tries_users", False):
            raise InvalidArgument("plot", expected="none where users are tried out", found="a file")

    def plot_plans(self, plans: Sequence[Any], chosen: float) -> Any:
        from veil.matrices.report.figures import plan_figure

        return plan_figure(plans, chosen)


def _tables(mechanism: PrivateChain, content: Any) -> dict[str, NDArray[Any]]:
    """The private tables of a file, checked to be those that the mechanism makes."""
    from veil.vectors.simplex import Simplex

    tables = {}
    for part in mechanism.parts:
        table = np.array(content[part.key])
        if table.shape != part.shape or table.dtype.kind not in ("i" if part.is_noisy_counts else "fi"):
            kind = "whole numbers" if part.is_noisy_counts else "numbers"
            expected = f"{part.key}: {kind} of shape {part.shape}"
            raise InvalidArgument("tables", expected=expected, found="something else")
        if not part.is_noisy_counts:
            Simplex(part.shape[-1]).validate(table)
        tables[part.key] = table.astype(np.int64 if part.is_noisy_counts else np.float64)
    return tables
