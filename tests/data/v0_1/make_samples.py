"""Writes the sample files of Veil 0.1 that a test of later versions loads and verifies.

It runs on version 0.1 only, and writes beside itself:

    releases/           a release of every mechanism and every form of value; charged to no ledger of Veil
    schema1/            files as the first schema of releases had them
    ledgers/NAME/       ledger.db, heads.json (and export.json), charged/ (releases that name its entries),
                        and others/ (releases that it must not own up to)
    expected.json       what 0.1 says of each of them

All data is made up. What is drawn from a seed comes out the same each time; what is not, the times and the
names of ledgers differ. A ledger is in SQLite's WAL mode, so reading it writes files beside it: tests should
copy its folder first.

    PYTHONPATH=<0.1>/src python make_samples.py
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sqlite3
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import chdir, closing, redirect_stderr, redirect_stdout
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pandas
from scipy.sparse import csr_array

import veil
from veil.cli.app import run
from veil.domains.adjacency_names import adjacency_named
from veil.domains.lengths import LengthBins
from veil.domains.transition_counts import Sequences
from veil.learn import PrivateBits
from veil.mechanisms.chain_parts import Part
from veil.mechanisms.registry import _PLACES
from veil.releases.words import WordsElsewhere

HERE = Path(__file__).resolve().parent
SEED, BY = 1, "the sample maker"
MOST_BYTES = 1_500_000

# Takes ledger= and rng=, and releases.
Make = Callable[..., veil.Release]
# A name, what it is a sample of, and how it is made.
Example = tuple[str, str, Make]


# Values


def of(mechanism: Any, value: Any, adjacency: Any = None, delta: float | None = None) -> Make:
    """The release of a value by a mechanism, to be made later."""
    return partial(veil.release, mechanism, value, adjacency=adjacency, delta=delta)


def vectors() -> Iterator[Example]:
    """Probability vectors and counts, one or a batch, with and without labels."""
    near, simplex = veil.Transfer(0.05), veil.Simplex
    fair, grades = [0.13, 0.08, 0.29, 0.3, 0.2], {"A": 31, "B": 28, "C": 39}
    some = simplex(5, floor=0.08, protected=(0, 1, 3), slack=0.1)
    add, replace = veil.Records("add-remove"), veil.Records("replace")

    dirichlet = veil.Dirichlet(20.0, simplex(5, floor=0.08))
    smooth = veil.Dirichlet(40.0, simplex(5, floor=0.08), smooth=True)
    exact = veil.Dirichlet(40.0, simplex(5, floor=0.08), smooth=True, exact=True, draws=3000)
    yield "vector_dirichlet", "a vector, the published form", of(dirichlet, fair, near, 1e-2)
    yield "vector_dirichlet_smooth", "a vector, smoothed", of(smooth, [0, 0.05, 0.9, 0.05, 0], near, 1e-3)
    yield "vector_dirichlet_exact", "a vector by an urn", of(exact, [0, 0.05, 0.9, 0.05, 0], near, 1e-3)
    yield "vector_dirichlet_some", "some entries protected", of(veil.Dirichlet(20.0, some), fair, near, 1e-2)
    yield "vector_dirichlet_batch", "a batch of vectors", of(smooth, [fair, fair[::-1], fair], near, 1e-3)
    yield "vector_dirichlet_deep_batch", "a batch of batches", of(smooth, [[fair] * 2] * 3, near, 1e-3)
    yield (
        "vector_laplace",
        "a vector with labels",
        of(veil.Laplace(0.1, simplex(3)), pandas.Series([0.5, 0.3, 0.2], index=["x", "y", 'é, "z"']), near),
    )
    yield (
        "vector_laplace_batch",
        "a batch with labels",
        of(veil.Laplace(0.1, simplex(2)), pandas.DataFrame({"no": [0.5, 0.25], "yes": [0.5, 0.75]}), near),
    )
    normal = veil.Gaussian(0.1, simplex(5), onto="normalisation")
    yield "vector_gaussian", "a vector", of(normal, fair, near, 1e-5)
    yield "vector_gaussian_projected", "a vector", of(veil.Gaussian(0.2, simplex(5)), fair, near, 1e-5)
    yield "counts_dirichlet", "counts with labels", of(veil.DirichletCounts(2.2, 100, 3), grades, add, 1e-6)
    yield (
        "counts_dirichlet_exact",
        "counts by an urn",
        of(veil.DirichletCounts(2.0, 10.0, 3, exact=True, draws=2000), grades, replace, 1e-4),
    )
    yield "counts_geometric", "counts, pure", of(veil.GeometricCounts(1.5, 3), grades, add)
    yield (
        "counts_geometric_several",
        "several records of one person",
        of(veil.GeometricCounts(2.0, 3, onto="projection"), [31, 28, 39], veil.Contributions(2, 2)),
    )
    yield (
        "counts_geometric_batch",
        "a batch of counts",
        of(veil.GeometricCounts(1.5, 3), [[31, 28, 39], [5, 0, 2]], replace),
    )
    yield (
        "counts_discrete_gaussian",
        "counts",
        of(veil.DiscreteGaussianCounts(2.0, 3), [31, 28, 39], replace, 1e-6),
    )
    yield (
        "counts_bordered",
        "rows of counts, the published form",
        of(
            veil.BorderedRows([30.0] * 2, [0.1] * 2, [40, 60], size=3),
            [[10, 20, 10], [30, 20, 10]],
            replace,
            1e-3,
        ),
    )


def matrices() -> Iterator[Example]:
    """Stochastic matrices with and without labels, policies, stacks, supports, doubly stochastic ones."""
    each, row = veil.Transfer(0.05), veil.Simplex(3, floor=0.08)
    one, every = veil.Rows(1, each), veil.Rows("all", each)
    rows = np.array([[0.13, 0.08, 0.79], [0.3, 0.3, 0.4]])
    square = np.array([[0.5, 0.3, 0.2], [0.3, 0.4, 0.3], [0.2, 0.3, 0.5]])
    holes = np.array([[0.5, 0.5, 0.0], [0.0, 0.6, 0.4], [1.0, 0.0, 0.0]])
    roads = pandas.DataFrame(square, index=list("abc"), columns=list("abc"))
    policy = {
        "s1": {"left": 0.5, "right": 0.5},
        "s2": {"left": 0.1, "right": 0.9},
        "s3": {"left": 1, "right": 0},
    }

    yield (
        "matrix_dirichlet",
        "a matrix without labels",
        of(veil.MatrixDirichlet((20.0, 40.0), [row] * 2), rows, one, 1e-3),
    )
    yield (
        "matrix_dirichlet_labels",
        "a square matrix with labels of rows and columns",
        of(veil.MatrixDirichlet(40.0, row, smooth=True), roads, one, 1e-3),
    )
    yield (
        "matrix_dirichlet_two_rows",
        "two rows may change",
        of(veil.MatrixDirichlet(40.0, row, smooth=True), square, veil.Rows(2, each), 1e-3),
    )
    yield (
        "matrix_policy",
        "a policy, states x actions, with labels",
        of(veil.MatrixDirichlet(60.0, veil.Simplex(2, floor=0.1), smooth=True), policy, one, 1e-3),
    )
    yield (
        "matrix_support",
        "a public support, one row with a single entry",
        of(
            veil.MatrixDirichlet(40.0, veil.Simplex(2, floor=0.1), support=holes > 0, smooth=True),
            holes,
            one,
            1e-3,
        ),
    )
    yield (
        "matrix_support_read_off",
        "rows of different sizes, whose zeros are public",
        of(
            veil.MatrixDirichlet(
                30.0, veil.StochasticMatrix([row, veil.Simplex(2, floor=0.1), None], chosen_from_data=True)
            ),
            [[0.5, 0.3, 0.2], [0.0, 0.6, 0.4], [1.0, 0.0, 0.0]],
            one,
            1e-3,
        ),
    )
    yield (
        "matrix_stack",
        "a stack P(s, a, .), three axes",
        of(veil.MatrixDirichlet(40.0, row, smooth=True), np.stack([square, square[::-1]], axis=1), one, 1e-3),
    )
    yield (
        "matrix_batch",
        "a batch of matrices",
        of(veil.MatrixDirichlet((20.0, 40.0), [row] * 2), np.stack([rows] * 3), one, 1e-3),
    )
    laplace, gaussian = veil.Laplace(0.2, veil.Simplex(3)), veil.Gaussian(0.2, veil.Simplex(3))
    yield "matrix_rows_laplace", "row by row", of(veil.RowByRow(laplace, rows=3), square, every)
    yield "matrix_rows_gaussian", "row by row", of(veil.RowByRow(gaussian), roads, veil.Rows(2, each), 1e-5)
    yield (
        "matrix_rows_support",
        "row by row on a support",
        of(veil.RowByRow(laplace, support=[[0, 1], [1, 2], [0]]), holes, every),
    )
    yield "matrix_doubly", "doubly stochastic", of(veil.DoublyStochastic(0.2, 3), square, veil.Rectangle(0.1))
    yield (
        "matrix_doubly_gaussian",
        "doubly stochastic with labels",
        of(veil.DoublyStochastic(0.2, 3, noise="gaussian"), roads, veil.Rectangle(0.1), 1e-5),
    )


def a_log() -> dict[str, list[Any]]:
    """A made-up log of sixty people."""
    random, states = np.random.default_rng(7), ["home", "shop", "work"]
    rows = [
        (f"u{user}", time, states[random.integers(3)], ("week", "weekend")[int(random.random() < 0.3)])
        for user in range(60)
        for time in range(1 + int(random.geometric(0.2)))
    ]
    return {
        name: list(cells)
        for name, cells in zip(("user", "time", "state", "day"), zip(*rows, strict=True), strict=True)
    }


def counted(**settings: Any) -> veil.TransitionCounts:
    """The transitions of that log."""
    columns = {"by": "user", "order": "time", "state": "state", "states": ["home", "shop", "work"]}
    return veil.count_transitions(a_log(), salt="made up", **(columns | settings))


def chains() -> Iterator[Example]:
    """Chains counted from trips, logs and sequences: events, rows, users; every further table."""
    trips = {"from": ["home", "work", "home", "shop"] * 50, "to": ["work", "home", "shop", "home"] * 50}
    events = veil.count_transitions(trips, origin="from", destination="to", states=["home", "work", "shop"])
    found = veil.count_transitions(trips, origin="from", destination="to")
    zones = veil.TransitionCounts([[80, 20], [10, 40]], [7, 9])
    full = veil.TransitionCounts([[400, 300, 300], [250, 500, 250], [300, 300, 400]], ["a", "b", "c"])
    parts = ["starts", "ends", "lengths", "sizes"]
    fit = veil.fit_chain
    yield "chain_events", "trips, one transition added or removed", partial(fit, events, 1.0)
    yield (
        "chain_events_replace",
        "one transition gets another destination",
        partial(fit, events, 1.0, change="replace", parts=["sizes"]),
    )
    yield (
        "chain_states_found",
        "the list of states was read off the data; a public number of records",
        partial(fit, found, 1.0, records=200),
    )
    yield "chain_numbers", "states that are whole numbers", partial(fit, zones, 1.0)
    yield (
        "chain_gaussian",
        "discrete Gaussian noise",
        partial(fit, events, 1.0, delta=1e-6, mechanism="gaussian"),
    )
    yield (
        "chain_rows",
        "a log, one row added or removed, with every further table",
        partial(fit, counted(sequences=True), 2.0, unit="row", parts=parts),
    )
    yield "chain_rows_replace", "one row replaced", partial(fit, counted(), 2.0, unit="row", change="replace")
    yield (
        "chain_rows_state",
        "the state of one row replaced",
        partial(fit, counted(), 2.0, unit="row", change="replace-state"),
    )
    yield "chain_rows_memory", "a memory of 2", partial(fit, counted(memory=2), 2.0, unit="row")
    yield "chain_users", "whole users with a cap", partial(fit, counted(cap=5), 4.0, unit="user")
    yield (
        "chain_users_replace",
        "whole users replaced",
        partial(
            fit, counted(cap=5, sequences=True), 4.0, unit="user", change="replace", parts=["starts", "ends"]
        ),
    )
    yield (
        "chain_users_strata",
        "users in strata by length",
        partial(fit, counted(strata=[(2, 2), (4, 6)], sequences=True), 4.0, unit="user"),
    )
    yield (
        "chain_users_strata_memory",
        "strata and a memory of 2 with a cap of its own",
        partial(
            fit,
            counted(strata=[(2, 2), (4, 6)], sequences=True, memory=2, second_cap=3),
            4.0,
            unit="user",
            change="replace",
        ),
    )
    yield (
        "chain_users_gaussian",
        "users, discrete Gaussian noise",
        partial(
            fit, counted(cap=5, sequences=True, memory=2), 4.0, unit="user", delta=1e-6, mechanism="gaussian"
        ),
    )
    yield (
        "chain_groups",
        "one chain for each group",
        partial(fit, counted(group="day", groups=["week", "weekend"]), 2.0, unit="row"),
    )
    yield (
        "chain_sequences",
        "a list of sequences, each of somebody else",
        partial(
            fit,
            veil.count_transitions([["a", "b", "a"], ["b", "a"], ["a", "a", "b"]], states=["a", "b"], cap=2),
            4.0,
            unit="user",
        ),
    )
    yield (
        "chain_dirichlet",
        "rows by Dirichlet, a public number of records",
        partial(fit, full, 1.0, delta=1e-6, mechanism="dirichlet", records=3000),
    )
    yield (
        "chain_dirichlet_sizes",
        "Dirichlet rows beside noisy tables",
        partial(
            fit, counted(sequences=True), 2.0, unit="row", delta=1e-6, mechanism="dirichlet", parts=parts
        ),
    )
    yield (
        "chain_published",
        "the published form",
        partial(fit, full, 2.0, delta=1e-3, mechanism="published", change="replace", floor=0.2),
    )
    lengths = veil.GeometricCounts(2.0, 3)
    made = veil.PrivateChain(
        3,
        [
            Part("transitions", veil.GeometricCounts(4.0, 9), (3, 3)),
            Part("lengths", lengths, (3,), bins=(1, 2, 5)),
        ],
    )
    few = Sequences(np.array([9, 5, 6]), np.array([8, 8, 4]), np.array([5, 9, 6]), LengthBins((1, 2, 5)))
    yield (
        "chain_own_parts",
        "a mechanism made by hand, with a few bins of lengths",
        partial(
            veil.release,
            made,
            veil.TransitionCounts([[9, 3, 1], [2, 8, 4], [5, 5, 5]], ["a", "b", "c"], cap=4, sequences=few),
            adjacency=veil.Transitions("user", "add-remove", 4),
        ),
    )


def words() -> Iterator[Example]:
    """One word, several, tables of words; free words, paths and automata."""
    streets = {"home": ["shop", "work"], "shop": ["home", "work"], "work": ["home"]}
    paths, begun = veil.ChainWords(streets, 5), veil.ChainWords(streets, 4, start="home")
    free, drive = veil.FreeWords("abc", 4), ["home", "shop", "work", "home", "work"]
    even = {("even", "a"): "odd", ("even", "b"): ["even", "odd"], ("odd", "a"): "even", ("odd", "b"): "odd"}
    odd = {((0, 0), "x"): (0, 1), ((0, 0), "y"): [(0, 0)], ((0, 1), "x"): (0, 0), ((0, 1), "y"): [(0, 1)]}
    odd = {key: ends if isinstance(ends, list) else [ends] for key, ends in odd.items()}

    yield "word_exponential", "one path", of(veil.ExponentialWords(paths, 2.0), drive)
    yield (
        "word_exponential_generic",
        "the published rate, a public start",
        of(veil.ExponentialWords(begun, 2.0, calibration="generic"), ["shop", "work", "home", "shop"]),
    )
    yield "words_exponential_one", "a batch of one word", of(veil.ExponentialWords(free, 2.0), ["abca"])
    yield (
        "words_exponential",
        "several words of equal length",
        of(
            veil.ExponentialWords(veil.FreeWords(4, 6), 2.0, radius=2),
            [[0, 1, 2, 3, 0, 1], [3, 3, 3, 3, 3, 3]],
        ),
    )
    yield (
        "words_exponential_wider",
        "more hidden than it was built for",
        of(veil.ExponentialWords(paths, 1.0), [drive, drive], adjacency=veil.Hamming(2)),
    )
    yield (
        "word_numbers",
        "symbols that are no text: a file holds them as such",
        of(veil.ExponentialWords(veil.FreeWords([0.5, 1.5], 3), 2.0), [0.5, 1.5, 0.5]),
    )
    yield (
        "word_automaton",
        "a word that an automaton accepts",
        of(veil.ExponentialWords(veil.AutomatonWords(even, "even", ["even"], 4), 2.0), list("abab")),
    )
    yield (
        "words_automaton",
        "an automaton whose states are no text",
        of(
            veil.BalancedWords(veil.AutomatonWords(odd, (0, 0), [(0, 0), (0, 1)], 4), 2.0),
            [list("xyxy"), list("yyyx")],
        ),
    )
    yield "word_balanced", "one path, balanced weights", of(veil.BalancedWords(paths, 2.0), drive)
    yield "word_balanced_free", "free words need no weights", of(veil.BalancedWords(free, 2.0), "abca")
    yield "word_sequential", "one path, symbol by symbol", of(veil.SequentialWords(begun, 2.0), drive[1:])
    yield "words_permute_and_flip", "several paths", of(veil.PermuteAndFlip(paths, 2.0), [drive, drive])
    yield "words_staircase", "free words", of(veil.StaircaseWords(free, 2.0, radius=2), ["abca", "cccc"])
    yield (
        "table_free",
        "a table of words inside the record, two of each person",
        of(veil.EachWord(veil.ExponentialWords(free, 1.0), words_each=2), ["abca", "b", "cc", "abc"]),
    )
    yield (
        "table_paths",
        "a table of paths inside the record",
        partial(veil.release_words, [drive, drive[:2], drive[:3]], paths, epsilon=3.0, mechanism="balanced"),
    )
    yield (
        "table_symbols_found",
        "the alphabet was read off the words",
        partial(veil.release_words, [["a", "b"], ["b", "b", "a"]], epsilon=2.0, words_each=2),
    )
    yield "word_online", "released while it was being made", partial(online_word, begun, drive[1:])


def online_word(language: Any, word: Any, *, ledger: Any = None, rng: Any = None) -> veil.Release:
    """A word that was handed in symbol by symbol."""
    trip = veil.online(veil.SequentialWords(language, 2.0), ledger=ledger, rng=rng)
    for symbol in word:
        trip.push(symbol)
    return trip.finish()


def bits() -> Iterator[Example]:
    """Tables of bits of one and two axes, with and without labels; every form of the published noise."""
    table = np.random.default_rng(5).random((6, 4)) < 0.4
    votes = pandas.DataFrame(table, columns=["aye", "nay", "é", "4th"])
    theta = np.array([[0.4, 0.2], [0.2, -0.3]])
    block = veil.Xor(veil.MatrixBernoulli(theta, 0.2 * np.eye(2), 2))
    pairs = veil.MatrixBernoulli(theta, {(0, 1): [[0.1, 0.3], [0.0, 0.1]], (1, 2): 0.2 * np.eye(2)}, 3)
    strong = veil.MatrixBernoulli(
        np.where(np.eye(5, dtype=bool), -2.0, 3.0), np.where(np.eye(5, dtype=bool), 1.5, -2.0), 5
    )

    whole = veil.BitFlips(2, where="row")
    yield "bits_staircase_row", "one record, one axis", of(veil.StaircaseXor(5, 1.0), [1, 0, 0, 1, 1])
    yield "bits_staircase", "records with labels", partial(veil.release_bits, votes, epsilon=4.0)
    yield (
        "bits_staircase_table",
        "noise over a whole table",
        of(veil.StaircaseXor(4, 1.0, flips=2, rows=6), table),
    )
    yield (
        "bits_response",
        "single bits with labels",
        partial(veil.release_bits, votes, epsilon=2.0, unit="bit", mechanism="response"),
    )
    yield (
        "bits_response_three",
        "three bits anywhere, one axis",
        of(veil.RandomizedResponse(1.0), table[0], adjacency=veil.BitFlips(3)),
    )
    yield "bits_xor", "the published noise", of(block, [[1, 0], [0, 1]], adjacency=whole)
    yield (
        "bits_xor_as_it_is",
        "without the complement",
        of(veil.Xor(veil.MatrixBernoulli(theta, None, 3), complement=False), table[:3, :2], adjacency=whole),
    )
    yield (
        "bits_xor_pairs",
        "couplings of single pairs of rows",
        of(veil.Xor(pairs), table[:3, :2], adjacency=whole),
    )
    yield (
        "bits_xor_parameters",
        "the paper's own parameters",
        of(
            veil.Xor(veil.xor_parameters(1.0, 0.7, 6, 4, 4)),
            votes.astype(int),
            adjacency=veil.BitFlips(4, where="row"),
        ),
    )
    yield (
        "bits_xor_near",
        "noise that is drawn only nearly as stated",
        of(veil.Xor(strong, accept="unquantified delta"), np.eye(5, dtype=bool), adjacency=whole),
    )
    yield (
        "bits_xor_blocks",
        "two bands of blocks",
        of(
            veil.XorBlocks([[block, block], [block, block]]),
            table[:4],
            adjacency=veil.BitFlips(4, where="row"),
        ),
    )
    yield "bits_learn", "a training set for scikit-learn", partial(learned, table)


def learned(table: Any, *, ledger: Any = None, rng: Any = None) -> veil.Release:
    """The release behind a private training set."""
    step = PrivateBits(2.0, ledger=ledger, random_state=rng)
    step.fit_transform(table, table[:, 0])
    return step.release_


def graphs() -> Iterator[Example]:
    """Graphs of every kind and form, small and large, with facts, and facts alone."""
    club = networkx.karate_club_graph()
    friends = [("ann", "bob"), ("bob", "cy"), ("dee", "ann")]
    named = veil.Graph.from_edges(friends, ["ann", "bob", "cy", "dee", "é 5"])
    looped = veil.Graph.from_edges([*friends, ("cy", "cy")], ["ann", "bob", "cy", "dee"], loops=True)
    arrows = networkx.DiGraph([(3, 1), (1, 7), (7, 3), (3, 7)])
    circle = np.roll(np.eye(9, dtype=bool), 1, axis=1)
    sides = networkx.Graph()
    sides.add_nodes_from(["ann", "bob"], bipartite=0)
    sides.add_nodes_from(["tea", "cake", "jam"], bipartite=1)
    sides.add_edges_from([("ann", "tea"), ("bob", "jam"), ("ann", "jam")])
    share = veil.Graph.of(csr_array(np.array([[1, 0, 1], [0, 1, 1]])), bipartite=True)

    def hidden(graph: Any, epsilon: float, **settings: Any) -> Make:
        return partial(veil.release_graph, graph, epsilon=epsilon, **settings)

    def many(nodes: int, **kind: bool) -> veil.Graph:
        ends = np.random.default_rng(3).integers(nodes, size=(5_600, 2)).tolist()
        return veil.Graph.from_edges([(a, b) for a, b in ends if a != b], nodes, **kind)

    yield "graph_undirected", "NetworkX, nodes without labels", hidden(club, 3.0)
    yield "graph_labels", "labels that are text", hidden(named, 2.0)
    yield "graph_sparse", "a SciPy matrix", hidden(csr_array(circle | circle.T), 2.0)
    yield "graph_directed", "NetworkX, labels that are whole numbers", hidden(arrows, 2.0)
    yield (
        "graph_directed_sparse",
        "a SciPy matrix",
        hidden(veil.Graph.of(csr_array(circle), directed=True), 2.0),
    )
    yield "graph_loops", "undirected with loops", hidden(looped, 2.0)
    yield (
        "graph_directed_loops",
        "directed with loops, without labels",
        hidden(veil.Graph.from_edges([(0, 1), (2, 2), (3, 0)], 4, directed=True, loops=True), 2.0),
    )
    yield "graph_bipartite", "NetworkX with labels", hidden(veil.Graph.of(sides, bipartite=True), 2.0)
    yield "graph_bipartite_sparse", "a SciPy matrix", hidden(share, 2.0)
    yield "graph_empty", "none of its edges is left", hidden(veil.Graph.from_edges([], 4), 30.0)
    yield (
        "graph_two_edges",
        "two edges are hidden at once",
        partial(veil.release, veil.RandomizedResponse(1.0), named, adjacency=veil.BitFlips(2)),
    )
    yield (
        "graph_facts",
        "a graph and facts beside it",
        hidden(club, 3.0, statistics=["degrees", "edges", "triangles"]),
    )
    yield (
        "graph_directed_facts",
        "its number of edges beside it",
        hidden(arrows, 3.0, statistics=["edges"], share=0.5),
    )
    yield (
        "graph_facts_alone",
        "facts without the graph",
        hidden(club, 1.0, statistics=["degrees", "edges", "triangles"], share=1.0),
    )
    yield (
        "graph_facts_alone_bipartite",
        "the number of edges without the graph",
        hidden(share, 1.0, statistics=["edges"], share=1.0),
    )
    yield "graph_published", "the published form", hidden(club, 5.0, mechanism="published", alpha=0.8)
    yield (
        "graph_published_own",
        "the published noise made by hand",
        partial(
            veil.release,
            veil.XorGraph(veil.MatrixBernoulli(0.4 * np.eye(5), 0.05 * np.eye(5), 5), complement=False),
            named,
        ),
    )
    yield "graph_large_1", "more than 5,000 edges, gaps of one byte", hidden(many(130, directed=True), 1.0)
    yield "graph_large_2", "gaps of two bytes", hidden(many(3_000), 9.0)
    yield "graph_large_4", "gaps of four bytes", hidden(many(100_000), 22.0)
    yield "graph_large_8", "gaps of eight bytes", hidden(many(50_000_000), 40.0)


@cache
def examples() -> tuple[Example, ...]:
    """Every example there is."""
    return (*vectors(), *matrices(), *chains(), *words(), *bits(), *graphs())


# Drawn from secret randomness, though charged to nobody.
UNSEEDED = {
    "counts_geometric",
    "vector_laplace",
    "matrix_dirichlet_labels",
    "chain_events",
    "table_paths",
    "bits_staircase",
    "graph_facts",
}


# The command line


def command(*arguments: Any) -> tuple[int, str]:
    """Run `veil` in this process: its exit code and what it printed."""
    printed, kept = io.StringIO(), sys.argv
    sys.argv = ["veil", *map(str, arguments)]
    code = 0
    try:
        with redirect_stdout(printed), redirect_stderr(io.StringIO()) as said:
            run()
    except SystemExit as left:
        code = int(left.code or 0)
    finally:
        sys.argv = kept
    if code not in (0, 4):
        raise RuntimeError(f"veil {arguments}: {code} {said.getvalue()}")
    return code, printed.getvalue()


TABLES = {
    "drives.csv": "driver,minute,segment\n"
    + "".join(
        f"{who},{minute},{street}\n"
        for who, path in {"ann": "abcab", "bob": "ab", "cy": "cab", "dee": "abc"}.items()
        for minute, street in enumerate(path)
    ),
    "days.csv": "driver,day,minute,segment\n"
    + "".join(
        f"{who},{day},{minute},{street}\n"
        for who, days in {"ann": ["abcab", "ab"], "bob": ["ab"], "cy": ["cab", "abca"]}.items()
        for day, path in enumerate(days)
        for minute, street in enumerate(path)
    ),
    "streets.csv": "from,to\na,b\nb,c\nc,a\nb,a\n",
    "grades.csv": "grade,students\nA,31\nB,28\nC,21\nD,10\nF,8\n",
    "roads.csv": "from,a,b,c\na,0.5,0.5,0\nb,0,0.6,0.4\nc,0.3,0.3,0.4\n",
    "trips.csv": "pickup,dropoff\n" + "x,y\ny,x\ny,z\nz,x\n" * 30,
    "friends.txt": "ann bob\nbob cy\ncy dee\ndee ann\nann cy\n",
    "ballots.csv": "first,second,third\n1,0,1\n0,0,1\n1,1,0\n0,1,1\n",
}
LOG = "--order minute --state segment"
DRIVES = f"words drives.csv --by driver {LOG}"
# By name: what it is a sample of, the ending of the output, the command.
COMMANDS = {
    "cli_words_csv": (
        "words in a .csv beside the record",
        ".csv",
        f"{DRIVES} --chain streets.csv --epsilon 5",
    ),
    "cli_words_parquet": (
        "words in a .parquet beside the record, two of each person",
        ".parquet",
        f"words days.csv --by driver --by day --words-each 2 {LOG} --chain streets.csv -e 5 -m exponential",
    ),
    "cli_words_gzip": (
        "words in a .csv.gz beside the record, the alphabet read off them",
        ".csv.gz",
        f"{DRIVES} --epsilon 5",
    ),
    "cli_words_keys": (
        "words with their keys in a .csv beside the record",
        ".csv",
        f"{DRIVES} --symbols a,b,c,d --longest 6 --epsilon 5 --keep-keys",
    ),
    "cli_words_record": (
        "words inside the record",
        ".json",
        f"{DRIVES} --symbols a,b,c --epsilon 5 --mechanism staircase --radius 2",
    ),
    "cli_vector": (
        "a vector with labels and a public number of records",
        ".json",
        "vector grades.csv --records 98 --epsilon 1 --delta 1e-6",
    ),
    "cli_matrix": (
        "a matrix whose zeros are public",
        ".json",
        "matrix roads.csv --l1 0.02 --rows 1 --support zeros --epsilon 2",
    ),
    "cli_chain": (
        "a chain from a file whose layout was guessed",
        ".json",
        "chain trips.csv --from pickup --to dropoff --states x,y,z --epsilon 1 --records 120",
    ),
    "cli_graph": (
        "a graph from lines of text, its nodes read off the edges",
        ".json",
        "graph friends.txt --epsilon 3 --with edges,triangles",
    ),
    "cli_bits": (
        "a table of bits with the names of its columns",
        ".json",
        "bits ballots.csv --epsilon 4",
    ),
}


def by_command(target: Path) -> dict[str, str]:
    """The releases that the command line writes: what each is a sample of."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for name, text in TABLES.items():
            Path(name).write_text(text)
        for name, (_, ending, asked) in COMMANDS.items():
            code, _ = command(
                "release", *asked.split(), "--seed", SEED, "-o", target / f"{name}{ending}", "--json"
            )
            if code:
                raise RuntimeError(name)
    lost = json.loads((target / "cli_words_csv.json").read_text())
    lost["value"]["file"] = "not-there.csv"
    (target / "cli_words_without_table.json").write_text(json.dumps(lost, indent=2) + "\n")
    said = {name: about for name, (about, _, _) in COMMANDS.items()}
    return said | {"cli_words_without_table": "words in a table that is not there"}


