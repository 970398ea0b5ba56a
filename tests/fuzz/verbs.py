"""The public functions, with good arguments."""

from __future__ import annotations

import veil

from .entry import (
    BITS,
    ROWS,
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

VERBS = (
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
        "audit_pairs", veil.audit_pairs, lambda: {"mechanism": veil.vectors.GeometricCounts(1.0, 3)}, ("adjacency",)
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
        "calibrated",
        veil.vectors.calibrated,
        lambda: {"name": "dirichlet", "adjacency": veil.vectors.Records(), "size": 3, "epsilon": 1.0, "delta": 1e-6},
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
        "least_epsilon",
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
    Entry(
        "intervals",
        veil.vectors.intervals,
        lambda: {"release": good_release("vector"), "confidence": 0.9, "records": 100},
    ),
    Entry(
        "chain_intervals",
        veil.matrices.chain_intervals,
        lambda: {"release": good_release("chain"), "confidence": 0.9, "draws": 20},
        heavy=("draws",),
    ),
    Entry("bit_estimates", veil.bits.estimates, lambda: {"release": good_release("bits"), "confidence": 0.9}),
    Entry(
        "graph_estimates", veil.graphs.estimates, lambda: {"release": good_release("graph"), "confidence": 0.9}
    ),
    Entry("decode", veil.graphs.decode, lambda: {"release": good_release("graph"), "edges": 3, "agree": False}),
    Entry("decoding", veil.graphs.decoding, lambda: {"release": good_release("graph"), "edges": 3, "agree": False}),
    Entry(
        "synthetic",
        veil.chains.synthetic,
        lambda: {"release": good_release("chain"), "count": 3, "length": 4, "rng": 1},
        ("group",),
        ("count", "length"),
    ),
    Entry(
        "count_transitions",
        veil.chains.read,
        lambda: {"source": frame(), "origin": "where", "destination": "next"},
        (
            "states",
            "other",
            "drop_unlisted",
            "cap",
            "strata",
            "memory",
            "group",
            "groups",
            "merge",
            "table",
            "query",
            "salt",
            "progress",
        ),
    ),
    Entry(
        "count_transitions of users",
        veil.chains.read,
        lambda: {"source": frame(), "by": "who", "order": "when", "state": "where"},
        (
            "states",
            "other",
            "cap",
            "strata",
            "second_cap",
            "memory",
            "sequences",
            "group",
            "groups",
            "merge",
            "tie_break",
            "salt",
        ),
    ),
    Entry(
        "read_words",
        veil.words.read,
        lambda: {"source": frame(), "by": "who", "order": "when", "state": "where"},
        ("tie_break", "states", "table", "query", "progress"),
    ),
    Entry("plan_bits", veil.bits.planning.plan_bits, lambda: {"columns": 3, "epsilon": 1.0}, ("unit", "flips", "rows")),
    Entry(
        "plan_chain",
        veil.chains.planning.plan_chain,
        lambda: {"states": 3, "records": 100, "epsilon": 1.0, "delta": 1e-6},
        ("adjacency", "names"),
        ("states",),
    ),
    Entry(
        "plan_graph",
        veil.graphs.planning.plan_graph,
        lambda: {"nodes": 5, "epsilon": 1.0, "edges": 4},
        ("kind", "statistics", "share"),
    ),
    Entry(
        "plan_users",
        veil.chains.plan_users,
        lambda: {"states": 3, "epsilon": 1.0, "users": 10, "mean_length": 4.0},
        ("cap", "memory"),
    ),
    Entry(
        "plan_words",
        veil.words.planning.plan_words,
        lambda: {"language": language(), "epsilon": 1.0, "radius": 1},
        ("examples", "names", "shorter", "progress"),
    ),
    Entry(
        "value_loss",
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
        lambda: {"mechanism": veil.bits.RandomizedResponse(1.0), "value": BITS, "adjacency": veil.bits.BitFlips(1)},
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
        lambda: {"mechanism": veil.graphs.PrivateGraph(1.0, statistics=("edges",), share=0.5), "value": graph()},
        ("adjacency", "epsilon", "delta", "rng"),
    ),
    Entry(
        "fit_chain",
        veil.chains.release,
        lambda: {"counts": chain_counts(), "epsilon": 1.0, "delta": 1e-6, "rng": 1},
        ("mechanism", "unit", "change", "parts", "records", "floor"),
    ),
    Entry(
        "release_words",
        veil.words.release,
        lambda: {
            "words": [["a", "b", "a"], ["b", "b", "b"]],
            "language": language(),
            "epsilon": 1.0,
            "mechanism": "exponential",
        },
        ("radius", "words_each", "examples", "rng"),
    ),
    Entry(
        "release_bits",
        veil.bits.release,
        lambda: {"table": BITS, "epsilon": 1.0, "mechanism": "auto"},
        ("unit", "flips", "rng"),
    ),
    Entry(
        "release_graph",
        veil.graphs.release,
        lambda: {"graph": graph(), "epsilon": 1.0, "mechanism": "response"},
        ("statistics", "share", "alpha", "rng"),
    ),
    Entry("online", veil.words.online, lambda: {"mechanism": veil.words.SequentialWords(language(), 1.0)}, ("rng",)),
)
