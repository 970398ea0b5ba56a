"""The XOR paper, reproduced: Section 8.2, the mechanisms that it is compared with, at their true cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from veil.core.random.streams import Rng
from veil.graphs.graph import Graph
from veil.graphs.numerics.structure import path_lengths
from veil_papers.compared_mechanisms import (
    GROUPS,
    degrees_of,
    joint_degrees,
    ldpgen,
    noisy_joint_degrees,
    pbcn,
)
from veil_papers.reproduction.exhibit import Run
from veil_papers.reproduction.finding import Curve, Finding, Line, Panel, Role
from veil_papers.reproduction.xor_networks import STATED, Network, near, networks, of_paper, stand_ins
from veil_papers.reproduction.xor_table_2 import UNIT, letters
from veil_papers.xor_mechanism import TABLE_2

Mechanism = Callable[[Graph, float, Rng], Graph]
# How they are drawn: the same colour for what is printed and what is found.
_AGAIN: dict[str, tuple[Mechanism, Role]] = {"LDPGen": (ldpgen, "other"), "PBCN": (pbcn, "another")}


class Drawn(NamedTuple):
    """Released graphs of one mechanism at one budget: the mean number of edges, how much one varies, and one
    of the graphs."""

    edges: float
    spread: float
    graph: Graph


def drawn(run: Run, known: Network, rng: Rng) -> dict[tuple[str, float], Drawn]:
    """LDPGen and PBCN at the budgets of Table 2."""
    found = {}
    for name, (mechanism, _) in _AGAIN.items():
        for epsilon in STATED:
            graphs = [mechanism(known.graph, epsilon, rng) for _ in range(run.many(20, 3))]
            sizes = np.array([len(graph) for graph in graphs], dtype=np.float64)
            # The paper's is of one graph, or of a few.
            spread = float(sizes.std(ddof=1)) * math.sqrt(1.0 + 1.0 / len(sizes))
            found[name, epsilon] = Drawn(float(sizes.mean()), spread, graphs[0])
    return found


def section_8_2(run: Run) -> Finding:
    """Section 8.2: what can be made again of the mechanisms that the XOR mechanism is compared with."""
    rng, both, lines, panels = run.rng("XO Section 8.2"), networks(run), [], []
    for known in both:
        run.tell(known.name)
        found = drawn(run, known, rng)
        for (name, epsilon), one in found.items():
            # The paths of the larger network take a while.
            quick = run.quick and known.paper == "Facebook" and epsilon < 1.0
            lines += _mechanism_lines(known, name, epsilon, one, paths=not quick)
        lines.append(_pygmalion_line(known, rng))
        panels.append(_panel(known, found))
    return Finding(
        [*lines, *_not_made_again()],
        panels,
        says="LDPGen and PBCN are drawn at the ε that they cost an edge, and do release networks as sparse "
        "as is printed: the XOR mechanism at its own ε releases a quarter of all pairs. LDPGen has "
        f"{GROUPS} groups here, where its own paper chooses their number; of PBCN we have what the XOR paper "
        "says: noisy degrees, and a graph that has them.",
        stand_in=stand_ins(both, "no number of its releases can be compared."),
    )


def _mechanism_lines(known: Network, name: str, epsilon: float, one: Drawn, *, paths: bool) -> list[Line]:
    unit, power, _ = UNIT[known.paper]
    printed = letters(known.paper, name, TABLE_2[known.paper][name][epsilon])
    head = f"{known.paper}, {name} at ε = {epsilon:g}: "
    edges = Line(head + f"edges ({power})", of_paper(known, printed[0]), one.edges / unit,
                 why=_WHY[name], error=one.spread / unit)  # fmt: skip
    if not paths:
        return [edges]
    found = path_lengths(near(one.graph))
    joined = found.connected == 1.0
    mean = found.mean * (known.nodes - 1) / known.nodes
    text = (
        str(found.diameter) if joined else "N/A",
        f"{len(one.graph) / one.graph.space.count:.3f}",
        f"{mean:.2f}" if joined else "N/A",
    )
    why = (
        "Of one graph."
        if joined
        else (
            f"N/A: not connected. Of the pairs that a path joins ({found.connected:.1%}): at most "
            f"{found.diameter} apart, {found.mean:.2f} in the mean."
        )
    )
    return [
        edges,
        Line(head + "diameter; density; mean path length", "; ".join(printed[1:]), "; ".join(text), why=why),
    ]


_WHY = {
    "LDPGen": "An edge is in the reports of two people: what LDPGen states as ε costs 2ε. Here ε is what "
    "an edge costs in all. What is added are noisy counts below 0 that become 0: the more groups, the "
    "more.",
    "PBCN": "Degrees with a scale of 2/ε add up to nearly the true number; those below 0 become 0.",
}


def _pygmalion_line(known: Network, rng: Rng) -> Line:
    """Why there is no graph of Pygmalion's."""
    unit, power, digits = UNIT[known.paper]
    largest = int(degrees_of(known.graph).max())
    true = joint_degrees(known.graph, largest)
    noisy = np.maximum(noisy_joint_degrees(known.graph, 1.0, largest, rng), 0)
    printed = f"{TABLE_2[known.paper]['Pygmalion'][1.0].edges / unit:.{digits}f}"
    return Line(f"{known.paper}, Pygmalion at ε = 1: edges ({power})", of_paper(known, printed),
                float(noisy.sum()) / unit,
                why=f"No graph has so many: there are {known.graph.space.count / unit:,.1f} pairs. Of the "
                f"joint degrees the largest cell holds {true.max()} edges, and the noise has a scale of up "
                f"to {4 * largest + 1:,}, even if every cell has the least that is enough for it. So nothing "
                "beyond the noise is made again. What is printed cannot come from noise on every cell, and "
                "noise on those that are not empty tells which are.")  # fmt: skip


