"""The public constructors, with good arguments."""

from __future__ import annotations

from scipy.sparse import csr_array

import veil

from .entry import COUNTS, PAIRS, ROWS, STATES, Entry, good_release, graph, language, noise, simplex

DOMAINS = (
    Entry(
        "vectors.Simplex",
        veil.vectors.Simplex,
        lambda: {"size": 3, "floor": 0.1, "protected": [0, 1], "slack": 0.1},
    ),
    Entry("vectors.Counts", veil.vectors.Counts, lambda: {"size": 3}),
    Entry("matrices.Birkhoff", veil.matrices.Birkhoff, lambda: {"size": 3}),
    Entry("bits.Bits", veil.bits.Bits, lambda: {"columns": 3, "rows": 4}),
    Entry("graphs.Graphs", veil.graphs.Graphs, dict),
    Entry("chains.TransitionTable", veil.chains.TransitionTable, lambda: {"states": 3}),
    Entry("words.FreeWords", veil.words.FreeWords, lambda: {"symbols": ["a", "b"], "length": 3}),
    Entry(
        "words.ChainWords",
        veil.words.ChainWords,
        lambda: {"support": {"a": ["a", "b"], "b": ["a"]}, "length": 3, "start": "a"},
        ("states",),
    ),
    Entry(
        "words.AutomatonWords",
        veil.words.AutomatonWords,
        lambda: {
            "transitions": {(0, "x"): [0, 1], (1, "y"): [1]},
            "start": 0,
            "accepting": [1],
            "length": 3,
        },
    ),
    Entry(
        "matrices.StochasticMatrix",
        veil.matrices.StochasticMatrix,
        lambda: {"domains": [simplex(), simplex(), simplex()], "chosen_from_data": False},
        ("support",),
    ),
    Entry(
        "matrices.BackOffChain",
        veil.matrices.BackOffChain,
        lambda: {"likely": csr_array([[0.0, 0.5], [0.25, 0.0]]), "law": [0.5, 0.5]},
        ("states",),
    ),
    Entry("Chain", veil.Chain, lambda: {"matrix": ROWS, "states": list(STATES)}),
    Entry(
        "chains.TransitionCounts",
        veil.chains.TransitionCounts,
        lambda: {"matrix": COUNTS, "states": list(STATES)},
        ("cap", "provenance", "sequences", "strata", "second", "second_cap", "groups", "once"),
    ),
    Entry(
        "chains.Provenance",
        veil.chains.Provenance,
        lambda: {"states_found": True, "has_users": False},
        ("layout_guessed", "without_names", "of_trips"),
    ),
    Entry(
        "chains.Part",
        veil.chains.Part,
        lambda: {"of": "sizes", "mechanism": veil.vectors.GeometricCounts(1.0, 3), "shape": (3,)},
        ("least", "cap", "bins"),
    ),
    Entry(
        "matrices.DecisionProcess",
        veil.matrices.DecisionProcess,
        lambda: {
            "transitions": [[[0.5, 0.5], [0.2, 0.8]], [[0.9, 0.1], [0.3, 0.7]]],
            "rewards": [[1.0, 0.0], [0.0, 1.0]],
            "discount": 0.9,
        },
        ("states", "actions"),
    ),
    Entry(
        "graphs.Graph.of",
        veil.graphs.Graph.of,
        lambda: {"value": graph()},
        ("directed", "bipartite", "loops"),
    ),
    Entry(
        "graphs.Graph.from_edges",
        veil.graphs.Graph.from_edges,
        lambda: {"edges": list(PAIRS), "nodes": 5},
        ("directed", "loops"),
    ),
    Entry(
        "chains.SequenceFile",
        veil.chains.SequenceFile,
        lambda: {"path": "walks.txt", "separator": " ", "skip": 0},
    ),
    Entry(
        "bits.learn.PrivateBits",
        veil.bits.learn.PrivateBits,
        lambda: {"epsilon": 1.0, "label": "protected"},
        ("classes",),
    ),
    Entry("bits.learn.DebiasedClassifier", veil.bits.learn.DebiasedClassifier, lambda: {"strength": 1.0}),
)