# Releases


class Purse:
    """A ledger that is not Veil's, and names its entries as it likes."""

    def __init__(self, entry: Any) -> None:
        self._entry = entry

    def reserve(self, *, epsilon: float, delta: float, description: dict[str, Any]) -> Any:
        return self._entry

    def confirm(self, entry: Any) -> None:
        """Nothing to note."""


def write_releases(target: Path) -> dict[str, str]:
    """Every example, charged to no ledger of Veil: what each file is a sample of."""
    target.mkdir()
    said, names = {}, set()
    for name, about, make in examples():
        out = make(rng=None if name in UNSEEDED else SEED)
        out.save(target / f"{name}.json")
        said[name] = about
        names.add(out.mechanism.name)
    if names != set(_PLACES):
        raise RuntimeError(f"no sample of {set(_PLACES) - names}")
    noise, counts = veil.GeometricCounts(10.0, 3), [31, 28, 39]
    for name, entry in {"number": 7, "name": "purse-7 é", "fraction": Fraction(1, 3)}.items():
        out = veil.release(noise, counts, adjacency=veil.Records(), ledger=Purse(entry))
        out.save(target / f"foreign_entry_{name}.json")
        said[f"foreign_entry_{name}"] = "charged to a ledger that is not Veil's"
    return said | by_command(target)


