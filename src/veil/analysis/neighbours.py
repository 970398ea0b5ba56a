"""Made-up neighbours for every domain, of the kind that give a faulty mechanism away.

They are built from the description of a mechanism and from its adjacency alone, never from anybody's data:
values at the border of the domain, and changes at the first, a middle and the last place.
"""

from __future__ import annotations

from typing import Any

from veil.analysis.array_neighbours import count_pairs, doubly_pairs, matrix_pairs, vector_pairs
from veil.analysis.audit_pair import AuditPair
from veil.analysis.bit_neighbours import graph_pairs, table_pairs
from veil.analysis.chain_neighbours import chain_pairs
from veil.analysis.relations import check_neighbours
from veil.analysis.word_neighbours import word_pairs, word_table_pairs
from veil.domains.adjacency import Adjacency
from veil.domains.bits import Bits
from veil.domains.counts import Counts
from veil.domains.doubly import Birkhoff
from veil.domains.simplex import Simplex
from veil.domains.stochastic import StochasticMatrix
from veil.domains.transition_counts import TransitionTable
from veil.domains.words import Language
from veil.errors import InvalidArgument
from veil.mechanisms.base import Mechanism
from veil.mechanisms.each_word import EachWord
from veil.mechanisms.private_graph import PrivateGraph
from veil.mechanisms.xor_graph import XorGraph


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
