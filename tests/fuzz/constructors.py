"""The public constructors, with good arguments."""

from __future__ import annotations

import veil

from .entry import COUNTS, PAIRS, ROWS, STATES, Entry, good_release, graph, language, noise, simplex

DOMAINS = (
    Entry("Simplex", veil.Simplex, lambda: {"size": 3, "floor": 0.1, "protected": [0, 1], "slack": 0.1}),
    Entry("Counts", veil.Counts, lambda: {"size": 3}),
    Entry("Birkhoff", veil.Birkhoff, lambda: {"size": 3}),
    Entry("Bits", veil.Bits, lambda: {"columns": 3, "rows": 4, "graphs": False}),
    Entry("FreeWords", veil.FreeWords, lambda: {"symbols": ["a", "b"], "length": 3}),
    Entry(
        "ChainWords",
        veil.ChainWords,
        lambda: {"support": {"a": ["a", "b"], "b": ["a"]}, "length": 3, "start": "a"},
        ("states",),
    ),
    Entry(
        "AutomatonWords",
        veil.AutomatonWords,
        lambda: {
            "transitions": {(0, "x"): [0, 1], (1, "y"): [1]},
            "start": 0,
            "accepting": [1],
            "length": 3,
        },
    ),
    Entry(
        "StochasticMatrix",
        veil.StochasticMatrix,
        lambda: {"domains": [simplex(), simplex(), simplex()], "chosen_from_data": False},
        ("support",),
    ),
    Entry("Chain", veil.Chain, lambda: {"matrix": ROWS, "states": list(STATES)}),
    Entry(
        "TransitionCounts",
        veil.TransitionCounts,
        lambda: {"matrix": COUNTS, "states": list(STATES)},
        ("cap", "states_found", "has_users", "sequences", "strata", "second", "second_cap", "groups"),
    ),
    Entry(
        "DecisionProcess",
        veil.DecisionProcess,
        lambda: {
            "transitions": [[[0.5, 0.5], [0.2, 0.8]], [[0.9, 0.1], [0.3, 0.7]]],
            "rewards": [[1.0, 0.0], [0.0, 1.0]],
            "discount": 0.9,
        },
        ("states", "actions"),
    ),
    Entry("Graph.of", veil.Graph.of, lambda: {"value": graph()}, ("directed", "bipartite", "loops")),
    Entry(
        "Graph.from_edges",
        veil.Graph.from_edges,
        lambda: {"edges": list(PAIRS), "nodes": 5},
        ("directed", "loops"),
    ),
    Entry("SequenceFile", veil.SequenceFile, lambda: {"path": "walks.txt", "separator": " ", "skip": 0}),
    Entry(
        "learn.PrivateBits",
        veil.bits.learn.PrivateBits,
        lambda: {"epsilon": 1.0, "label": "protected"},
        ("classes",),
    ),
    Entry("learn.DebiasedClassifier", veil.bits.learn.DebiasedClassifier, lambda: {"strength": 1.0}),
)

ADJACENCIES = (
    Entry("Transfer", veil.Transfer, lambda: {"mass": 0.1}),
    Entry("Transfer.from_l1", veil.Transfer.from_l1, lambda: {"b": 0.1}),
    Entry("Transfer.from_records", veil.Transfer.from_records, lambda: {"n": 10}),
    Entry("Transfer.from_average", veil.Transfer.from_average, lambda: {"b": 0.1, "n": 10}),
    Entry("Transfer.from_linear", veil.Transfer.from_linear, lambda: {"b": 0.1, "alpha": 0.5}),
    Entry("Rows", veil.Rows, lambda: {"changed": 1, "each": veil.Transfer(0.1)}),
    Entry("Records", veil.Records, lambda: {"change": "replace"}),
    Entry("Rectangle", veil.Rectangle, lambda: {"mass": 0.1}),
    Entry("Hamming", veil.Hamming, lambda: {"radius": 1, "words_each": 2}),
    Entry("BitFlips", veil.BitFlips, lambda: {"count": 1, "where": "row"}),
    Entry("Transitions", veil.Transitions, lambda: {"unit": "user", "change": "replace", "cap": 3}),
    Entry("Contributions", veil.Contributions, lambda: {"added": 1, "removed": 1}),
)

