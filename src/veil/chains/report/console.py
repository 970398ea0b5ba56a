"""A released chain in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.table import Table

from veil.chains.mechanisms.private_chain import PrivateChain
from veil.chains.report.accuracy import Accuracy
from veil.chains.report.sections import also_holds
from veil.core.record import Release
from veil.report.console import bar, new_console, print_guarantee
from veil.report.labels import short, shorts

_MOST_STATES, _MOST_ROUTES = 12, 8


def print_chain_release(
    release: Release,
    *,
    why: str,
    warnings: Sequence[str],
    written: Sequence[Path],
    notes: Sequence[str] = (),
) -> None:
    """Where the chain spends its time, its most frequent transitions, and what is guaranteed."""
    console = new_console()
    chain = release.value
    names = list(map(str, chain.states))
    if chain.is_irreducible:
        shares = chain.stationary()
        order = np.argsort(-shares, kind="stable")[:_MOST_STATES]
        table = Table(box=None, pad_edge=False)
        table.add_column("state")
        table.add_column("long-run share", justify="right")
        table.add_column("")
        top = shorts([names[i] for i in order], 38)
        for i, name in zip(order, top, strict=True):
            table.add_row(name, f"{shares[i]:.4f}", bar(float(shares[i] / shares[order[0]])))
        console.print(table)
        if len(names) > len(order):
            console.print(f"and {len(names) - len(order):,} more")
        console.print()
    console.print("Most frequent transitions:")
    joint = (
        release.model.joint() if chain.is_irreducible or release.model.sizes is not None else chain.to_numpy()
    )
    for place in np.argsort(-joint, axis=None, kind="stable")[:_MOST_ROUTES]:
        i, j = divmod(int(place), len(names))
        console.print(f"  {100 * joint[i, j]:6.3f} %  {short(names[i], 48)} -> {short(names[j], 48)}")
    console.print()
    accuracy = Accuracy.of(release)
    if accuracy is not None:
        console.print(accuracy.words)
        if accuracy.warning is not None:
            console.print(f"WARNING: {accuracy.warning}.")
        console.print()
    more = also_holds(release)
    if more is not None:
        console.print(more)
    print_guarantee(console, release)
    console.print(f"Mechanism: {why}{_by_table(release, accuracy, why)}.")
    for text in notes:
        console.print(f"{text}.")
    for text in warnings:
        console.print(f"WARNING: {text}.")
    for path in written:
        console.print(f"Written: {path}")
    if not written:
        console.print("Not saved: add -o FILE.json to keep it.")


def _by_table(release: Release, accuracy: Accuracy | None, why: str) -> str:
    """The noise of all strata: why a mechanism was chosen speaks of the first alone."""
    mechanism = release.mechanism
    if not isinstance(mechanism, PrivateChain) or not mechanism.strata:
        return ""
    if accuracy is None or accuracy.moved is None:
        return ""
    low, high = accuracy.moved
    first = "for the shortest sequences; " if "moves a count" in why else ""
    tables = f"over all {len(mechanism.strata)} tables, by length,"
    return f" ({first}{tables} it moves a count by {low:.3g} to {high:.3g})"
