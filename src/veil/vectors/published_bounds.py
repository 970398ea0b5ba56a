"""The bounds that the papers print for the Dirichlet mechanism, evaluated to the letter.

They are kept to be compared with, not to be relied on: the exact profile is far smaller. What the
papers assume is checked and listed, never enforced.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from veil.core.checks import choice, within
from veil.core.errors import CannotCalibrate, InvalidArgument
from veil.core.mechanism import Published
from veil.core.numerics.log_gamma import log_rising
from veil.core.numerics.rounding import log_margin, safe_edge
from veil.vectors.corners import some_entry_below
from veil.vectors.simplex import Simplex

# How the papers are cited (docs/references.md).
_SIMPLEX, _MATRIX = "Dirichlet simplex paper", "matrix Dirichlet paper"
_CHAINS = "data-driven chains paper"


def published_bound(k: float, domain: Simplex, mass: float, gamma: float, form: str) -> Published:
    """The published bound at the threshold gamma.

    Dirichlet simplex paper, Theorems 1-3 and Corollaries 1-3; data-driven chains paper, Theorem 1.
    """
    choice("form", form, ("theorem", "corollary"))
    entries = domain.protected_count
    gamma = within("gamma", gamma, 0.0, 1.0, expected="a number above 0 and below 1")
    if not 0.0 < gamma < 1.0 / max(1, entries - 1):
        raise InvalidArgument("gamma", expected=f"above 0 and below 1/{entries - 1}", found=f"{gamma:g}")
    outside = _mass_outside(domain)
    spread = k * mass * math.log((1.0 - (entries - 1) * gamma) / gamma)
    if form == "corollary":
        epsilon, theorem = 2.0 * k * (1.0 - outside) - 3.0 + spread, f"{_SIMPLEX}, Corollary 1-3"
    else:
        epsilon = _log_beta_ratio(k, domain.floor, outside, mass) + spread
        theorem = f"{_CHAINS}, Theorem 1" if domain.protected is None else f"{_SIMPLEX}, Theorem 1-3"
    delta, violations = published_delta(k, domain, gamma), _violations(k, domain, mass, gamma)
    return Published(epsilon, delta, gamma, theorem, violations)


def matrix_bound(rows: Sequence[Published], changed: int | str) -> Published:
    """Matrix Dirichlet paper, Theorem 1: the largest epsilon of the rows and, as printed, the least delta."""
    worst = max(rows, key=lambda row: row.epsilon)
    printed, safe = min(row.delta for row in rows), max(row.delta for row in rows)
    renamed = (text.replace(_SIMPLEX, _MATRIX) for row in rows for text in row.violations)
    violations = list(dict.fromkeys(renamed))
    # Thresholds found by search differ in their last digits where the rows do not.
    if printed < safe * (1.0 - 1e-6):
        violations.append(
            f"Theorem 1 prints delta = 1 - max_i min(...), here {printed:.3g}; its proof gives "
            f"max_i delta_i = {safe:.3g}"
        )
    if changed != 1:
        violations.append(
            "Definition 4 lets every row change, but the maximum over rows covers one changed row only: "
            "with more rows the losses add up, and this figure does not cover them"
        )
    return Published(worst.epsilon, printed, worst.gamma, f"{_MATRIX}, Theorem 1", tuple(violations))


def published_delta(k: float, domain: Simplex, gamma: float) -> float:
    """The largest P[some protected entry < gamma] over the vertices of the domain."""
    floor, entries = domain.floor, domain.protected_count
    if floor <= 0.0:
        return 1.0
    outside = domain.slack or 0.0
    top = 1.0 - outside - (entries - 1) * floor
    # One protected entry takes all that is free. Equal to the floor, it joins the others.
    groups = [(k * floor, entries - 1), (k * top, 1)] if top > floor else [(k * floor, entries)]
    worst = some_entry_below(groups, k * outside, gamma)
    if domain.protected is not None:
        rest = k * (1.0 - entries * floor)
        worst = max(worst, some_entry_below([(k * floor, entries)], rest, gamma))
    return worst


def largest_threshold(k: float, domain: Simplex, delta: float) -> float:
    """The gamma of least epsilon whose delta is at most the given one (problem 14 of the paper)."""
    delta = within("delta", delta, 0.0, 1.0, expected="a number above 0 and below 1")
    if not 0.0 < delta < 1.0:
        raise InvalidArgument("delta", expected="a number above 0 and below 1", found=f"{delta:g}")
    ceiling = (1.0 - 1e-9) / domain.protected_count

    def margin(gamma: float) -> float:
        return log_margin(delta, published_delta(k, domain, gamma))

    if margin(ceiling) >= 0.0:
        return ceiling
    safe = 0.5 * ceiling
    while margin(safe) < 0.0:
        safe *= 0.1
        if safe < 1e-300:
            raise CannotCalibrate(f"no gamma, however small, reaches delta={delta:g} in the published bound")
    return safe_edge(margin, safe=safe, unsafe=ceiling, relative=1e-10)


def _mass_outside(domain: Simplex) -> float:
    """The papers' eta-bar: the slack, or, where every entry is protected, the floor."""
    return domain.floor if domain.protected is None else (domain.slack or 0.0)


def _log_beta_ratio(k: float, floor: float, outside: float, mass: float) -> float:
    """log[ B(k eta, k(1 - eta-bar - eta)) / B(k(eta + d), k(1 - eta-bar - eta - d)) ]."""
    left, right = k * floor, k * (1.0 - outside - floor - mass)
    if left <= 0.0 or right <= 0.0:
        return math.inf
    return (log_rising(right, k * mass) - log_rising(left, k * mass)).value


def _violations(k: float, domain: Simplex, mass: float, gamma: float) -> tuple[str, ...]:
    floor, outside, entries = domain.floor, _mass_outside(domain), domain.protected_count
    # A k that is the least one may have been rounded down.
    lowest = k * floor * (1.0 + 1e-12)
    most = 0.5 * (1.0 - outside) - floor
    if domain.protected is None:
        paper = _CHAINS
        checks = [
            (domain.size >= 3, f"Definition 2: n >= 3, but n = {domain.size}"),
            (0.0 < floor < 0.25, f"Assumption 3: 0 < eta < 1/4, but eta = {floor:g}"),
            (lowest >= 1.5, f"Assumption 4: k >= 3/(2 eta), but k = {k:g} and eta = {floor:g}"),
            (gamma <= 1.0 / (domain.size - 1), f"Assumption 2: gamma <= 1/(n-1), but gamma = {gamma:g}"),
        ]
    else:
        paper = _SIMPLEX
        checks = [
            (
                floor > 0.0 and outside > 0.0 and floor + outside < 0.5,
                f"Assumption 1: eta, eta-bar > 0 and eta + eta-bar < 1/2, but eta = {floor:g} "
                f"and eta-bar = {outside:g}",
            ),
            (
                lowest >= 1.0 and k * (1.0 - floor - outside) >= 1.0,
                f"Assumption 2: k >= max(1/eta, 1/(1-eta-eta-bar)), but k = {k:g} and eta = {floor:g}",
            ),
            (gamma <= 1.0 / entries, f"Assumption 3: gamma <= 1/|W|, but gamma = {gamma:g}"),
        ]
    broken = [f"{paper}, {text}" for holds, text in checks if not holds]
    if mass > most:
        broken.append(
            f"{_SIMPLEX}, Lemma 4 needs b/2 <= (1 - eta-bar)/2 - eta = {most:g}, but b/2 = {mass:g}: "
            "a smaller transfer may lose more, so the formula may be too small"
        )
    return tuple(broken)
