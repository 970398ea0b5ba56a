"""Made-up neighbours for every domain, of the kind that give a faulty mechanism away.

They are built from the description of a mechanism and from its adjacency alone, never from anybody's data:
values at the border of the domain, and changes at the first, a middle and the last place.
"""

from __future__ import annotations

from typing import Any

from veil.bits.domain import Bits
from veil.bits.neighbours import graph_pairs, table_pairs
from veil.chains.audit.neighbours import chain_pairs
from veil.chains.transition_counts import TransitionTable
from veil.core.audit.pair import AuditPair
from veil.core.audit.relations import check_neighbours
from veil.core.errors import InvalidArgument
from veil.core.mechanism import Mechanism
from veil.graphs.mechanisms.private_graph import PrivateGraph
from veil.graphs.mechanisms.xor_graph import XorGraph
from veil.matrices.birkhoff import Birkhoff
from veil.matrices.stochastic import StochasticMatrix
from veil.vectors.adjacency import Adjacency
from veil.vectors.array_neighbours import count_pairs, doubly_pairs, matrix_pairs, vector_pairs
from veil.vectors.counts import Counts
from veil.vectors.simplex import Simplex
from veil.words.language import Language
from veil.words.mechanisms.each_word import EachWord
from veil.words.neighbours import word_pairs, word_table_pairs


def audit_pairs(mechanism: Mechanism, adjacency: Adjacency | None = None) -> list[AuditPair]:
    """Pairs of made-up neighbours on which to audit the mechanism, each with a name.

    adjacency: needed where the mechanism has none of its own.

    >>> import veil
    >>> [pair.name for pair in veil.audit_pairs(veil.GeometricCounts(1.0, 3), veil.Records("replace"))][0]
    'from the first cell to the last, among large ones'
    """
    if not isinstance(mechanism, Mechanism):
        raise InvalidArgument("mechanism", expected="a mechanism of Veil", found=type(mechanism).__name__)
    relation = mechanism.adjacency if adjacency is None else adjacency
    if relation is None:
        raise InvalidArgument(
            "adjacency", expected="what a neighbour is: the mechanism itself does not say", found="None"
        )
    # Refuses, in its own words, a relation that the mechanism does not know.
    mechanism.profile(relation)
    found = _pairs(mechanism, relation)
    if not found:
        raise InvalidArgument("adjacency", expected="one with neighbours in the domain", found="none")
    for pair in found:
        check_neighbours(mechanism, relation, pair.value, pair.neighbour)
    return found


def _pairs(mechanism: Any, relation: Any) -> list[AuditPair]:
    domain = mechanism.domain
    if isinstance(mechanism, EachWord):
        return word_table_pairs(mechanism, relation)
    if isinstance(domain, Language):
        return word_pairs(domain, relation.radius)
    if isinstance(domain, Bits):
        graphs = graph_pairs(mechanism, relation) if domain.graphs else []
        only_graphs = isinstance(mechanism, (PrivateGraph, XorGraph))
        return graphs + ([] if only_graphs else table_pairs(domain, relation))
    if isinstance(domain, TransitionTable):
        return chain_pairs(mechanism, relation)
    if isinstance(domain, Counts):
        return count_pairs(mechanism, relation)
    if isinstance(domain, Birkhoff):
        return doubly_pairs(domain, relation)
    if isinstance(domain, StochasticMatrix):
        return matrix_pairs(mechanism, relation)
    if isinstance(domain, Simplex):
        return vector_pairs(mechanism, relation)
    raise InvalidArgument("mechanism", expected="one whose domain is known here", found=type(domain).__name__)
