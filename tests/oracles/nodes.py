"""Quadrature nodes for beta densities in the coordinate u = logit x."""

import math

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]


def logit_range(a: float, b: float, missed: float = 1e-11) -> tuple[float, float]:
    """An interval of logits outside which Beta(a, b) has about ``missed`` mass on each side."""

    def end(a: float, b: float) -> float:  # where the lower tail reaches ``missed``, as a logit
        x = float(special.betaincinv(a, b, missed))
        if x > 1e-300:
            return math.log(x) - math.log1p(-x)
        return (math.log(missed * a) + float(special.betaln(a, b))) / a

    return end(a, b), -end(b, a)


def panel_nodes(start: Array, end: Array, panels: int, order: int, graded: int = 0) -> tuple[Array, Array]:
    """Gauss-Legendre nodes and weights on [start_i, end_i], one row per i.

    ``panels`` equal panels with ``order`` nodes each; ``graded`` times the last one is cut by 1/4 towards
    the end, for an integrand with a singular derivative there.
    """
    edges = list(np.linspace(0.0, 1.0, panels + 1))
    for _ in range(graded):
        edges.insert(-1, edges[-1] - (edges[-1] - edges[-2]) / 4)
    cuts = np.array(edges)
    z, weight = np.polynomial.legendre.leggauss(order)
    unit = ((cuts[:-1, None] + cuts[1:, None]) / 2 + np.diff(cuts)[:, None] / 2 * z).ravel()
    unit_weight = (np.diff(cuts)[:, None] / 2 * weight).ravel()
    width = (end - start)[:, None]
    return start[:, None] + width * unit, width * unit_weight


def beta_nodes(a: float, b: float, centre: float | None = None) -> tuple[Array, Array]:
    """Nodes u and probabilities such that E h(X) = sum of probability * h(expit(u)) for X ~ Beta(a, b).

    u = mode + width sinh(tau) covers tails that are far longer than the peak; the axis is cut at the centre,
    for an h that has a kink at the centre.
    """
    mode, width = math.log(a / b), math.sqrt(1 / a + 1 / b)
    reach = 45 / min(a, b) + 45 * width + abs(mode)
    span = math.asinh(reach / width)
    cuts = [-span, span]
    if centre is not None and 0 < centre < 1:
        kink = math.asinh((float(special.logit(centre)) - mode) / width)
        cuts.insert(1, min(max(kink, -span), span))
    tau, weight = panel_nodes(np.array(cuts[:-1]), np.array(cuts[1:]), 300, 12)
    tau, weight = tau.ravel(), weight.ravel()
    u = mode + width * np.sinh(tau)
    log_density = -a * np.logaddexp(0.0, -u) - b * np.logaddexp(0.0, u) - special.betaln(a, b)
    return u, weight * width * np.cosh(tau) * np.exp(log_density)