def _not_made_again() -> list[Line]:
    return [
        Line("LDPGen: ε of an edge where it states 1", "1", 2.0,
             why="Its guarantee is for one person's list of friends. An edge is on two lists."),
        Line("ApproxDeg", why="Described by half a sentence (global sensitivity, post-processing), so it "
             "cannot be made again. Figure 4 has two mechanisms of that kind: noisy counts of the degrees, "
             "and noisy degrees by isotonic regression."),
        Line("DPCD", why="It perturbs the objective of a search for communities. The guarantee that it "
             "rests on is proved for convex objectives with bounded gradients. A likelihood of affiliations "
             "has neither, taken as a whole; solved person by person it costs ε in every round, and how many "
             "there are is not said. There is no ε at which it could be compared."),
    ]  # fmt: skip


def _panel(known: Network, found: dict[tuple[str, float], Drawn]) -> Panel:
    unit, power, _ = UNIT[known.paper]
    curves = []
    for name, (_, role) in _AGAIN.items():
        ours = [found[name, epsilon].edges / unit for epsilon in STATED]
        printed = [TABLE_2[known.paper][name][epsilon].edges / unit for epsilon in STATED]
        curves.append(Curve(f"{name}, made again", STATED, ours, role))
        if known.real:
            curves.append(Curve(f"{name}, printed", STATED, printed, role, "dotted"))
    if known.real:
        others: dict[str, Role] = {"XOR": "paper", "Pygmalion": "printed"}
        for name, role in others.items():
            printed = [TABLE_2[known.paper][name][epsilon].edges / unit for epsilon in STATED]
            curves.append(Curve(f"{name}, printed", STATED, printed, role, "dotted"))
    curves.append(Curve("the network", [0.2, 1.0], [len(known.graph) / unit] * 2, "truth", "dashed"))
    return Panel(f"{known.name}: released edges", "ε for an edge", f"edges ({power})", curves)
