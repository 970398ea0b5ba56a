"""How many users a state needs to be named, before any data is touched: from public numbers alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from veil.chains.adjacency import Transitions
from veil.core.baseline import Baseline
from veil.core.plan import Plan, beside

_EXAMPLE = 10_000


@dataclass(frozen=True, slots=True)
class DiscoveryPlan(Plan):
    """What a budget buys where states are discovered.

    surely: a state with so many users (or transitions, where one of these is hidden) is named in 95 of 100
    releases. user_states: of one user at most so many states count. leak: what a state with one user is named
    with, at most. threshold: the least noisy count of a pair that is kept, if 10,000 states are named.
    """

    printer: ClassVar[str | None] = "veil.chains.sparse.discovery_plan:print_discovery_plan"

    surely: int
    user_states: int
    leak: float
    noise: str
    threshold: int
    once: bool
    adjacency: Transitions
    epsilon: float
    delta: float
    why: str

    @property
    def baselines(self) -> tuple[Baseline, ...]:  # type: ignore[override]
        return ()

    def to_dict(self) -> dict[str, Any]:
        names = ("surely", "user_states", "leak", "noise", "threshold", "once", "why")
        return {**{name: getattr(self, name) for name in names}, **beside(self)}


def plan_discovery(
    adjacency: Transitions,
    *,
    epsilon: float,
    delta: float,
    user_states: int,
    once: bool,
    false_pairs: int | None = None,
) -> DiscoveryPlan:
    """The plan."""
    from veil.chains.sparse.discovering import chosen_discovery

    options: dict[str, Any] = {"user_states": user_states, "once": once, "false_pairs": false_pairs}
    chosen = chosen_discovery("auto", adjacency, epsilon=epsilon, delta=delta, **options)
    selection = chosen.mechanism.selection
    return DiscoveryPlan(
        surely=selection.surely,
        user_states=user_states,
        leak=selection.leak,
        noise=chosen.name,
        threshold=chosen.mechanism.on(_EXAMPLE).threshold,
        once=once,
        adjacency=adjacency,
        epsilon=epsilon,
        delta=delta,
        why=chosen.why,
    )


def print_discovery_plan(plan: DiscoveryPlan) -> None:
    """What a state needs, in a few lines."""
    from veil.report.console import new_console

    console = new_console()
    of = "users" if plan.adjacency.unit == "user" else "transitions"
    console.print(
        f"At epsilon = {plan.epsilon:g}, delta = {plan.delta:g}; neighbours: {plan.adjacency.words}."
    )
    console.print(f"Mechanism: {plan.noise}: {plan.why}.")
    pairs = "users" if plan.once else "transitions"
    lines = (
        (f"{of} from which on a state is named in 95 of 100 releases", f"{plan.surely:,}"),
        ("states that one of them counts for, at most", f"{plan.user_states:,}"),
        (f"chance that a state with one of the {of} is named, at most", f"{plan.leak:.2g}"),
        (f"least noisy count ({pairs}) of a pair, of {_EXAMPLE:,} named states", f"{plan.threshold:,}"),
    )
    for text, number in lines:
        console.print(f"{text + ':':62} {number}")
    console.print("Names of states are published as they stand in the data; no data was read.")
