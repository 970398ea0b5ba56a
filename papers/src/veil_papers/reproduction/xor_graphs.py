"""The XOR paper, reproduced: the graphs of Section 8, and Theorem 4."""

from __future__ import annotations

import math

import numpy as np

from veil.graphs.planning import edge_leakage
from veil_papers.reproduction.exhibit import Exhibit, Run
from veil_papers.reproduction.finding import Curve, Finding, Line, Panel
from veil_papers.reproduction.xor_communities import figure_5
from veil_papers.reproduction.xor_compared import section_8_2
from veil_papers.reproduction.xor_degrees import figure_3, figure_4
from veil_papers.reproduction.xor_laws import section_8_4
from veil_papers.reproduction.xor_table_2 import table_2
from veil_papers.xor_mechanism import NODES, printed_leakage


def theorem_4(run: Run) -> Finding:
    """Theorem 4: how sure an attacker can be of an edge."""
    grid, odds = np.linspace(0.0, 8.0, 81), 0.01
    priors = np.geomspace(1e-4, 1e4, 81)
    own = 1.0 / math.sqrt(NODES["Facebook"])
    return Finding(
        [
            Line("leakage at prior odds ζ = 0.01, ε = 1", "", printed_leakage(odds, 1.0),
                 edge_leakage(odds, 1.0),
                 "The printed formula is max{1/(ζe^ε + 1), ζe^ε/(ζe^ε + 1)}. It is no bound: without the "
                 f"release one is already {1.0 / (1.0 + odds):.3f} sure. The proof takes an inequality for "
                 "an equation, and one ζ for both answers. Veil's bound is proved, and attained by "
                 "randomised response."),
            Line("the same at ε = 4.6, where ζe^ε is about 1", "", printed_leakage(odds, 4.6),
                 edge_leakage(odds, 4.6),
                 "By the formula a release that hides less would leave an attacker with a fair coin."),
            Line("leakage at even odds, ε = 1", "", printed_leakage(1.0, 1.0), edge_leakage(1.0, 1.0),
                 "Where both answers are as likely, the formula is right."),
            Line("leakage of Algorithm 3 on Facebook at a stated ε of 1, ζ = 0.01", "",
                 printed_leakage(odds, 1.0), edge_leakage(odds, own),
                 "All mechanisms of one ε are said to leak the same. It is only a bound: with the "
                 f"noise of Algorithm 1 this one loses {own:.4f}, and hardly adds to the prior."),
        ],
        [
            Panel("an edge that is 1 % likely (ζ = 0.01)", "ε for an edge", "How sure an attacker can be",
                  [
                      Curve("Theorem 4", grid.tolist(), [printed_leakage(odds, float(x)) for x in grid]),
                      Curve("true bound (Veil)", grid.tolist(), [edge_leakage(odds, float(x)) for x in grid],
                            "veil"),
                      Curve("without the release", [0.0, 8.0], [1.0 / (1.0 + odds)] * 2, "truth", "dashed"),
                  ]),
            Panel("ε = 1", "prior odds ζ of an edge", "How sure an attacker can be",
                  [
                      Curve("Theorem 4", priors.tolist(), [printed_leakage(float(x), 1.0) for x in priors]),
                      Curve("true bound (Veil)", priors.tolist(),
                            [edge_leakage(float(x), 1.0) for x in priors], "veil"),
                      Curve("without the release", priors.tolist(),
                            [max(float(x), 1.0) / (1.0 + float(x)) for x in priors], "truth", "dashed"),
                  ], log_x=True),
        ],
        says="The attacker knows all other edges. For edges that are likelier than not the formula is right; "
        "nearly all pairs of a network are the other kind.",
    )  # fmt: skip


_BOTH = ("friends", "messages")
EXHIBITS = (
    Exhibit("Theorem 4", "How sure an attacker can be of an edge", theorem_4),
    Exhibit("Section 8.2", "The mechanisms that it is compared with", section_8_2, _BOTH),
    Exhibit("Table 2", "Statistics of released networks", table_2, _BOTH),
    Exhibit("Figure 3", "Degrees of released networks against random graphs", figure_3, ("friends",)),
    Exhibit("Section 8.4", "Power law and densification", section_8_4, _BOTH),
    Exhibit("Figure 4", "Degree distributions against ε", figure_4, _BOTH),
    Exhibit("Figure 5", "Communities against ε", figure_5, (*_BOTH, "circles", "departments")),
)