def write_schema_1(source: Path, target: Path) -> dict[str, str]:
    """Some releases as the first schema had them: an entry was a bare number or name."""
    target.mkdir()
    entries: dict[str, Any] = {
        "counts_geometric": None,
        "vector_dirichlet_batch": 12,
        "matrix_policy": "entry-1",
        "chain_rows": None,
        "word_exponential": 3,
        "table_paths": None,
        "cli_words_csv": None,
        "bits_staircase": "é 4",
        "graph_labels": None,
        "graph_large_2": 0,
        "graph_facts_alone": 5,
    }
    for name, entry in entries.items():
        content = json.loads((source / f"{name}.json").read_text())
        if content["entry"] is not None:
            raise RuntimeError(name)
        old = content | {"schema": 1, "entry": entry}
        (target / f"{name}.json").write_text(json.dumps(old, indent=2, ensure_ascii=False) + "\n")
    shutil.copy(source / "cli_words_csv.csv", target)
    return {name: f"schema 1, entry {entry!r}" for name, entry in entries.items()}


# Ledgers


class Shelf:
    """The folder of one ledger, and the releases that were charged to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "charged").mkdir(parents=True)
        self.ledger = veil.Ledger(folder / "ledger.db")
        self.said: dict[str, str] = {}

    def open(self, name: str, *, epsilon: Any, **settings: Any) -> veil.Dataset:
        settings = {"why": "a sample", "by": BY} | settings
        return self.ledger.open(name, epsilon=epsilon, **settings)

    def keep(self, name: str, about: str, out: veil.Release) -> None:
        out.save(self.folder / "charged" / f"{name}.json")
        self.said[name] = about

    def export(self, file: str, *options: str) -> None:
        command("ledger", "export", self.folder / "ledger.db", "-o", self.folder / file, *options)

    def finish(self) -> dict[str, str]:
        """All of it in the one file."""
        self.ledger._store.close()
        complete(self.folder / "ledger.db")
        return self.said


def complete(file: Path) -> None:
    """Move what stands in the log of a database into the database itself."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for ending in ("-wal", "-shm"):
        file.with_name(file.name + ending).unlink(missing_ok=True)


