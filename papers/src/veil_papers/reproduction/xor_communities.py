"""The XOR paper, reproduced: Figure 5, communities found in released networks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from veil.core.job import release
from veil.core.random.streams import Rng
from veil.graphs.estimation import estimates
from veil.graphs.graph import Graph
from veil.graphs.mechanisms.randomized_response import RandomizedResponse
from veil.graphs.numerics.agreement import average_f1, communities_of
from veil.graphs.numerics.triangles import Integers
from veil_papers.affiliations import affiliations
from veil_papers.compared_mechanisms import ldpgen, pbcn
from veil_papers.reproduction.exhibit import Run
from veil_papers.reproduction.finding import Curve, Finding, Line, Panel, Role, Style
from veil_papers.reproduction.xor_networks import (
    Network,
    by_algorithm_3,
    decoded,
    near,
    network,
    networks,
    of_paper,
    release_name,
    stand_ins,
)
from veil_papers.xor_mechanism import PLAIN_F1

_PAPERS = tuple(round(0.1 * step, 1) for step in range(1, 11))
# The ways of the figure, all by the factorisation of the published code.
_WAYS: dict[str, tuple[Role, Style]] = {
    "Algorithm 3": ("paper", "line"),
    "LDPGen": ("other", "dashed"),
    "PBCN, as described": ("another", "dashed"),
    "Veil, decoded": ("veil", "line"),
}
_BEYOND: dict[str, tuple[Role, Style]] = {
    "every pair by randomised response": ("exact", "line"),
    "Veil, decoded": ("veil", "line"),
    "Veil's own communities": ("veil", "dashed"),
}


@dataclass(frozen=True, slots=True)
class Scores:
    """Average F1 by way and epsilon, on one network."""

    known: Network
    # From several starts.
    own: list[float]
    nothing: float
    figure: dict[str, dict[float, float]] = field(default_factory=dict)
    beyond: dict[str, dict[float, float]] = field(default_factory=dict)


def score(known: Network, labels: Integers) -> float:
    """The average F1 of a partition with the true groups."""
    return average_f1(communities_of(labels), known.groups)


def found_in(known: Network, graph: Graph, rng: Rng, *, steps: int = 100) -> float:
    """The average F1 of the communities found in a graph as the paper finds them, from one start."""
    return score(known, affiliations(near(graph), len(known.groups), rng, steps=steps).labels)


def scores(run: Run, known: Network) -> Scores:
    """Everything that the figure shows of one network."""
    rng, steps = run.rng(f"XO Figure 5 {known.paper}"), run.many(100, 40)
    own = [found_in(known, known.graph, rng) for _ in range(run.many(30, 5))]
    found = Scores(known, own, score(known, np.zeros(known.nodes, dtype=np.int64)))
    ways: dict[str, Callable[[float], Graph]] = {
        "Algorithm 3": lambda epsilon: by_algorithm_3(known, epsilon, rng),
        "LDPGen": lambda epsilon: ldpgen(known.graph, epsilon, rng),
        "PBCN, as described": lambda epsilon: pbcn(known.graph, epsilon, rng),
        "Veil, decoded": lambda epsilon: decoded(run, known, epsilon).graph,
    }
    for epsilon in (0.1, 0.4, 0.7, 1.0) if run.quick else _PAPERS:
        run.tell(f"{known.name}, ε = {epsilon:g}")
        for way, released in ways.items():
            if way in ("LDPGen", "PBCN, as described") or _affordable(run, known, epsilon):
                found.figure.setdefault(way, {})[epsilon] = found_in(
                    known, released(epsilon), rng, steps=steps
                )
    found.beyond["Veil, decoded"] = {1.0: found.figure["Veil, decoded"][1.0]}
    for epsilon in (3.0, 6.0) if run.quick else (1.0, 2.0, 3.0, 4.0, 5.0, 6.0):
        run.tell(f"{known.name}, ε = {epsilon:g}")
        out = release(RandomizedResponse(epsilon), known.graph, rng=run.rng(release_name(known, epsilon)))
        now = {
            "every pair by randomised response": found_in(known, out.value, rng, steps=steps),
            "Veil's own communities": score(known, estimates(out).communities()),
        }
        if _affordable(run, known, epsilon):
            now["Veil, decoded"] = found_in(known, decoded(run, known, epsilon).graph, rng, steps=steps)
        for way, value in now.items():
            found.beyond.setdefault(way, {})[epsilon] = value
    return found


def _affordable(run: Run, known: Network, epsilon: float) -> bool:
    """In a quick run decoding, and factors of very dense graphs, are for a few budgets."""
    few = (1.0,) if known.paper == "Facebook" else (0.1, 1.0, 3.0)
    return not run.quick or epsilon in few


def figure_5(run: Run) -> Finding:
    """Figure 5: communities found in released graphs, by average F1."""
    # A network without its groups is no use here.
    both = [known if known.groups else network(Run(run.quick), known.paper) for known in networks(run)]
    found = [scores(run, known) for known in both]
    return Finding(
        [line for one in found for line in _lines(one)],
        [_figure_panel(letter, one) for letter, one in zip("ab", found, strict=True)]
        + [_beyond_panel(one) for one in found],
        says="Communities are found as in the paper's published code, which factorises the adjacency matrix "
        "(veil_papers.affiliations); as many are looked for as there are. Privacy is for one edge. On the "
        "paper's range, up to ε = 1, nobody finds them in a released graph: one community of all scores "
        "about as much, or more. They come out from about ε = 3 on. The curves of the figure are not printed "
        "in numbers; DPCD is not made again (Section 8.2).",
        stand_in=stand_ins(both, "other groups are looked for, and no F1 can be compared."),
    )


def _lines(one: Scores) -> list[Line]:
    known, own = one.known, np.array(one.own)
    mean, spread = float(own.mean()), float(own.std(ddof=1))
    head = f"{known.name}: average F1 "
    lines = [
        Line(f"{head}on the network itself", of_paper(known, f"{PLAIN_F1[known.paper]:g}"), mean,
             error=spread * math.sqrt(1.0 + 1.0 / len(own)),
             why=f"The mean of {len(own)} random starts; a single one, as the paper's, strays by "
             f"{spread:.3f}."),
        Line(f"{head}of one community that holds everybody", why="It needs no data at all and scores "
             f"{one.nothing:.3f}: what is not above it has found nothing."),
        Line(f"{head}at ε = 1", of_paper(known, f"close to {PLAIN_F1[known.paper]:g}"),
             one.figure["Algorithm 3"][1.0], one.figure["Veil, decoded"][1.0],
             f"LDPGen: {one.figure['LDPGen'][1.0]:.3f}; PBCN: {one.figure['PBCN, as described'][1.0]:.3f}."),
        Line(f"{known.name}: ε from which on the XOR mechanism has the highest F1",
             of_paper(known, "ε ≥ 0.3"), _best_from(one.figure),
             why="Of Algorithm 3, LDPGen, PBCN and Veil, all at the ε that they truly cost."),
    ]  # fmt: skip
    for epsilon in (x for x in one.beyond["Veil's own communities"] if x > 1.0):
        ours = {way: curve[epsilon] for way, curve in one.beyond.items() if epsilon in curve}
        best = max(ours, key=lambda way: ours[way])
        rest = "; ".join(f"{way}: {value:.3f}" for way, value in ours.items() if way != best)
        lines.append(Line(f"{head}at ε = {epsilon:g}", "", None, ours[best], f"The best is {best}. {rest}."))
    return lines


def _best_from(figure: dict[str, dict[float, float]]) -> str:
    """The least epsilon from which on Algorithm 3 scores highest."""
    start = None
    for epsilon, value in figure["Algorithm 3"].items():
        if value < max(curve[epsilon] for curve in figure.values() if epsilon in curve):
            start = None
        elif start is None:
            start = epsilon
    return "no ε up to 1" if start is None else f"ε ≥ {start:g}"


def _figure_panel(letter: str, one: Scores) -> Panel:
    known, ends = one.known, [0.1, 1.0]
    curves = [
        Curve(way, list(one.figure[way]), list(one.figure[way].values()), role, style)
        for way, (role, style) in _WAYS.items()
    ]
    if known.real:
        curves.append(Curve("printed, not private", ends, [PLAIN_F1[known.paper]] * 2, "printed", "dashed"))
    return Panel(f"({letter}) {known.name}: communities", "ε for an edge", "average F1",
                 [*curves, *_levels(one, ends)])  # fmt: skip


def _beyond_panel(one: Scores) -> Panel:
    curves = [
        Curve(way, list(one.beyond[way]), list(one.beyond[way].values()), role, style)
        for way, (role, style) in _BEYOND.items()
    ]
    return Panel(f"{one.known.name}: beyond the figure", "ε for an edge", "average F1",
                 [*curves, *_levels(one, [1.0, 6.0])])  # fmt: skip


def _levels(one: Scores, ends: list[float]) -> list[Curve]:
    return [
        Curve("the network itself", ends, [float(np.mean(one.own))] * 2, "truth", "dashed"),
        Curve("one community of all", ends, [one.nothing] * 2, "other", "dotted"),
    ]
