"""The public functions, with good arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

import veil

from .entry import (
    BITS,
    PAIRS,
    ROWS,
    Arguments,
    Entry,
    chain_counts,
    frame,
    good_release,
    graph,
    language,
    mechanism,
    process,
    simplex,
)


def verb(
    name: str, good: Callable[[], Arguments], *, heavy: tuple[str, ...] = (), without: tuple[str, ...] = ()
) -> Entry:
    """A verb of a kind, such as "chains.read" or "chains.read of users": all of its parameters are tried."""
    module, _, function = name.partition(" ")[0].partition(".")
    call: Any = getattr(import_module(f"veil.{module}"), function)
    more = [one for one in inspect.signature(call).parameters if one not in {*good(), "ledger", *without}]
    return Entry(name, call, good, tuple(more), heavy)


def _listened(listener: Any) -> None:
    with veil.progress(listener):
        pass


_LOG = {"by": "who", "order": "when", "state": "where"}
# A query or a table asks for a database, a progress for one who listens.
READS = (
    verb("vectors.read", lambda: {"source": {"a": 1, "b": 2}}),
    verb("vectors.read of several", lambda: {"source": {"x": {"a": 1, "b": 2}, "y": {"a": 0, "b": 3}}}),
    verb("matrices.read", lambda: {"source": {"a": {"a": 0.5, "b": 0.5}, "b": {"a": 1.0}}}),
    verb("chains.read", lambda: {"source": frame(), "origin": "where", "destination": "next"}),
    verb("chains.read of users", lambda: {"source": frame(), **_LOG}),
    verb("words.read", lambda: {"source": frame(), **_LOG}),
    verb("words.read of lists", lambda: {"source": [["a", "b"], ["b"]]}),
    verb("bits.read", lambda: {"source": {"a": ["y", "n"], "b": ["n", "n"]}}),
    verb("graphs.read", lambda: {"source": list(PAIRS)}),
    verb(
        "trips.read",
        lambda: {
            "source": {"trip": [1, 1], "time": [0, 900], "lat": [0.1, 0.6], "lng": [0.1, 0.6]},
            "places": "grid:3x3",
            "box": (0.0, 0.0, 1.0, 1.0),
            "lat": "lat",
            "lng": "lng",
            "trip": "trip",
            "order": "time",
        },
    ),
)
PLANS = (
    verb("vectors.plan", lambda: {"size": 3, "epsilon": 1.0, "records": 100}, heavy=("size", "records")),
    verb(
        "vectors.plan for an error",
        lambda: {"size": 3, "error": 0.2, "records": 1000},
        heavy=("size", "records"),
    ),
    verb(
        "matrices.plan", lambda: {"states": 3, "epsilon": 1.0, "transfer": 0.05}, heavy=("states", "columns")
    ),
    verb("chains.plan", lambda: {"states": 3, "records": 100, "epsilon": 1.0}, heavy=("states", "users")),
    verb(
        "chains.plan of users",
        lambda: {"states": 3, "records": 100, "epsilon": 1.0, "unit": "user", "users": 10, "mean_length": 4},
        heavy=("states", "users", "mean_length", "records"),
    ),
    verb(
        "words.plan",
        lambda: {"symbols": ["a", "b"], "length": 3, "epsilon": 1.0},
        heavy=("length", "symbols", "radius"),
    ),
    verb("bits.plan", lambda: {"columns": 3, "epsilon": 1.0}, heavy=("columns",)),
    verb("graphs.plan", lambda: {"nodes": 5, "epsilon": 1.0, "edges": 4}),
)
VERBS = (
    *READS,
    *PLANS,
    Entry(
        "audit",
        veil.audit,
        lambda: {
            "mechanism": veil.vectors.GeometricCounts(1.0, 3),
            "value": [4, 3, 2],
            "neighbour": [5, 3, 2],
            "samples": 2000,
            "confidence": 0.99,
            "delta": 0.0,
            "adjacency": veil.vectors.Records(),
            "rng": 1,
        },
        heavy=("samples",),
    ),
    Entry(
        "audit_pairs",
        veil.audit_pairs,
        lambda: {"mechanism": veil.vectors.GeometricCounts(1.0, 3)},
        ("adjacency",),
    ),
    Entry(
        "audit_suite",
        veil.audit_suite,
        lambda: {
            "mechanism": veil.bits.RandomizedResponse(1.0),
            "adjacency": veil.bits.BitFlips(1),
            "samples": 1000,
            "rng": 1,
        },
        ("delta", "confidence", "pairs", "progress"),
        heavy=("samples",),
    ),
    Entry(
        "calibrate",
        veil.calibrate,
        lambda: {
            "factory": lambda number: veil.vectors.GeometricCounts(1.0 / number, 3),
            "adjacency": veil.vectors.Records(),
            "epsilon": 1.0,
            "delta": 0.0,
        },
        ("relative",),
    ),
    Entry(
        "vectors.calibrated",
        veil.vectors.calibrated,
        lambda: {
            "name": "dirichlet",
            "adjacency": veil.vectors.Records(),
            "size": 3,
            "epsilon": 1.0,
            "delta": 1e-6,
        },
        ("typical", "records", "floor", "smooth"),
        ("size", "records"),
    ),
    Entry(
        "compare",
        veil.compare,
        lambda: {
            "mechanisms": ["dirichlet", "geometric"],
            "adjacency": veil.vectors.Records(),
            "epsilon": 1.0,
            "delta": 1e-6,
            "typical": [0.2, 0.3, 0.5],
            "records": 100,
        },
        ("size",),
        ("size", "records"),
    ),
    Entry(
        "vectors.least_epsilon",
        veil.vectors.least_epsilon,
        lambda: {
            "name": "geometric",
            "adjacency": veil.vectors.Records("replace"),
            "size": 3,
            "error": 0.2,
            "records": 1000,
        },
        ("delta", "metric", "confidence", "typical"),
        ("size", "records"),
    ),
    Entry("Ledger", veil.Ledger, lambda: {"url": "sqlite:///budget.db"}),
    Entry("load", veil.load, lambda: {"path": "no such file.json"}),
    Entry("vectors.noisy_counts", veil.vectors.noisy_counts, lambda: {"release": good_release("counts")}),
    Entry("progress", _listened, lambda: {"listener": print}),
    Entry(
        "vectors.intervals",
        veil.vectors.intervals,
        lambda: {"release": good_release("vector"), "confidence": 0.9, "records": 100},
    ),
    Entry(
        "matrices.chain_intervals",
        veil.matrices.chain_intervals,
        lambda: {"release": good_release("chain"), "confidence": 0.9, "draws": 20},
        heavy=("draws",),
    ),
    Entry(
        "matrices.intervals",
        veil.matrices.intervals,
        lambda: {"release": good_release("matrix"), "confidence": 0.9},
    ),
    Entry(
        "chains.intervals",
        veil.chains.intervals,
        lambda: {"release": good_release("chain"), "confidence": 0.9, "draws": 20},
        ("records",),
        ("draws",),
    ),
    Entry("chains.groups", veil.chains.groups, lambda: {"release": good_release("chain"), "least": 3}),
    Entry("chains.model", veil.chains.model, lambda: {"release": good_release("chain")}),
    Entry(
        "chains.group_chain",
        veil.chains.group_chain,
        lambda: {"release": good_release("chain"), "group": "a"},
    ),
    Entry("matrices.to_chain", veil.matrices.to_chain, lambda: {"release": good_release("matrix")}),
    Entry("matrices.chain_facts", veil.matrices.chain_facts, lambda: {"chain": veil.Chain(ROWS)}),
    Entry("words.batch", veil.words.batch, lambda: {"release": good_release("words")}),
    Entry("graphs.edge_leakage", veil.graphs.edge_leakage, lambda: {"zeta": 0.1, "epsilon": 1.0}),
    Entry(
        "bits.estimates", veil.bits.estimates, lambda: {"release": good_release("bits"), "confidence": 0.9}
    ),
    Entry(
        "graphs.estimates",
        veil.graphs.estimates,
        lambda: {"release": good_release("graph"), "confidence": 0.9},
    ),
    Entry(
        "graphs.decode",
        veil.graphs.decode,
        lambda: {"release": good_release("graph"), "edges": 3, "agree": False},
    ),
    Entry(
        "graphs.decoding",
        veil.graphs.decoding,
        lambda: {"release": good_release("graph"), "edges": 3, "agree": False},
    ),
    Entry(
        "chains.synthetic",
        veil.chains.synthetic,
        lambda: {"release": good_release("chain"), "count": 3, "length": 4, "rng": 1},
        ("group",),
        ("count", "length"),
    ),
    Entry(
        "chains.plan_users",
        veil.chains.plan_users,
        lambda: {"states": 3, "epsilon": 1.0, "users": 10, "mean_length": 4.0},
        ("cap", "memory"),
    ),
    Entry(
        "matrices.value_loss",
        veil.matrices.value_loss,
        lambda: {
            "process": process(),
            "policy": [[0.5, 0.5], [0.5, 0.5]],
            "adjacency": veil.matrices.Rows(1, veil.vectors.Transfer(0.05)),
            "epsilons": [1.0],
            "delta": 1e-6,
            "draws": 5,
            "rng": 1,
        },
        ("hide", "floor", "support", "start"),
        ("draws", "epsilons", "floor"),
    ),
)

# What charges: each takes a ledger.
RELEASES = (
    Entry(
        "release",
        veil.release,
        lambda: {
            "mechanism": mechanism(),
            "value": [40, 35, 25],
            "adjacency": veil.vectors.Records(),
            "delta": 1e-6,
            "rng": 1,
        },
        ("epsilon",),
    ),
    Entry(
        "release of a vector",
        veil.release,
        lambda: {
            "mechanism": veil.vectors.Laplace(0.1, simplex()),
            "value": [0.2, 0.3, 0.5],
            "adjacency": veil.vectors.Transfer(0.1),
        },
        ("epsilon", "delta", "rng"),
    ),
    Entry(
        "release of a matrix",
        veil.release,
        lambda: {
            "mechanism": veil.matrices.MatrixDirichlet(50.0, [simplex()] * 3),
            "value": ROWS,
            "adjacency": veil.matrices.Rows(1, veil.vectors.Transfer(0.05)),
            "delta": 1e-6,
        },
        ("epsilon", "rng"),
    ),
    Entry(
        "release of bits",
        veil.release,
        lambda: {
            "mechanism": veil.bits.RandomizedResponse(1.0),
            "value": BITS,
            "adjacency": veil.bits.BitFlips(1),
        },
        ("epsilon", "delta", "rng"),
    ),
    Entry(
        "release of a word",
        veil.release,
        lambda: {"mechanism": veil.words.ExponentialWords(language(), 1.0), "value": ["a", "b", "a"]},
        ("adjacency", "epsilon", "delta", "rng"),
    ),
    Entry(
        "release of a graph",
        veil.release,
        lambda: {
            "mechanism": veil.graphs.PrivateGraph(1.0, statistics=("edges",), share=0.5),
            "value": graph(),
        },
        ("adjacency", "epsilon", "delta", "rng"),
    ),
    verb("vectors.release", lambda: {"values": {"a": 5, "b": 3}, "epsilon": 1.0}, heavy=("records", "draws")),
    verb(
        "vectors.release of a vector",
        lambda: {"values": [0.2, 0.3, 0.5], "epsilon": 1.0, "transfer": 0.1},
        heavy=("draws",),
    ),
    verb("matrices.release", lambda: {"matrix": ROWS, "epsilon": 1.0, "transfer": 0.05}),
    verb("chains.release", lambda: {"counts": chain_counts(), "epsilon": 1.0, "delta": 1e-6, "rng": 1}),
    verb(
        "chains.release of large counts",
        lambda: {"counts": chain_counts(), "epsilon": 1.0, "delta": 1e-6, "pairs": "large"},
    ),
    verb(
        "words.release",
        lambda: {
            "words": [["a", "b", "a"], ["b", "b", "b"]],
            "language": language(),
            "epsilon": 1.0,
            "mechanism": "exponential",
        },
    ),
    verb("bits.release", lambda: {"table": BITS, "epsilon": 1.0, "mechanism": "auto"}),
    verb("graphs.release", lambda: {"graph": graph(), "epsilon": 1.0, "mechanism": "response"}),
    Entry(
        "words.online",
        veil.words.online,
        lambda: {"mechanism": veil.words.SequentialWords(language(), 1.0)},
        ("rng",),
    ),
)
