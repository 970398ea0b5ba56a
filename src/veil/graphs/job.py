"""A graph, released in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from veil.bits.adjacency import BitFlips
from veil.bits.mechanisms.bit_mechanism import NODES_ARE_PUBLIC
from veil.bits.mechanisms.matrix_bernoulli import xor_parameters
from veil.bits.mechanisms.randomized_response import RandomizedResponse
from veil.core.account import Account
from veil.core.checks import choice, items, positive, within
from veil.core.errors import InvalidArgument
from veil.core.record import Release
from veil.core.releasing import release
from veil.graphs.graph import Graph
from veil.graphs.mechanisms.private_graph import PrivateGraph
from veil.graphs.mechanisms.xor_graph import XorGraph

FOR_GRAPHS = ("response", "published")


@dataclass(frozen=True)
class GraphJob:
    """A release that is ready to be made: nothing has been drawn or charged.

    read: what must be accepted about how the graph was read, in place of the list of its nodes being public.
    """

    graph: Graph = field(repr=False)
    mechanism: PrivateGraph | RandomizedResponse | XorGraph
    epsilon: float
    read: tuple[str, ...] = (NODES_ARE_PUBLIC,)
    delta: float = 0.0

    @property
    def adjacency(self) -> BitFlips:
        return self.mechanism.adjacency

    @property
    def assumptions(self) -> tuple[str, ...]:
        return (*self.mechanism.assumptions(self.adjacency), *self.read)

    def run(self, *, ledger: Account | None = None, rng: Any = None) -> Release:
        """Reserve, draw, confirm."""
        out = release(self.mechanism, self.graph, epsilon=self.epsilon, ledger=ledger, rng=rng)
        return replace(out, assumptions=self.assumptions)


def graph_job(
    graph: Any,
    *,
    epsilon: float,
    statistics: Sequence[str] = (),
    share: float | None = None,
    mechanism: str = "response",
    alpha: float = 1.0,
    read: tuple[str, ...] = (),
) -> GraphJob:
    """Check the graph and divide the budget; see `release_graph`."""
    choice("mechanism", mechanism, FOR_GRAPHS)
    epsilon = positive("epsilon", epsilon)
    held = Graph.of(graph)
    if not isinstance(statistics, str):
        statistics = items("statistics", statistics, expected="a list of facts")
    if share is not None:
        share = within("share", share, 0.0, 1.0, expected="a part of epsilon between 0 and 1")
    made: PrivateGraph | RandomizedResponse | XorGraph
    if mechanism == "published":
        if statistics or share:
            raise InvalidArgument("statistics", expected="none with the published mechanism", found="some")
        nodes = held.space.rows
        made = XorGraph(xor_parameters(epsilon, alpha, nodes, nodes, 2))
        # What it really costs, which is far less than what is stated for it.
        epsilon = made.certified_epsilon()
    elif statistics or share:
        made = PrivateGraph(epsilon, statistics=statistics, share=share)
    else:
        made = RandomizedResponse(epsilon)
    # Before anything is charged: what does not fit, or cannot be asked of such a graph, is refused.
    made.validate(held)
    said = tuple(dict.fromkeys((NODES_ARE_PUBLIC, *read)))
    return GraphJob(held, made, epsilon, said)


def release_graph(
    graph: Any,
    *,
    epsilon: float,
    statistics: Sequence[str] = (),
    share: float | None = None,
    mechanism: str = "response",
    alpha: float = 1.0,
    ledger: Account | None = None,
    rng: Any = None,
) -> Release:
    """Release a graph of NetworkX, a SciPy sparse adjacency matrix, or a `veil.Graph`; each edge is hidden.

    epsilon: what it costs together. statistics: facts to be asked directly besides, some of "degrees",
    "edges" and "triangles". share: the part of epsilon for those, by default a tenth; 1 releases them alone.
    mechanism: "response", or "published" for XO's Algorithm 3 with parameters for which it states this
    epsilon (alpha: their part within rows); what those really cost is computed, charged and far less.

    `veil.decode` finds the most likely graph behind the release, at no further cost.

    >>> import networkx, veil
    >>> out = veil.release_graph(networkx.karate_club_graph(), epsilon=3.0, statistics=["edges"], rng=1)
    >>> out.value.number_of_nodes(), out.epsilon, list(out.tables)
    (34, 3.0, ['edges'])
    """
    job = graph_job(
        graph, epsilon=epsilon, statistics=statistics, share=share, mechanism=mechanism, alpha=alpha
    )
    return job.run(ledger=ledger, rng=rng)