def ledger_of_kinds(folder: Path) -> dict[str, str]:
    """A release of every mechanism, from secret randomness, on one budget without an adjacency."""
    shelf = Shelf(folder)
    dataset, seen = shelf.open("every kind", epsilon=1000, delta="0.1"), set()
    for name, about, make in examples():
        released = veil.load(HERE / "releases" / f"{name}.json")
        kind = make.func if make.func in (online_word, learned) else released.mechanism.name
        if kind not in seen:
            seen.add(kind)
            shelf.keep(name, about, make(ledger=dataset))
    seeded = shelf.open("from a seed", epsilon="5.5", delta=1e-6)
    for name, about, make in examples():
        if name in {"counts_geometric", "graph_labels"}:
            shelf.keep(f"{name}_seeded", f"{about}, from a seed", make(ledger=seeded, rng=SEED))
    # Too long to be written down: an entry then has its name and its hash.
    long = veil.ChainWords(np.ones((40, 40)), 3)
    out = veil.release(veil.ExponentialWords(long, 2.0), [1, 2, 3], ledger=dataset, rng=SEED)
    shelf.keep("long_description", "a mechanism whose description is too long for an entry", out)
    shelf.export("heads.json", "--heads")
    return shelf.finish()


def ledger_of_adjacencies(folder: Path) -> dict[str, str]:
    """A dataset for every short name of an adjacency, and a release that hides what it asks."""
    shelf, known = Shelf(folder), {name: make for name, _, make in examples()}
    near = veil.Transfer(0.05)
    wanted: dict[str, Make] = {
        "add-remove": known["counts_geometric"],
        "replace": known["counts_discrete_gaussian"],
        "event": known["chain_events"],
        "event-replace": known["chain_events_replace"],
        "row": known["chain_groups"],
        "row-replace": known["chain_rows_replace"],
        "user": known["chain_users"],
        "user-replace": partial(veil.fit_chain, counted(cap=3), 4.0, unit="user", change="replace"),
        "edge": known["graph_labels"],
        "words:1": known["word_exponential"],
        "words:2": known["words_staircase"],
        "bits:1": known["bits_response"],
        "bits:3": known["bits_response_three"],
        "row-bits:4": known["bits_staircase"],
        "transfer:0.05": known["vector_laplace"],
        "matrix-row:0.05": known["matrix_dirichlet_labels"],
        "matrix:0.05": known["matrix_rows_laplace"],
        "rectangle:0.1": known["matrix_doubly"],
        # More is hidden than is asked.
        "transfer:0.01": known["vector_gaussian"],
        '{"name": "Contributions", "added": 2, "removed": 2}': known["counts_geometric_several"],
        '{"name": "Transitions", "unit": "row", "change": "replace-state"}': known["chain_rows_state"],
        '{"name": "Hamming", "radius": 1, "words_each": 2}': known["table_free"],
        '{"name": "Rows", "changed": 2, "each": {"name": "Transfer", "mass": 0.05}}': partial(
            veil.release,
            veil.RowByRow(veil.Gaussian(0.2, veil.Simplex(3)), rows=2),
            np.full((2, 3), 1 / 3),
            adjacency=veil.Rows("all", near),
            delta=1e-5,
        ),
    }
    for short, make in wanted.items():
        adjacency = adjacency_named(short)
        name = short if short[0] != "{" else f"as in a record: {adjacency.words}"
        dataset = shelf.open(name, epsilon=50, delta="0.01", adjacency=adjacency)
        plain = short.partition("{")[0] or type(adjacency).__name__.lower() + "_json"
        shelf.keep(plain.replace(":", "_"), f"charged to {name}", make(ledger=dataset))
    shelf.export("heads.json", "--heads")
    return shelf.finish()


