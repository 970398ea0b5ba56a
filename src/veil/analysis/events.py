"""Choosing the event on which an audit measures, and measuring it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from veil.analysis.bit_events import graph_outputs, watched
from veil.domains.bits import Bits
from veil.domains.graph import Graph
from veil.domains.intake import Floats
from veil.domains.words import Language
from veil.samplers.randomness import Rng

_THRESHOLDS = 400


def best_event(
    mechanism: Any,
    first: NDArray[Any],
    second: NDArray[Any],
    value: Any,
    neighbour: Any,
    delta: float,
    *,
    confidence: float,
) -> float:
    """A lower bound on log((P - delta)/Q) over events, P from the first samples and Q from the second.

    Statistics tried: every entry, every pair's log ratio where entries changed, exact equality with
    the inputs, and the mechanism's own likelihood ratio if it has one. The statistic and its
    threshold are chosen on the even samples and measured on the odd ones, so they cost no confidence.
    """
    best_score, chosen = -math.inf, None
    flat_first, flat_second = first.reshape(len(first), -1), second.reshape(len(second), -1)
    for statistic in _statistics(mechanism, value, neighbour):
        a, b = statistic(flat_first), statistic(flat_second)
        for sign in (1.0, -1.0):
            score, threshold = _best_threshold(sign * a[::2], sign * b[::2], delta, confidence)
            if score > best_score:
                best_score, chosen = score, (sign * a[1::2], sign * b[1::2], threshold)
    if chosen is None:
        return 0.0
    a, b, threshold = chosen
    return max(
        0.0, float(_bound((a >= threshold).sum(), len(a), (b >= threshold).sum(), len(b), delta, confidence))
    )


def _statistics(mechanism: Any, value: Any, neighbour: Any) -> list[Any]:
    if isinstance(mechanism.domain, Bits) and isinstance(mechanism.validate(value), Graph):
        return _of_graphs(mechanism, value, neighbour)
    inputs = [_input(mechanism, item) for item in (value, neighbour)]
    shape = inputs[0].shape
    before, after = (item.ravel() for item in inputs)
    changed = np.flatnonzero(before != after)
    found: list[Any] = [lambda x, i=i: x[:, i] for i in range(min(before.size, 64))]
    pairs = [(i, j) for i in changed[:4] for j in changed[:4] if i < j]
    found += [lambda x, i=i, j=j: _log_ratio(x[:, i], x[:, j]) for i, j in pairs]
    for i in changed[:4]:
        found.append(lambda x, i=i: (x[:, i] == before[i]).astype(np.float64))
        found.append(lambda x, i=i: (x[:, i] == after[i]).astype(np.float64))
    if isinstance(mechanism.domain, Language):
        found.append(lambda x: mechanism.log_probabilities(x, before) - mechanism.log_probabilities(x, after))
    elif hasattr(mechanism, "log_density"):

        def log_likelihood_ratio(x: Any) -> Any:
            outputs = x.reshape(len(x), *shape)
            return mechanism.log_density(outputs, value) - mechanism.log_density(outputs, neighbour)

        found.append(log_likelihood_ratio)
    return found


def _of_graphs(mechanism: Any, value: Any, neighbour: Any) -> list[Any]:
    """Every number that is looked at, and how many of the pairs that differ are as in the value."""
    first, second = mechanism.validate(value), mechanism.validate(neighbour)
    pairs = watched(first, second)
    before, after = np.isin(pairs, first.codes), np.isin(pairs, second.codes)
    changed = np.flatnonzero(before != after)
    if getattr(mechanism, "response", mechanism) is None:
        changed = changed[:0]
    numbers = graph_outputs([mechanism.sample(first.plain(), rng=0)], pairs).shape[1]
    found: list[Any] = [lambda x, i=i: x[:, i] for i in range(min(numbers, 64))]
    if len(changed):
        found.append(lambda x: (x[:, changed] == before[changed]).sum(axis=1).astype(np.float64))
    return found


def drawn_outputs(
    mechanism: Any, value: Any, neighbour: Any, draws: int, stream: Rng
) -> tuple[NDArray[Any], NDArray[Any]]:
    """So many outputs for each of the two, as rows of numbers."""
    inputs = value, neighbour
    if isinstance(mechanism.domain, Bits):
        valid = [mechanism.validate(item) for item in inputs]
        if isinstance(valid[0], Graph):
            pairs = watched(*valid)
            drawn = (mechanism.sample(item.plain(), rng=stream, size=draws) for item in valid)
            first, second = (graph_outputs(outputs, pairs) for outputs in drawn)
            return first, second
    first, second = (outputs_of(mechanism, mechanism.sample(item, rng=stream, size=draws)) for item in inputs)
    return first, second


def outputs_of(mechanism: Any, drawn: Any) -> NDArray[Any]:
    """What was drawn as an array of numbers; words as their codes."""
    if isinstance(mechanism.domain, Language):
        return mechanism.domain.validate(drawn).rows
    return np.asarray(drawn)


def _input(mechanism: Any, item: Any) -> NDArray[Any]:
    valid = mechanism.validate(item)
    return valid.rows[0] if isinstance(mechanism.domain, Language) else np.asarray(valid)


def _log_ratio(a: Floats, b: Floats) -> Floats:
    tiny = 1e-320
    return np.log(np.maximum(a, tiny)) - np.log(np.maximum(b, tiny))


def _best_threshold(a: Floats, b: Floats, delta: float, confidence: float) -> tuple[float, float]:
    pooled = np.concatenate([a, b])
    thresholds = np.unique(np.quantile(pooled, np.linspace(0.0, 1.0, _THRESHOLDS), method="higher"))
    above_a = len(a) - np.searchsorted(np.sort(a), thresholds, side="left")
    above_b = len(b) - np.searchsorted(np.sort(b), thresholds, side="left")
    scores = _bound(above_a, len(a), above_b, len(b), delta, confidence)
    best = int(np.argmax(scores))
    return float(np.asarray(scores)[best]), float(thresholds[best])


def _bound(hits_a: Any, total_a: int, hits_b: Any, total_b: int, delta: float, confidence: float) -> Any:
    """log of ((lower limit of P) - delta) / (upper limit of Q); half the error on each limit."""
    tail = 0.5 * (1.0 - confidence)
    hits_a, hits_b = np.asarray(hits_a, dtype=np.float64), np.asarray(hits_b, dtype=np.float64)
    p_low = np.where(hits_a > 0, betaincinv(np.maximum(hits_a, 0.5), total_a - hits_a + 1.0, tail), 0.0)
    q_high = np.where(
        hits_b < total_b, betaincinv(hits_b + 1.0, np.maximum(total_b - hits_b, 0.5), 1.0 - tail), 1.0
    )
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(p_low - delta, 0.0)) - np.log(q_high)
