"""Every mechanism under every adjacency that it is audited or tested with is searched here."""

from __future__ import annotations

from tests.contracts.cases import CASES
from tests.neighbours.count_studies import COUNTS
from tests.neighbours.matrix_studies import MATRICES
from tests.neighbours.test_bits import BITS
from tests.neighbours.test_graphs import GRAPHS
from tests.neighbours.test_words import EACH, WORDS
from tests.neighbours.vector_studies import VECTORS
from veil.bits import BitFlips
from veil.chains import DiscoveredChain, PrivateChain, Transitions
from veil.chains.mechanisms.sparse_chain import SparseChain
from veil.core.audit.suite import audit_examples
from veil.graphs import RandomizedResponse, XorGraph
from veil.trips import PrivateTrips, WholeTrips

Pair = tuple[str, str]


def _pair(mechanism: object, adjacency: object) -> Pair:
    return f"{type(mechanism).__module__}.{type(mechanism).__name__}", type(adjacency).__name__


def searched() -> set[Pair]:
    """By the tables of the other files, and what they search without one."""
    pairs = {_pair(study.mechanism, study.adjacency) for study in (*VECTORS, *COUNTS, *MATRICES)}
    pairs |= {_pair(case[0], case[1]) for case in (*WORDS, *BITS, *EACH)}
    pairs |= {_pair(mechanism, BitFlips(1)) for mechanism, _ in GRAPHS}
    flips = BitFlips.__name__
    pairs |= {(f"{kind.__module__}.{kind.__name__}", flips) for kind in (RandomizedResponse, XorGraph)}
    # Logs are searched in test_logs.py and test_users.py, and in chains/sparse: test_neighbours.py and
    # test_discovered.py.
    chains = (PrivateChain, SparseChain, DiscoveredChain)
    # Trips are searched in trips/test_neighbours.py.
    pairs |= {(f"{PrivateTrips.__module__}.{PrivateTrips.__name__}", WholeTrips.__name__)}
    return pairs | {(f"{one.__module__}.{one.__name__}", Transitions.__name__) for one in chains}


def test_every_audited_mechanism_is_searched() -> None:
    known = {
        _pair(mechanism, mechanism.adjacency if adjacency is None else adjacency)
        for mechanism, adjacency in audit_examples()
    }
    assert {pair for pair in known if pair[0].startswith("veil.")} <= searched()


def test_every_mechanism_of_the_contract_is_searched() -> None:
    assert {_pair(case.mechanism, case.adjacency) for case in CASES} <= searched()