def ledger_of_accounts(folder: Path) -> dict[str, str]:
    """Every rule of accounting, parts, batches, budgets raised and closed, odd amounts and names."""
    shelf = Shelf(folder)
    add, replace = veil.Records("add-remove"), veil.Records("replace")
    counts, tenth = [31, 28, 39], veil.GeometricCounts(10.0, 3)
    normal, rows = veil.DiscreteGaussianCounts(20.0, 3), veil.DirichletCounts(2.2, 100, 3)

    def spend(name: str, account: Any, mechanism: Any, adjacency: Any, delta: float | None = None) -> None:
        out = veil.release(mechanism, counts, adjacency=adjacency, delta=delta, ledger=account)
        shelf.keep(name, f"charged to {account!r}".partition(" of ")[0], out)

    shelf.open("untouched", epsilon="0.1", why=None)
    basic = shelf.open("basic", epsilon=1, delta="1e-5", adjacency=add)
    spend("basic_pure", basic, tenth, add)
    spend("basic_delta", basic, veil.DirichletCounts(0.5, 100, 3), add, 1e-6)
    odd = shelf.open('größe 日本, "odd" amounts', epsilon=1 / 3, delta=1 / 7)
    spend("odd_third", odd, veil.GeometricCounts(7.0, 3), add)
    spend("odd_small", odd, veil.GeometricCounts(1e9, 3), replace)

    zcdp = shelf.open("zcdp", epsilon=1, delta="1e-6", adjacency=add, accounting="zcdp")
    spend("zcdp_geometric", zcdp, tenth, add)
    spend("zcdp_gaussian", zcdp, normal, add, 1e-9)
    renyi = shelf.open("renyi", epsilon=3, delta="1e-6", adjacency=add, accounting="renyi")
    spend("renyi_dirichlet", renyi, rows, add, 1e-8)
    spend("renyi_geometric", renyi, tenth, add)
    own = shelf.open("renyi, own orders", epsilon=3, delta="1e-6", accounting="renyi", orders=[3.5, 10, 32])
    spend("renyi_own_gaussian", own, normal, replace, 1e-8)

    # What is exported here is less than what stands in the end.
    shelf.export("heads.json", "--heads")

    parts = shelf.open("parts", epsilon=1, delta="1e-5", adjacency=add, parts=["north", "south", "é west"])
    spend("parts_north", parts.part("north"), tenth, add)
    spend("parts_south", parts.part("south"), normal, add, 1e-6)
    spend("parts_all", parts, tenth, add)
    moves = shelf.open(
        "parts, moves", epsilon=2, delta="1e-4", adjacency=replace, parts=["north", "south"], moves=True
    )
    spend("moves_north", moves.part("north"), tenth, add)
    spend("moves_south", moves.part("south"), normal, add, 1e-6)
    spend("moves_all", moves, tenth, replace)
    filtered = shelf.open(
        "parts, moves, zcdp",
        epsilon=2,
        delta="1e-6",
        adjacency=replace,
        accounting="zcdp",
        parts=["north", "south"],
        moves=True,
    )
    spend("moves_zcdp", filtered.part("north"), tenth, add)
    people = shelf.open(
        "parts, users move",
        epsilon=20,
        adjacency=veil.Transitions("user", "replace", 5),
        parts=["north", "south"],
        moves=True,
    )
    out = veil.fit_chain(counted(cap=5), 2.0, unit="user", ledger=people.part("south"))
    shelf.keep("moves_users", "a chain of a part, where whole users move", out)

    raised = shelf.open("raised", epsilon="0.15", adjacency=add)
    spend("raised_before", raised, tenth, add)
    raised.raise_budget(epsilon="0.5", why="approved", by=BY)
    spend("raised_after", raised, tenth, add)
    raised.raise_budget(delta=1e-6, why="approved again", by=BY)
    spend("raised_delta", raised, normal, add, 1e-7)
    closed = shelf.open("closed", epsilon=1)
    spend("closed_before", closed, tenth, add)
    closed.close(why="the study has ended", by=BY)

    together = shelf.open("batch", epsilon=3, delta="1e-5", adjacency=add)
    little = veil.GeometricCounts(50.0, 3)
    batch = together.batch([little] * 20 + [normal, rows], delta=1e-6)
    spend("batch_first", batch, little, add)
    spend("batch_gaussian", batch, normal, add, 1e-7)
    spend("batch_again", batch, little, add)
    filtering = shelf.open("batch, zcdp", epsilon=1, delta="1e-6", accounting="zcdp")
    spend("batch_zcdp", filtering.batch([little, normal], adjacency=add, delta=1e-7), little, add)
    apart = shelf.open("batch of a part", epsilon=1, delta="1e-5", adjacency=add, parts=["a", "b"])
    spend("batch_part", apart.part("b").batch([little, little], delta=1e-6), little, add)

    # Spent, not confirmed: a release that died, and a word that was broken off.
    broken = shelf.open("not confirmed", epsilon=10)
    broken.reserve(epsilon=0.25, delta=0.0, description={"name": "something else", "of": ["another program"]})
    veil.online(veil.SequentialWords(veil.FreeWords("ab", 3), 2.0), ledger=broken, rng=SEED).push("a")
    shelf.export("export.json")
    write_others(shelf)
    return shelf.finish()