MECHANISMS = (
    Entry("Dirichlet", veil.Dirichlet, lambda: {"k": 50.0, "domain": simplex(), "smooth": True}),
    Entry("DirichletCounts", veil.DirichletCounts, lambda: {"scale": 2.2, "prior": 100.0, "size": 3}),
    Entry(
        "MatrixDirichlet",
        veil.MatrixDirichlet,
        lambda: {"k": 50.0, "domains": [simplex()] * 3, "smooth": True},
        ("support",),
    ),
    Entry("DoublyStochastic", veil.DoublyStochastic, lambda: {"scale": 0.1, "size": 3, "noise": "laplace"}),
    Entry(
        "BorderedRows",
        veil.BorderedRows,
        lambda: {"k": [50.0, 50.0], "floor": [0.1, 0.1], "records": [10, 10], "size": 2},
    ),
    Entry("Laplace", veil.Laplace, lambda: {"scale": 0.1, "domain": simplex(), "onto": "projection"}),
    Entry("Gaussian", veil.Gaussian, lambda: {"sigma": 0.1, "domain": simplex(), "onto": "projection"}),
    Entry("GeometricCounts", veil.GeometricCounts, lambda: {"scale": 1.0, "size": 3, "onto": "projection"}),
    Entry(
        "DiscreteGaussianCounts",
        veil.DiscreteGaussianCounts,
        lambda: {"sigma": 1.0, "size": 3, "onto": "projection"},
    ),
    Entry(
        "RowByRow",
        veil.RowByRow,
        lambda: {"mechanism": veil.Laplace(0.1, veil.Simplex(3)), "rows": 3},
        ("support",),
    ),
    Entry(
        "PrivateChain",
        veil.PrivateChain,
        lambda: {
            "states": 3,
            "parts": list(good_release("chain").mechanism.describe()["parameters"]["parts"]),
        },
        ("groups",),
    ),
    Entry(
        "PermuteAndFlip", veil.PermuteAndFlip, lambda: {"language": language(), "epsilon": 1.0, "radius": 1}
    ),
    Entry(
        "StaircaseWords", veil.StaircaseWords, lambda: {"language": language(), "epsilon": 1.0, "radius": 1}
    ),
    Entry(
        "SequentialWords",
        veil.SequentialWords,
        lambda: {"language": language(), "epsilon": 1.0, "radius": 1},
    ),
    Entry(
        "ExponentialWords",
        veil.ExponentialWords,
        lambda: {"language": language(), "epsilon": 1.0, "radius": 1},
        ("shorter", "calibration", "drawn_with"),
    ),
    Entry(
        "BalancedWords",
        veil.BalancedWords,
        lambda: {"language": language(), "epsilon": 1.0, "radius": 1},
        ("shorter", "balance"),
    ),
    Entry(
        "EachWord",
        veil.EachWord,
        lambda: {"mechanism": veil.ExponentialWords(language(), 1.0), "words_each": 2},
    ),
    Entry("RandomizedResponse", veil.RandomizedResponse, lambda: {"epsilon": 1.0}),
    Entry("StaircaseXor", veil.StaircaseXor, lambda: {"columns": 3, "epsilon": 1.0, "flips": 2, "rows": 4}),
    Entry(
        "MatrixBernoulli",
        veil.MatrixBernoulli,
        lambda: {"theta": [[0.1, 0.0], [0.0, 0.1]], "coupling": [[0.0, 0.1], [0.1, 0.0]], "rows": 2},
    ),
    Entry("Xor", veil.Xor, lambda: {"noise": noise(), "complement": True}, ("accept",)),
    Entry("XorGraph", veil.XorGraph, lambda: {"noise": noise(), "complement": True}, ("accept",)),
    Entry("XorBlocks", veil.XorBlocks, lambda: {"bands": [[veil.Xor(noise())]]}),
    Entry(
        "PrivateGraph",
        veil.PrivateGraph,
        lambda: {"epsilon": 1.0, "statistics": ("edges", "triangles"), "share": 0.5},
    ),
    Entry(
        "xor_parameters",
        veil.xor_parameters,
        lambda: {"epsilon": 1.0, "alpha": 1.0, "rows": 2, "columns": 2, "sensitivity": 1},
    ),
)