ADJACENCIES = (
    Entry("vectors.Transfer", veil.vectors.Transfer, lambda: {"mass": 0.1}),
    Entry("vectors.Transfer.from_l1", veil.vectors.Transfer.from_l1, lambda: {"b": 0.1}),
    Entry("vectors.L1", veil.vectors.L1, lambda: {"distance": 0.1}),
    Entry("vectors.Averaged", veil.vectors.Averaged, lambda: {"row": veil.vectors.L1(0.1), "weight": 0.1}),
    Entry("vectors.Averaged.of", veil.vectors.Averaged.of, lambda: {"weights": [1.0, 2.0]}),
    Entry(
        "vectors.average",
        veil.vectors.average,
        lambda: {"rows": [[0.5, 0.5], [1.0, 0.0]], "weights": [1.0, 2.0]},
    ),
    Entry("vectors.L1.of_average", veil.vectors.L1.of_average, lambda: {"b": 0.1, "n": 10}),
    Entry("vectors.L1.of_linear", veil.vectors.L1.of_linear, lambda: {"b": 0.1, "alpha": 0.5}),
    Entry("vectors.Transfer.from_records", veil.vectors.Transfer.from_records, lambda: {"n": 10}),
    Entry("vectors.Transfer.from_average", veil.vectors.Transfer.from_average, lambda: {"b": 0.1, "n": 10}),
    Entry(
        "vectors.Transfer.from_linear", veil.vectors.Transfer.from_linear, lambda: {"b": 0.1, "alpha": 0.5}
    ),
    Entry("matrices.Rows", veil.matrices.Rows, lambda: {"changed": 1, "each": veil.vectors.Transfer(0.1)}),
    Entry("vectors.Records", veil.vectors.Records, lambda: {"change": "replace"}),
    Entry("matrices.Rectangle", veil.matrices.Rectangle, lambda: {"mass": 0.1}),
    Entry("words.Hamming", veil.words.Hamming, lambda: {"radius": 1, "words_each": 2}),
    Entry("bits.BitFlips", veil.bits.BitFlips, lambda: {"count": 1, "where": "row"}),
    Entry(
        "chains.Transitions", veil.chains.Transitions, lambda: {"unit": "user", "change": "replace", "cap": 3}
    ),
    Entry("vectors.Contributions", veil.vectors.Contributions, lambda: {"added": 1, "removed": 1}),
)