def write_others(shelf: Shelf) -> None:
    """Releases that the ledger must not own up to: of others, charged to nobody, or changed since."""
    target = shelf.folder / "others"
    target.mkdir()
    good = json.loads((shelf.folder / "charged" / "basic_pure.json").read_text())
    entry, privacy = good["entry"], good["privacy"]
    stronger = good["mechanism"]["parameters"] | {"scale": 20.0}
    changed: dict[str, dict[str, Any]] = {
        "uncharged": {"entry": None},
        "foreign_entry": {"entry": {"id": 7}},
        "other_ledger": {"entry": entry | {"ledger": "0" * 32}},
        "other_hash": {"entry": entry | {"sha256": "0" * 64}},
        "other_dataset": {"entry": entry | {"dataset": "untouched"}},
        "no_such_entry": {"entry": entry | {"number": 99}},
        "no_charge": {"entry": entry_of(shelf, "basic", 1)},
        "other_epsilon": {"privacy": privacy | {"epsilon": 0.2}},
        "other_mechanism": {"mechanism": good["mechanism"] | {"parameters": stronger}},
        "other_adjacency": {"adjacency": good["adjacency"] | {"change": "replace"}},
        "other_seed": {"reproducible": True},
    }
    for name, fields in changed.items():
        (target / f"{name}.json").write_text(json.dumps(good | fields, indent=2, ensure_ascii=False) + "\n")


