"""How the cost grows with the entries of a vector, the records, the length of words and the nodes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import veil
from bench.clock import least_seconds
from bench.counting import LOG, ZONES
from bench.enumeration import all_words, permute_and_flip
from bench.measure import Growth
from bench.speed.counting import log
from bench.speed.graphs import random_edges
from bench.work import Work
from veil.graphs.graph import Graph
from veil.graphs.mechanisms.private_graph import PrivateGraph
from veil.graphs.mechanisms.randomized_response import RandomizedResponse
from veil.graphs.numerics.pairs import PairSpace
from veil.samples.streets import streets
from veil.words.chain_words import ChainWords
from veil.words.mechanisms.exponential_words import ExponentialWords
from veil.words.mechanisms.permute_and_flip import PermuteAndFlip

# A peer is left alone when one size takes longer.
PATIENCE = 2.0
DEGREE = 20


def _timed(work: Callable[[int], Any], sizes: list[int], *, runs: int = 3) -> list[float]:
    work(sizes[0])
    return [least_seconds(partial(work, size), runs=runs) for size in sizes]


def _until(seconds: Callable[[int], float | None], sizes: list[int]) -> tuple[list[int], list[float]]:
    """The sizes up to the one that takes too long, with their seconds."""
    done: list[float] = []
    for size in sizes:
        found = seconds(size)
        if found is None:
            break
        done.append(found)
        if found > PATIENCE:
            break
    return sizes[: len(done)], done


def entries(work: Work) -> list[Growth]:
    """The exact profile of a Dirichlet mechanism and one vector from it."""
    rng = np.random.default_rng(1)

    def release(size: int) -> None:
        mechanism = veil.vectors.Dirichlet(
            10.0 * size, veil.vectors.Simplex(size, floor=0.2 / size), smooth=True
        )
        mechanism.profile(veil.vectors.Transfer(0.1 / size)).delta(1.0)
        mechanism.sample(np.full(size, 1.0 / size))

    sizes = [10, 100, 1_000, 10_000, 100_000, 1_000_000, work.either(3_000_000, 10_000_000)]
    plain = _timed(lambda size: rng.dirichlet(np.full(size, 10.0)), sizes)
    return [
        Growth(
            "a Dirichlet vector and its exact profile",
            "entries n",
            sizes,
            _timed(release, sizes),
            "NumPy dirichlet, the draw alone",
            sizes,
            plain,
        )
    ]


def records(work: Work) -> list[Growth]:
    """Transitions of a log, counted."""
    most = work.either(3_000_000, 20_000_000)
    sizes = [int(most / 3.2**k) for k in range(5, -1, -1)]
    logs = {size: log(size) for size in sizes}
    what = "transitions counted from a log in no order"
    ours = _timed(lambda size: veil.chains.read(logs[size], **LOG, states=range(ZONES)), sizes)

    def pandas(size: int) -> float | None:
        answer = work.ask("pandas", "transitions", what, logs[size], states=ZONES, runs=3)
        return None if answer is None else answer.seconds

    return [Growth(what, "records N", sizes, ours, "pandas", *_until(pandas, sizes))]


def words(work: Work) -> list[Growth]:
    """One private drive by permute-and-flip, from scratch: with tables, and with a list of all drives."""
    roads = streets()
    names = list(roads)
    followers = [[names.index(road) for road in roads[name]] for name in names]
    start = names.index("Ash 1st-2nd")
    rng = np.random.default_rng(1)

    def ours(length: int) -> None:
        language = ChainWords(roads, length, start="Ash 1st-2nd")
        PermuteAndFlip(language, 2.0).sample(language.walks(1, rng=1)[0])

    def listed(length: int) -> float:
        def draw() -> None:
            every = all_words(followers, start, length)
            permute_and_flip(rng, every, every[0], 2.0)

        return least_seconds(draw, runs=1)

    sizes = [16, 32, 64, 128, 256, 512, 1024, *([] if work.quick else [2048])]
    listing = Growth(
        "a private word by permute-and-flip, from scratch",
        "length of the word",
        sizes,
        _timed(ours, sizes),
        "all words in a list, NumPy",
        *_until(listed, [*range(3, 13)]),
        law="exponential",
    )
    return [listing, *certificates(work)]


def certificates(work: Work) -> list[Growth]:
    """What the exponential mechanism costs: a word at the generic rate, and the proof of a better rate."""
    roads = streets()

    def drawn(length: int, calibration: str = "generic", epsilon: float = 2.0) -> None:
        language = ChainWords(roads, length, start="Ash 1st-2nd")
        ExponentialWords(language, epsilon, calibration=calibration).sample(language.walks(1, rng=1)[0])

    sizes = [64, 128, 256, 512, 1024, 2048, 4096]
    # A proof is made once for a language, and kept: each is timed the first time, after one of another.
    for length in (4, 5):
        drawn(length, "certified", 2.01)
    proved = [4, 5, 6, 8, 10, *([] if work.quick else [12, 16, 24])]
    seconds = [least_seconds(partial(drawn, length, "certified"), runs=1) for length in proved]
    axis = "length of the word"
    return [
        Growth(
            "a private word by the exponential mechanism, generic rate", axis, sizes, _timed(drawn, sizes)
        ),
        Growth("the same with a certified rate, its proof included", axis, proved, seconds),
    ]


def nodes(work: Work) -> list[Growth]:
    """A graph by randomised response, whose pairs grow as the square, and its triangles asked directly."""
    sizes = [250, 500, 1_000, 2_000, 4_000, 8_000, *([] if work.quick else [16_000])]
    graphs = {size: _graph(size) for size in sizes}
    what = f"a graph released at epsilon 4, {DEGREE} edges a node"
    ours = _timed(lambda size: veil.release(RandomizedResponse(4.0), graphs[size]), sizes)

    def opendp(size: int) -> float | None:
        pairs = np.zeros(PairSpace.among(size).count, dtype=bool)
        pairs[graphs[size].codes] = True
        answer = work.ask("opendp", "bits", what, {"table": pairs}, each=4.0, runs=1)
        return None if answer is None else answer.seconds

    released = Growth(what, "nodes", sizes, ours, "OpenDP bit vector of all pairs", *_until(opendp, sizes))
    return [released, *triangles(work)]


def triangles(work: Work) -> list[Growth]:
    """The private number of triangles, with the sensitivity that it needs."""
    most = work.either(16_000, 64_000)
    sizes = [most // 4**k for k in range(3, -1, -1)]
    sizes = sorted({*sizes, most // 2, most // 8})
    graphs = {size: _graph(size) for size in sizes}
    what = f"triangles asked directly, {DEGREE} edges a node"
    mechanism = PrivateGraph(1.0, statistics=["triangles"], share=1.0)
    ours = _timed(lambda size: veil.release(mechanism, graphs[size]), sizes)

    def networkx(size: int) -> float | None:
        edges = np.column_stack(graphs[size].edges())
        answer = work.ask("networkx", "graph", what, {"edges": edges}, nodes=size, triangles=True)
        return None if answer is None else float(answer.numbers["triangle_seconds"])

    return [Growth(what, "nodes", sizes, ours, "NetworkX, without privacy", *_until(networkx, sizes))]


def _graph(size: int) -> Graph:
    edges = random_edges(size, DEGREE)
    return Graph.from_edges([(int(a), int(b)) for a, b in edges], size)