MECHANISMS = (
    Entry(
        "vectors.Dirichlet", veil.vectors.Dirichlet, lambda: {"k": 50.0, "domain": simplex(), "smooth": True}
    ),
    Entry(
        "vectors.DirichletCounts",
        veil.vectors.DirichletCounts,
        lambda: {"scale": 2.2, "prior": 100.0, "size": 3},
    ),
    Entry(
        "matrices.MatrixDirichlet",
        veil.matrices.MatrixDirichlet,
        lambda: {"k": 50.0, "domains": [simplex()] * 3, "smooth": True},
        ("support",),
    ),
    Entry(
        "matrices.DoublyStochastic",
        veil.matrices.DoublyStochastic,
        lambda: {"scale": 0.1, "size": 3, "noise": "laplace"},
    ),
    Entry(
        "matrices.BorderedRows",
        veil.matrices.BorderedRows,
        lambda: {"k": [50.0, 50.0], "floor": [0.1, 0.1], "records": [10, 10], "size": 2},
    ),
    Entry(
        "vectors.Laplace",
        veil.vectors.Laplace,
        lambda: {"scale": 0.1, "domain": simplex(), "onto": "projection"},
    ),
    Entry(
        "vectors.Gaussian",
        veil.vectors.Gaussian,
        lambda: {"sigma": 0.1, "domain": simplex(), "onto": "projection"},
    ),
    Entry(
        "vectors.GeometricCounts",
        veil.vectors.GeometricCounts,
        lambda: {"scale": 1.0, "size": 3, "onto": "projection"},
    ),
    Entry(
        "vectors.DiscreteGaussianCounts",
        veil.vectors.DiscreteGaussianCounts,
        lambda: {"sigma": 1.0, "size": 3, "onto": "projection"},
    ),
    Entry(
        "matrices.RowByRow",
        veil.matrices.RowByRow,
        lambda: {"mechanism": veil.vectors.Laplace(0.1, veil.vectors.Simplex(3)), "rows": 3},
        ("support",),
    ),
    Entry(
        "chains.PrivateChain",
        veil.chains.PrivateChain,
        lambda: {
            "states": 3,
            "parts": list(good_release("chain").mechanism.describe()["parameters"]["parts"]),
        },
        ("groups",),
    ),
    Entry("chains.SparseNoise", veil.chains.SparseNoise, lambda: {"kind": "gaussian", "scale": 2.0}),
    Entry(
        "chains.SparseChain",
        veil.chains.SparseChain,
        lambda: {
            "states": 3,
            "transitions": {"kind": "geometric", "scale": 2.0},
            "margins": {"kind": "geometric", "scale": 4.0},
            "threshold": 2,
        },
        ("once",),
    ),
    Entry(
        "chains.DiscoveredChain",
        veil.chains.DiscoveredChain,
        lambda: {
            "selection": {"scale": 2.0, "threshold": 5, "states": 2},
            "transitions": {"kind": "geometric", "scale": 2.0},
            "margins": {"kind": "geometric", "scale": 4.0},
            "totals": {"kind": "geometric", "scale": 8.0},
        },
        ("false_pairs", "once"),
    ),
    Entry(
        "words.PermuteAndFlip",
        veil.words.PermuteAndFlip,
        lambda: {"language": language(), "epsilon": 1.0, "radius": 1},
    ),
    Entry(
        "words.StaircaseWords",
        veil.words.StaircaseWords,
        lambda: {"language": language(), "epsilon": 1.0, "radius": 1},
    ),
    Entry(
        "words.SequentialWords",
        veil.words.SequentialWords,
        lambda: {"language": language(), "epsilon": 1.0, "radius": 1},
    ),
    Entry(
        "words.ExponentialWords",
        veil.words.ExponentialWords,
        lambda: {"language": language(), "epsilon": 1.0, "radius": 1},
        ("shorter", "calibration", "drawn_with"),
    ),
    Entry(
        "words.BalancedWords",
        veil.words.BalancedWords,
        lambda: {"language": language(), "epsilon": 1.0, "radius": 1},
        ("shorter", "balance"),
    ),
    Entry(
        "words.EachWord",
        veil.words.EachWord,
        lambda: {"mechanism": veil.words.ExponentialWords(language(), 1.0), "words_each": 2},
    ),
    Entry("bits.RandomizedResponse", veil.bits.RandomizedResponse, lambda: {"epsilon": 1.0}),
    Entry("graphs.RandomizedResponse", veil.graphs.RandomizedResponse, lambda: {"epsilon": 1.0}),
    Entry(
        "bits.StaircaseXor",
        veil.bits.StaircaseXor,
        lambda: {"columns": 3, "epsilon": 1.0, "flips": 2, "rows": 4},
    ),
    Entry(
        "bits.MatrixBernoulli",
        veil.bits.MatrixBernoulli,
        lambda: {"theta": [[0.1, 0.0], [0.0, 0.1]], "coupling": [[0.0, 0.1], [0.1, 0.0]], "rows": 2},
    ),
    Entry("bits.Xor", veil.bits.Xor, lambda: {"noise": noise(), "complement": True}, ("accept",)),
    Entry(
        "graphs.XorGraph", veil.graphs.XorGraph, lambda: {"noise": noise(), "complement": True}, ("accept",)
    ),
    Entry("bits.XorBlocks", veil.bits.XorBlocks, lambda: {"bands": [[veil.bits.Xor(noise())]]}),
    Entry(
        "graphs.PrivateGraph",
        veil.graphs.PrivateGraph,
        lambda: {"epsilon": 1.0, "statistics": ("edges", "triangles"), "share": 0.5},
    ),
    Entry(
        "bits.xor_parameters",
        veil.bits.xor_parameters,
        lambda: {"epsilon": 1.0, "alpha": 1.0, "rows": 2, "columns": 2, "sensitivity": 1},
    ),
)