def entry_of(shelf: Shelf, dataset: str, number: int) -> dict[str, Any]:
    """The id of an entry, as a release would name it."""
    return shelf.ledger.dataset(dataset).entries()[number - 1].id.to_dict()


def ledger_of_schema_1(folder: Path) -> dict[str, str]:
    """A ledger whose tables are those of the first schema: without the triggers that refuse changes."""
    shelf = Shelf(folder)
    dataset = shelf.open("trips", epsilon=1, adjacency=veil.Records())
    for number in range(2):
        out = veil.release(
            veil.GeometricCounts(10.0, 3), [31, 28, 39], adjacency=veil.Records(), ledger=dataset
        )
        shelf.keep(f"trips_{number}", "charged to a ledger of the first schema", out)
    shelf.export("heads.json", "--heads")
    said = shelf.finish()
    with closing(sqlite3.connect(folder / "ledger.db")) as connection:
        for (trigger,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall():
            connection.execute(f"DROP TRIGGER {trigger}")
        connection.execute("UPDATE veil_ledger SET value = '1' WHERE key = 'schema'")
        connection.commit()
    complete(folder / "ledger.db")
    return said


LEDGERS = {
    "kinds": ledger_of_kinds,
    "adjacencies": ledger_of_adjacencies,
    "accounts": ledger_of_accounts,
    "schema1": ledger_of_schema_1,
}


# What 0.1 says of them


def kind_of(release: veil.Release) -> str:
    """What the value is, in one plain word."""
    if release.is_words:
        return "words"
    if release.graph is not None or release.is_facts:
        return "graph"
    if release.is_bits:
        return "bits"
    return "chain" if release.is_chain else "matrix" if release.is_matrix else "vector"


def size_of(release: veil.Release) -> dict[str, Any]:
    """How much there is of it; of a graph also two edges, since its file may hold gaps."""
    if release.is_words:
        held = release.value
        lengths = (
            held.lengths if isinstance(held, WordsElsewhere) else count_of(release.batch.lengths.tolist())
        )
        words = len(held) if isinstance(held, WordsElsewhere) else len(release.batch)
        return {"words": words, "lengths": {str(length): count for length, count in lengths.items()}}
    if release.is_facts:
        return {"facts": {name: len(table) for name, table in release.tables.items()}}
    if release.graph is not None:
        graph = release.graph
        rows, columns = (ends.tolist() for ends in graph.edges())
        found = {"nodes": graph.space.nodes, "edges": len(graph)}
        return found | ({"first": [rows[0], columns[0]], "last": [rows[-1], columns[-1]]} if rows else {})
    return {"shape": list(release.array.shape)}


def count_of(lengths: list[int]) -> dict[int, int]:
    """How many there are of each."""
    return {length: lengths.count(length) for length in sorted(set(lengths))}


def expected_release(path: Path, about: str) -> dict[str, Any]:
    """What 0.1 makes of a file, and what `veil inspect --json` prints; it must verify."""
    release, content = veil.load(path), json.loads(path.read_text())
    code, printed = command("inspect", path, "--json")
    inspected = json.loads(printed)
    del inspected["file"]
    if code or not inspected["verified"] or inspected.get("table_is_the_one_written") is False:
        raise RuntimeError(f"{path}: {printed}")
    return {
        "about": about,
        "schema": content["schema"],
        "epsilon": release.epsilon,
        "delta": release.delta,
        "mechanism": release.mechanism.name,
        "kind": kind_of(release),
        "form": content["value"].get("type", ""),
        "size": size_of(release),
        "tables": {name: list(np.shape(table)) for name, table in release.tables.items()},
        "labels": None if release.labels is None else list(release.labels),
        "row_labels": None if release.row_labels is None else list(release.row_labels),
        "records": release.records,
        "inspect": inspected,
    }


def expected_ledger(folder: Path) -> dict[str, Any]:
    """What `veil ledger show --json` and `veil ledger verify --json` print, of a copy: looking may write."""
    with tempfile.TemporaryDirectory() as copies:
        copy = shutil.copytree(folder, Path(copies) / "copy")
        with chdir(copy):
            charged, others = (
                sorted(map(str, Path().glob(f"{name}/*.json"))) for name in ("charged", "others")
            )
            found = {"show": printed_json("ledger", "show", "ledger.db")}
            names = [dataset["name"] for dataset in found["show"]["datasets"]]
            found["show_dataset"] = {
                name: printed_json("ledger", "show", "ledger.db", name) for name in names
            }
            found["verify"] = printed_json(
                "ledger", "verify", "ledger.db", *charged, "--against", "heads.json"
            )
            if not found["verify"]["verified"]:
                raise RuntimeError(f"{folder}: {found['verify']}")
            if Path("export.json").exists():
                found["verify_export"] = printed_json(
                    "ledger", "verify", "ledger.db", "--against", "export.json"
                )
            if others:
                found["verify_others"] = printed_json("ledger", "verify", "ledger.db", *others)
                if any(one["charged"] for one in found["verify_others"]["releases"]):
                    raise RuntimeError(f"{folder}: {found['verify_others']}")
    return found


def printed_json(*arguments: Any) -> Any:
    """What a command prints for machines."""
    return json.loads(command(*arguments, "--json")[1])


def written(content: dict[str, Any]) -> str:
    """JSON with one line for each release and each dataset, so that differences can be read."""
    lines = []
    for name, part in content.items():
        if isinstance(part, dict):
            inside = ",\n".join(f"  {text(key)}: {text(item)}" for key, item in part.items())
            lines.append(f" {text(name)}: {{\n{inside}\n }}")
        else:
            lines.append(f" {text(name)}: {text(part)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def text(content: Any) -> str:
    """On one line."""
    return json.dumps(content, ensure_ascii=False, allow_nan=False)


def check_files() -> None:
    """Nothing of this machine, no file that is not whole, and not too much of it."""
    files = [path for path in HERE.rglob("*") if path.is_file() and "_cache" not in str(path)]
    home = [f"{place}/" for place in (HERE, tempfile.gettempdir(), Path.home())]
    for path in files:
        content = path.read_bytes()
        if path.suffix != ".py" and any(place.encode() in content for place in home):
            raise RuntimeError(f"{path} names a place of this machine")
        if path.name.endswith(("-wal", "-shm")):
            raise RuntimeError(f"{path} was left over")
        path.chmod(0o644)
    total = sum(path.stat().st_size for path in files)
    if total > MOST_BYTES:
        raise RuntimeError(f"{total:,} bytes")
    print(f"{len(files)} files, {total:,} bytes")


def main() -> None:
    """Write all samples anew."""
    if veil.__version__ != "0.1.0":
        raise SystemExit(f"This needs Veil 0.1.0, not {veil.__version__}.")
    os.environ.pop("VEIL_LEDGER", None)
    warnings.simplefilter("ignore", veil.errors.PrivacyWarning)
    for folder in ("releases", "schema1", "ledgers"):
        shutil.rmtree(HERE / folder, ignore_errors=True)
    said = {f"releases/{name}": about for name, about in write_releases(HERE / "releases").items()}
    old = write_schema_1(HERE / "releases", HERE / "schema1")
    said |= {f"schema1/{name}": about for name, about in old.items()}
    for name, make in LEDGERS.items():
        folder = f"ledgers/{name}"
        said |= {f"{folder}/charged/{one}": about for one, about in make(HERE / folder).items()}
    releases = {
        f"{name}.json": expected_release(HERE / f"{name}.json", about) for name, about in said.items()
    }
    content = {
        "about": "What Veil 0.1.0 says of its own files; make_samples.py wrote all of it.",
        "veil": veil.__version__,
        "releases": releases,
        "ledgers": {name: expected_ledger(HERE / "ledgers" / name) for name in LEDGERS},
    }
    (HERE / "expected.json").write_text(written(content))
    check_files()


if __name__ == "__main__":
    main()
