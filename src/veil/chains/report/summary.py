"""A released chain in a few lines: how wrong it must be expected to be, what it holds; in the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Column, Table

from veil.chains.adjacency import Transitions
from veil.chains.estimation.groups import GroupEstimates
from veil.chains.mechanisms.private_chain import Part, PrivateChain
from veil.chains.planning import ChainPlan, baseline_of, measured
from veil.chains.report.totals import CountedTotal
from veil.chains.sequence_model import model
from veil.chains.user_plan import UserForecast
from veil.core.arrays import Floats
from veil.core.baseline import Baseline
from veil.core.job import Job
from veil.core.numerics.denoise import Noise
from veil.core.record import Release
from veil.matrices.chain import Chain
from veil.matrices.mechanisms.bordered_rows import BorderedRows
from veil.matrices.report.console import print_matrix_plan
from veil.report.console import bar, new_console, print_baselines, print_guarantee, print_written
from veil.report.figures import short_labels
from veil.vectors.counts import Integers

# Beyond it the distribution of the next step is wrong by a third or more.
_LARGE_ERROR = 0.3
# Standard deviations by which counts must exceed what noise alone would show.
_SURE = 3.0
_SEED = 7
_DRAWS = 2
# Cells of groups that are drawn in one simulation; a terminal must not wait for more.
_MOST_CELLS = 120_000
_MOST_STATES, _MOST_ROUTES = 12, 8
_SPOKEN = {
    "starts": "starts",
    "ends": "ends",
    "lengths": "lengths",
    "sizes": "how many leave each state",
    "second": "the state before",
}


@dataclass(frozen=True, slots=True)
class Accuracy:
    """row_tv: the expected error of the next step (total variation), None where nobody can say.

    group_tv: the same within one group. moved: by how much the noise moves a count on average, in the
    table where it does so least and in the one where it does so most. drowned: whether the counts cannot be
    told from noise. capped: whether less could be counted of each user.
    """

    row_tv: float | None
    group_tv: float | None = None
    moved: tuple[float, float] | None = None
    drowned: bool = False
    capped: bool = False

    @classmethod
    def of(cls, release: Release[Any]) -> Accuracy | None:
        """None for a release that was not counted from a table."""
        mechanism, adjacency = release.mechanism, release.adjacency
        if not isinstance(mechanism, PrivateChain) or not isinstance(adjacency, Transitions):
            return None
        parts = [part for part in mechanism.parts if part.of == "transitions"]
        tables = [np.asarray(release.tables[part.key], dtype=np.float64) for part in parts]
        noises = [part.noise for part in parts if part.noise is not None]
        deviations = [noise.deviation for noise in noises]
        held, error, within = model(release), None, None
        if isinstance(parts[0].mechanism, BorderedRows):
            error = _published_error(held.chain, parts[0].mechanism)
        elif mechanism.strata:
            error = _strata_error(release, mechanism, tables)
        elif mechanism.groups is not None:
            error, within = _group_errors(tables[0], parts[0], noises[0])
            deviations = [deviations[0] * math.sqrt(len(tables[0]))]
            tables = [tables[0].sum(axis=0)]
        elif held.sizes is not None:
            counts: Integers = np.rint(held.sizes[:, None] * held.chain.to_numpy()).astype(np.int64)
            if counts.any():
                alone = PrivateChain(mechanism.states, parts)
                error = measured("as released", alone, [counts]).row_tv
        moves = [part.mean_move for part in parts]
        return cls(
            error,
            within,
            (min(moves), max(moves)) if noises else None,
            # One clear stratum is enough.
            drowned=bool(noises) and all(map(is_drowned, tables, deviations)),
            capped=(adjacency.cap or 1) > 1,
        )

    @property
    def words(self) -> str:
        """The expected error in one sentence."""
        start = "Expected error of the next step, by the noise alone:"
        if self.drowned:
            # A simulation would start from counts that are noise themselves.
            return f"{start} not known, since the counts cannot be told from noise."
        if self.row_tv is None and self.group_tv is None:
            return (
                f"{start} not known, since the release does not say how many transitions left each state "
                "(with parts sizes it would)."
            )
        whole = "" if self.group_tv is None else " for all groups together"
        errors = ((self.row_tv, whole), (self.group_tv, " within a group"))
        told = [(100 * error, where) for error, where in errors if error is not None]
        points = [f"{error:.2g} percentage points{where}" for error, where in told]
        return f"{start} {', '.join(points)} (total variation)."

    @property
    def warning(self) -> str | None:
        """What must be said before any of the numbers is believed."""
        if self.drowned or (self.row_tv is not None and self.row_tv > _LARGE_ERROR):
            more = ", a smaller cap," if self.capped else ""
            return (
                "the noise is larger than most counts; these numbers say almost nothing. A larger epsilon"
                f"{more} or merged states would help"
            )
        if self.group_tv is not None and self.group_tv > _LARGE_ERROR:
            return (
                "in single groups the noise is larger than most counts; their chains say almost nothing. A "
                "larger epsilon, fewer groups, or merged states would help"
            )
        return None


def accuracy_of(release: Release[Any]) -> Accuracy | None:
    """`Accuracy.of` a release, computed once."""
    return release.derived("accuracy", lambda: Accuracy.of(release))


def baselines_of(release: Release[Any]) -> tuple[Baseline, ...]:
    """The expected errors of the next step beside those of next states that are all as likely."""
    accuracy, held = accuracy_of(release), model(release)
    if accuracy is None or (held.sizes is None and not held.chain.is_irreducible):
        return ()
    lines = []
    for error, where in ((accuracy.row_tv, ""), (accuracy.group_tv, " within a group")):
        if error is not None:
            line = baseline_of([held.joint()], error)
            # Counts that cannot be told from noise are no better, whatever a simulation that starts from
            # them says.
            expected = max(error, line.nothing) if accuracy.drowned else error
            lines.append(
                replace(line, measure=line.measure.replace(" (", f"{where} (", 1), expected=expected)
            )
    return tuple(lines)


def is_drowned(table: NDArray[Any], deviation: float) -> bool:
    """Whether noisy counts are hardly farther from zero than the noise alone would be."""
    power = float(np.mean(np.square(np.asarray(table, dtype=np.float64)))) / max(deviation, 1e-12) ** 2
    # Of noise alone it is 1 on average, with variance 5 a cell (3 less if Gaussian) unless noise is tiny.
    return power < 1.0 + _SURE * math.sqrt(5.0 / table.size)


def _published_error(chain: Chain, hides: BorderedRows) -> float:
    """Row i is Dirichlet with the public k_i: the mean deviation of an entry, as if it were normal."""
    matrix, k = chain.to_numpy(), np.array(hides.k)[:, None]
    share = chain.stationary() if chain.is_irreducible else np.full(len(matrix), 1.0 / len(matrix))
    deviations = np.sqrt(matrix * (1.0 - matrix) / (k + 1.0))
    return float(share @ deviations.sum(axis=1)) * 0.5 * math.sqrt(2.0 / math.pi)


def _strata_error(release: Release[Any], mechanism: PrivateChain, tables: list[Floats]) -> float | None:
    """Strata that all follow the released chain, with new noise: how far is what comes out from it?"""
    joint, truth = model(release).joint(), model(release).chain.to_numpy()
    if not np.isfinite(joint).all():
        return None
    kept = [part for part in mechanism.parts if part.least or part.of == "lengths"]
    plain, rng, errors = PrivateChain(mechanism.states, kept), np.random.default_rng(_SEED), []
    for _ in range(_DRAWS):
        drawn: dict[str, NDArray[Any]] = dict(release.tables)
        for part, table in zip(mechanism.strata, tables, strict=True):
            # Rounded at random: small counts would all become zero.
            counts = np.floor(joint * max(float(table.sum()), 0.0) + rng.random(joint.shape))
            drawn[part.key] = part.simulated(rng, counts.astype(np.int64))
        again = plain.model(drawn, model(release).chain.states).chain.to_numpy()
        errors.append(float(joint.sum(axis=1) @ _gaps(again, truth)))
    return float(np.mean(errors))


def _group_errors(noisy: Floats, part: Part, noise: Noise) -> tuple[float | None, float | None]:
    """The error of all groups together, and of one group on average over all transitions."""
    counts = GroupEstimates.of(noisy, noise).counts
    step = max(1, math.ceil(counts.size / _MOST_CELLS))
    # Of very many cells a part of the groups: all of them would take too long.
    counts = np.rint(counts[::step])
    if not counts.any():
        return None, None
    rng = np.random.default_rng(_SEED)
    again = GroupEstimates.of(part.simulated(rng, counts), noise).counts
    sizes = counts.sum(axis=2)
    within = float((sizes * _gaps(_rows(again), _rows(counts))).sum() / sizes.sum())
    if step > 1:
        return None, within
    whole, whole_again = counts.sum(axis=0), again.sum(axis=0)
    share = whole.sum(axis=1) / whole.sum()
    return float(share @ _gaps(_rows(whole_again), _rows(whole))), within


def _rows(counts: Floats) -> Floats:
    sizes = counts.sum(axis=-1, keepdims=True)
    return np.asarray(np.where(sizes > 0.0, counts / np.maximum(sizes, 1e-300), 1.0 / counts.shape[-1]))


def _gaps(estimate: Floats, truth: Floats) -> Floats:
    return np.asarray(0.5 * np.abs(estimate - truth).sum(axis=-1))


def also_holds(release: Release[Any]) -> str | None:
    """One line of what a release holds beside its transitions."""
    mechanism = release.mechanism
    if not isinstance(mechanism, PrivateChain):
        return None
    tables = [words for of, words in _SPOKEN.items() if of in mechanism.first]
    said = [", ".join(tables)] if tables else []
    if mechanism.groups is not None:
        names = ", ".join(mechanism.groups[:3]) + (", ..." if len(mechanism.groups) > 3 else "")
        said.append(f"{len(mechanism.groups)} groups ({names})")
    if mechanism.strata:
        said.append(f"transitions in {len(mechanism.strata)} tables, by the length of the sequences")
    return f"Also holds: {'; '.join(said)}." if said else None


def print_chain_release(release: Release[Any], *, job: Job[Any], written: Sequence[Path]) -> None:
    """Where the chain spends its time, its most frequent transitions, and what is guaranteed."""
    console = new_console()
    chain = release.value
    names = list(map(str, chain.states))
    if chain.is_irreducible:
        shares = chain.stationary()
        order = np.argsort(-shares, kind="stable")[:_MOST_STATES]
        table = Table("state", Column("long-run share", justify="right"), "", box=None, pad_edge=False)
        top = short_labels([names[i] for i in order], 38, drawn=False)
        for i, name in zip(order, top, strict=True):
            table.add_row(name, f"{shares[i]:.4f}", bar(float(shares[i] / shares[order[0]])))
        console.print(table)
        if len(names) > len(order):
            console.print(f"and {len(names) - len(order):,} more")
        console.print()
    console.print("Most frequent transitions:")
    held = model(release)
    joint = held.joint() if chain.is_irreducible or held.sizes is not None else chain.to_numpy()
    for place in np.argsort(-joint, axis=None, kind="stable")[:_MOST_ROUTES]:
        i, j = divmod(int(place), len(names))
        start, end = (short_labels([name], 48, drawn=False)[0] for name in (names[i], names[j]))
        console.print(f"  {100 * joint[i, j]:6.3f} %  {start} -> {end}")
    console.print()
    total, accuracy = CountedTotal.of(release), accuracy_of(release)
    if total is not None:
        console.print(f"{total.words}.")
    if accuracy is not None:
        console.print(accuracy.words)
        if accuracy.warning is not None:
            console.print(f"WARNING: {accuracy.warning}.")
        print_baselines(console, release)
        console.print()
    more = also_holds(release)
    if more is not None:
        console.print(more)
    print_guarantee(console, release)
    why = f"{job.chosen}: {job.why}"
    tables = len(getattr(release.mechanism, "strata", ()))
    if tables and accuracy is not None and accuracy.moved is not None:
        # Why a mechanism was chosen speaks of the first stratum alone.
        first = "for the shortest sequences; " if "moves a count" in why else ""
        low, high = accuracy.moved
        why += f" ({first}over all {tables} tables, by length, it moves a count by {low:.3g} to {high:.3g})"
    console.print(f"Mechanism: {why}.")
    for text in (*job.notes, *(f"WARNING: {text}" for text in job.warnings)):
        console.print(f"{text}.")
    print_written(console, written)


def print_chain_plan(plan: ChainPlan | UserForecast) -> None:
    """The expected errors of each mechanism, or of the way in which users are counted."""
    console = new_console()
    if not isinstance(plan, UserForecast):
        if plan.error is not None:
            wanted = f"For an error of {plan.error:g} of the next step (total variation)"
            console.print(f"{wanted}: epsilon = {plan.epsilon:.3g}.")
        print_matrix_plan(plan)
        tables = f"of {plan.states} states and {plan.records:,} transitions"
        told = f"made-up tables {tables}; no data was read"
        if plan.given:
            told = f"the public table given, as one {tables}; no other data was read"
        console.print(f"Measured on {told}.")
        return
    added = "one person added or removed with all their transitions"
    who = added if plan.change == "add-remove" else "one person replaced by another"
    console.print(f"At epsilon = {plan.epsilon:g}, {who}:")
    console.print(f"Count {plan.best.words}.")
    for text, span in (
        ("the share of each transition (total variation)", plan.trial.joint),
        ("the next step", plan.trial.row),
        ("the lengths", plan.trial.length),
    ):
        reach = f"   range {span.low:.3g} to {span.high:.3g}"
        console.print(f"Expected error of {text + ':':48} {span.usual:<8.3g}{reach}")
    users, length = plan.assumed
    told = f"{users:,} made-up users with about {length:g} states each; no data was read"
    if plan.given:
        told = f"{users:,} users drawn from the public sequences given; no other data was read"
    console.print(f"Tried on {told}.")
