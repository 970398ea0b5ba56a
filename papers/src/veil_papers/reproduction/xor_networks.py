"""The XOR paper, reproduced: the networks that its exhibits share, and how they are released."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from veil.bits.mechanisms.matrix_bernoulli import xor_parameters
from veil.core.errors import InvalidArgument
from veil.core.job import release
from veil.core.random.streams import Rng
from veil.graphs.estimation import estimates
from veil.graphs.graph import Graph
from veil.graphs.mechanisms.randomized_response import RandomizedResponse
from veil.graphs.mechanisms.xor_graph import XorGraph
from veil.graphs.numerics.agreement import communities_of
from veil.graphs.numerics.decoding import pair_chances
from veil.graphs.numerics.triangles import Neighbours, neighbours
from veil.samples.friends import clubs, friends
from veil_papers.reproduction.exhibit import Run
from veil_papers.reproduction.institute import departments, messages
from veil_papers.xor_figures import EDGES
from veil_papers.xor_mechanism import NODES, TABLE_2

# The budgets of Table 2.
STATED = (1.0, 0.6, 0.2)
# What each network needs, under the names of Data.
FILES = {"Facebook": ("friends", "circles"), "Email": ("messages", "departments")}


@dataclass(frozen=True, slots=True)
class Network:
    """A network with its true groups, which may overlap.

    paper: the network of the paper that this is, or whose place it takes. name: how it is called. real: that
    it is the paper's own.
    """

    graph: Graph
    groups: list[list[int]]
    paper: str
    name: str
    real: bool

    @property
    def nodes(self) -> int:
        return self.graph.space.nodes


@dataclass(frozen=True, slots=True)
class Decoded:
    """A decoded release: with as many edges as are estimated, and with as many as the paper prints."""

    graph: Graph
    larger: Graph


def network(run: Run, paper: str = "Facebook") -> Network:
    """A network of the paper where it is at hand (without its groups it has none); else a made-up one."""
    edges, groups = (run.data.file(name) for name in FILES[paper])
    if edges is None:
        return _town() if paper == "Facebook" else _institute()
    return _facebook(edges, groups) if paper == "Facebook" else _email(edges, groups)


def networks(run: Run) -> list[Network]:
    """Both, in the order of the paper."""
    return [network(run, paper) for paper in FILES]


@lru_cache(maxsize=2)
def _facebook(path: Path, circles: Path | None) -> Network:
    graph = Graph.from_edges(np.loadtxt(path, dtype=np.int64).tolist(), NODES["Facebook"])
    groups: list[list[int]] = []
    if circles is not None:
        members = np.loadtxt(circles, delimiter=",", dtype=np.int64, skiprows=1)[:, 1:]
        groups = [np.flatnonzero(column).tolist() for column in members.T]
    return Network(graph, groups, "Facebook", "Facebook", real=True)


@lru_cache(maxsize=2)
def _email(path: Path, departments_of: Path | None) -> Network:
    """As the published code prepares it: no directions, no messages to oneself, nobody without any."""
    sent = np.loadtxt(path, dtype=np.int64)
    sent = sent[sent[:, 0] != sent[:, 1]]
    people, ends = np.unique(sent, return_inverse=True)
    pairs = np.unique(np.sort(ends.reshape(-1, 2), axis=1), axis=0)
    graph = Graph.from_edges(pairs.tolist(), len(people))
    if (len(people), len(graph)) != (NODES["Email"], EDGES["Email"]):
        expected = f"{NODES['Email']} people and {EDGES['Email']:,} pairs who write to each other"
        found = f"{len(people)} and {len(graph):,}"
        raise InvalidArgument("data", expected=f"{path.name} with {expected}", found=found)
    groups: list[list[int]] = []
    if departments_of is not None:
        labels = np.loadtxt(departments_of, dtype=np.int64)
        label = dict(labels.tolist())
        groups = communities_of(np.array([label[int(person)] for person in people]))
    return Network(graph, groups, "Email", "Email", real=True)


@lru_cache(maxsize=1)
def _town() -> Network:
    club = clubs()
    people = list(club)
    groups = [[i for i, one in enumerate(people) if club[one] == name] for name in sorted(set(club.values()))]
    place = {person: i for i, person in enumerate(people)}
    graph = Graph.from_edges([(place[a], place[b]) for a, b in friends()], len(people))
    return Network(graph, groups, "Facebook", "made-up town", real=False)


@lru_cache(maxsize=1)
def _institute() -> Network:
    groups = communities_of(np.array(departments()))
    graph = Graph.from_edges(messages(), NODES["Email"])
    return Network(graph, groups, "Email", "made-up institute", real=False)


def stand_in(known: Network, what: str) -> str:
    """What replaced a network of the paper, if anything did. what: what that means for the numbers."""
    if known.real:
        return ""
    made_up = {
        "Facebook": f"A made-up town of {known.nodes} people in six clubs, with {len(known.graph):,} "
        "friendships",
        "Email": f"A made-up institute of {known.nodes} people in {len(known.groups)} departments, with "
        f"{len(known.graph):,} pairs who write to each other",
    }
    return (
        f"The {known.paper} network is not at hand (--data). {made_up[known.paper]}, takes its place: {what}"
    )


def stand_ins(many: list[Network], what: str) -> str:
    """The same for both."""
    return " ".join(text for known in many if (text := stand_in(known, what)))


def of_paper(known: Network, printed: str) -> str:
    """A printed number; with whose it is where another network takes its place."""
    return printed if known.real else f"{printed} ({known.paper})"


def near(graph: Graph) -> Neighbours:
    return neighbours(graph.space.rows, *graph.edges())


def release_name(known: Network, epsilon: float) -> str:
    """What the randomness of a plain release is named, so that all exhibits show the same one."""
    return f"XO release {epsilon:g}" if known.paper == "Facebook" else f"XO {known.paper} release {epsilon:g}"


def released(run: Run, known: Network, epsilon: float) -> Graph:
    """A plain release: every pair by randomised response. The same for all exhibits."""
    rng = run.rng(release_name(known, epsilon))
    drawn: Graph = RandomizedResponse(epsilon).sample(known.graph, rng=rng)
    return drawn


def by_algorithm_3(known: Network, epsilon: float, rng: Rng) -> Graph:
    """Algorithm 3 with the parameters of Algorithm 1 at alpha = 1, as printed."""
    noise = xor_parameters(epsilon, 1.0, known.nodes, known.nodes, 2)
    drawn: Graph = XorGraph(noise, complement=False).sample(known.graph, rng=rng)
    return drawn


# Decoding is most of the work, and several exhibits show the same releases.
_DECODED: dict[tuple[int, float], Decoded] = {}


def decoded(run: Run, known: Network, epsilon: float) -> Decoded:
    """The plain release at epsilon, decoded as `veil.graphs.decode` does it."""
    key = (hash(known.graph), epsilon)
    if key not in _DECODED:
        run.tell(f"{known.name}: decoding at ε = {epsilon:g}")
        mechanism = RandomizedResponse(epsilon)
        out = release(mechanism, known.graph, rng=run.rng(release_name(known, epsilon)))
        chances = pair_chances(space=out.value.space, codes=out.value.codes, flip=mechanism.flip_rate)
        likeliest = chances.likeliest(round(estimates(out).edges.value))
        more = chances.likeliest(round(len(known.graph) * longer(known.paper, epsilon)))
        _DECODED[key] = Decoded(known.graph.replaced(likeliest), known.graph.replaced(more))
    return _DECODED[key]


def longer(paper: str, epsilon: float) -> float:
    """How many times the true edges the paper prints; as many as there are where it prints none."""
    column = TABLE_2[paper]["XOR"].get(epsilon)
    return 1.0 if column is None else column.edges / EDGES[paper]


def kept(graph: Graph, true: Graph) -> float:
    """The share of the true edges that a graph holds."""
    return len(np.intersect1d(graph.codes, true.codes, assume_unique=True)) / len(true)


def precision(graph: Graph, true: Graph) -> float:
    """The share of a graph's edges that are true."""
    return kept(graph, true) * len(true) / len(graph) if len(graph) else 0.0
