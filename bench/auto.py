"""How far `auto` is from the best mechanism for counted chains, over 200 shapes, by simulation."""

from __future__ import annotations

from itertools import product

import numpy as np

STATES = (3, 8, 20, 50)
IN_A_ROW = (5, 50, 500, 50_000)
EPSILONS = (0.1, 0.5, 1.0, 4.0)
DELTAS = (1e-9, 1e-6, 1e-2)
# And eight with whole users, whose cap makes the noise larger.
CAPS = (2, 20)


def run() -> None:
    """Print the shapes at which auto loses most, and the largest loss."""
    from veil.chains.adjacency import Transitions
    from veil.chains.chain_mechanism import Table, chosen_mechanism
    from veil.chains.planning import PLANNED, measured, typical_tables
    from veil.errors import CannotCalibrate

    event = Transitions()
    shapes = [(*shape, event) for shape in product(STATES, IN_A_ROW, EPSILONS, DELTAS)]
    users = product((8, 20), (500, 50_000), (1.0,), (1e-6,), (Transitions("user", cap=cap) for cap in CAPS))
    shapes += [*users]
    losses = []
    for number, (states, in_row, epsilon, delta, adjacency) in enumerate(shapes):
        tables = typical_tables(states, states * in_row, seed=1_000 + number)
        errors, auto = {}, ""
        for name in ("auto", *PLANNED):
            try:
                choice = chosen_mechanism(
                    name,
                    (Table("transitions", (states, states)),),
                    adjacency,
                    epsilon=epsilon,
                    delta=delta,
                    records=states * in_row,
                )
            except CannotCalibrate:
                continue
            if name == "auto":
                auto = choice.name
                continue
            errors[name] = measured(name, choice.mechanism, tables).row_tv
        best = min(errors, key=errors.__getitem__)
        losses.append(
            (errors[auto] / errors[best] - 1.0, states, in_row, epsilon, delta, adjacency.unit, auto, best)
        )
    losses.sort(reverse=True)
    for loss, *shape in losses[:6]:
        print(f"auto {100 * loss:5.1f} % worse than the best: {shape}")
    chosen = np.unique([row[6] for row in losses], return_counts=True)
    print(
        f"{len(losses)} shapes; auto chose {dict(zip(map(str, chosen[0]), map(int, chosen[1]), strict=True))}"
    )
    print(f"largest loss {100 * losses[0][0]:.1f} % (goal: at most 10 %)")
