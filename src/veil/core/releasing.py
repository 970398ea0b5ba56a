"""The verb: validate, reserve, draw, confirm."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import numpy as np

from veil.bits.codec import check_node_labels
from veil.bits.domain import Bits
from veil.bits.mechanisms.bit_mechanism import NODES_ARE_PUBLIC
from veil.chains.contributions import Transitions
from veil.chains.mechanisms.private_chain import ChainDraw
from veil.chains.transition_counts import TransitionCounts
from veil.core.account import Account, Charge, check_account, confirm, reserve
from veil.core.checks import delta_of, epsilon_of
from veil.core.errors import InvalidArgument, InvalidData, NoGuarantee
from veil.core.intake import Labels, labels_of, row_labels_of
from veil.core.mechanism import Mechanism
from veil.core.privacy.profile import PrivacyProfile
from veil.core.random.streams import generator, is_reproducible
from veil.core.record import ONE_PER_PERSON, Release
from veil.graphs.graph import Graph
from veil.graphs.mechanisms.private_graph import GraphDraw, PrivateGraph
from veil.vectors.adjacency import Adjacency
from veil.version import __version__
from veil.words.batch import WordBatch
from veil.words.codec import WordsElsewhere
from veil.words.hamming import Hamming
from veil.words.language import Language
from veil.words.mechanisms.each_word import ONE_WORD_EACH


def release(
    mechanism: Mechanism,
    value: Any,
    *,
    adjacency: Adjacency | None = None,
    delta: float | None = None,
    epsilon: float | None = None,
    ledger: Account | None = None,
    rng: Any = None,
) -> Release:
    """Draw a private version of the value and record what it guarantees.

    adjacency: what a neighbour is; None for the mechanism's own.
    delta: the failure probability at which epsilon is stated; None means 0, for mechanisms that have a
        finite epsilon there.
    epsilon: what the mechanism was built for, which is then charged as it stands; refused if it does not
        cover what the mechanism reveals. None charges the least that does.
    ledger: where the cost is charged, before anything is drawn.
    rng: None for cryptographic randomness; a seed or a Generator marks the release as not private.

    >>> import veil
    >>> mechanism = veil.DirichletCounts(2.2, 100, 3)
    >>> out = veil.release(mechanism, [40, 35, 25], adjacency=veil.Records(), delta=1e-6)
    >>> out.value.shape, round(out.epsilon, 3), out.assumptions
    ((3,), 0.996, ())
    """
    if not isinstance(mechanism, Mechanism):
        raise InvalidArgument("mechanism", expected="a mechanism of Veil", found=type(mechanism).__name__)
    check_account(ledger)
    neighbours = mechanism.adjacency if adjacency is None else adjacency
    if neighbours is None:
        raise InvalidArgument(
            "adjacency",
            expected=f"what a neighbour is, since {mechanism.name} has no adjacency of its own",
            found="None",
        )
    valid = mechanism.validate(value)
    if isinstance(valid, TransitionCounts) and isinstance(neighbours, Transitions):
        valid.check_unit(neighbours)
    stated = isinstance(mechanism.domain, (Bits, Language))
    own = type(neighbours) is type(mechanism.adjacency) and neighbours == mechanism.adjacency
    if epsilon is None and stated and own:
        # Built for a stated epsilon: charged as it stands.
        epsilon = getattr(mechanism, "epsilon", None)
    profile = mechanism.profile(neighbours)
    epsilon, delta = cost(profile, delta, epsilon)
    assumptions = _assumptions(mechanism, neighbours, valid)
    if isinstance(valid, Graph):
        check_node_labels(valid)
    stream = generator(rng)
    labels, row_labels = _labels(value, valid)
    entry = None
    if ledger is not None:
        description, reproducible = mechanism.describe(), is_reproducible(rng)
        entry = reserve(
            ledger, Charge(epsilon, delta, description, neighbours, (profile,), reproducible=reproducible)
        )
    # From here on the charge stands, whatever happens.
    drawn = mechanism.sample(valid.plain() if isinstance(valid, Graph) else valid, rng=stream)
    if ledger is not None:
        confirm(ledger, entry)
    chain, graph = isinstance(drawn, ChainDraw), _graph_of(drawn, valid)
    return Release(
        value=drawn.model.chain if chain else _value_of(drawn, graph),
        tables=getattr(drawn, "tables", {}),
        graph=graph,
        mechanism=mechanism,
        adjacency=neighbours,
        epsilon=epsilon,
        delta=delta,
        assumptions=assumptions,
        reproducible=is_reproducible(rng),
        entry=entry,
        labels=labels,
        row_labels=row_labels,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        version=__version__,
    )


def _value_of(drawn: Any, graph: Graph | None) -> Any:
    if graph is not None:
        return graph.as_given()
    return drawn.tables if isinstance(drawn, GraphDraw) else drawn


def _graph_of(drawn: Any, valid: Any) -> Graph | None:
    """The released graph, in the form of the one that came in."""
    if not isinstance(valid, Graph):
        return None
    found = drawn if isinstance(drawn, Graph) else drawn.graph
    return None if found is None else valid.replaced(found.codes)


def _labels(value: Any, valid: Any) -> tuple[Labels | None, Labels | None]:
    if isinstance(valid, TransitionCounts):
        states = tuple(map(str, valid.states))
        return states, states
    if isinstance(valid, (WordBatch, Graph)):
        return None, None
    labels, row_labels = labels_of(value), row_labels_of(value)
    if labels is not None and len(labels) != np.shape(valid)[-1]:
        raise InvalidData("value", expected="one label an entry", found=f"{len(labels)} labels")
    if isinstance(valid, np.ndarray) and valid.dtype == np.bool_:
        # The names of records, and their order, may tell what is in them; columns are public.
        row_labels = None
    if row_labels is not None and (np.ndim(valid) != 2 or len(row_labels) != len(valid)):
        row_labels = None
    return labels, row_labels


def _assumptions(mechanism: Mechanism, adjacency: Adjacency, value: Any) -> tuple[str, ...]:
    if isinstance(value, TransitionCounts):
        unit = adjacency.unit if isinstance(adjacency, Transitions) else ""
        return (*mechanism.assumptions(adjacency), *value.assumptions(unit))
    if isinstance(value, WordBatch) and isinstance(adjacency, Hamming) and adjacency.words_each > 1:
        several = f"no person has more than {adjacency.words_each} words"
        return tuple(dict.fromkeys((*mechanism.assumptions(adjacency), several)))
    if isinstance(value, Graph) or isinstance(mechanism, PrivateGraph):
        return (*mechanism.assumptions(adjacency), NODES_ARE_PUBLIC)
    is_batch = getattr(mechanism, "is_batch", lambda valid: np.ndim(valid) > 1)(value)
    whose = ONE_WORD_EACH if isinstance(value, WordBatch) else ONE_PER_PERSON
    return (*mechanism.assumptions(adjacency), *((whose,) if is_batch else ()))


def expected_assumptions(release: Release) -> tuple[str, ...]:
    """What a release of this mechanism and shape must say that it assumes."""
    if isinstance(release.value, WordsElsewhere):
        # A table is several words, whatever mechanism is named.
        several = WordBatch((), np.empty(0, dtype=np.int32), np.zeros(len(release.value), dtype=np.int64))
        return _assumptions(release.mechanism, release.adjacency, several)
    if release.is_words:
        return _assumptions(release.mechanism, release.adjacency, _as_drawn(release))
    value = release.value if release.graph is None else release.graph
    return _assumptions(release.mechanism, release.adjacency, 0 if release.is_chain else value)


def _as_drawn(release: Release) -> WordBatch:
    """The words of a release, single or not as they came."""
    return WordBatch(
        release.batch.labels, release.batch.codes, release.batch.lengths, isinstance(release.value, tuple)
    )


def cost(profile: PrivacyProfile, delta: float | None, stated: float | None = None) -> tuple[float, float]:
    """The (epsilon, delta) that a release with this profile is charged: as stated, or the least there is."""
    delta = None if delta is None else delta_of(delta)
    if stated is not None:
        stated = epsilon_of(stated)
        if not profile.covers(stated, delta or 0.0):
            raise NoGuarantee(
                f"epsilon: {stated:g} at delta={delta or 0.0:g} does not cover what this mechanism reveals."
            )
        return stated, delta or 0.0
    if delta is None:
        if not math.isfinite(profile.pure_epsilon):
            raise InvalidArgument(
                "delta",
                expected="a number above 0, since this mechanism has no finite epsilon at delta = 0",
                found="None",
                hint="1e-6 is usual; it should be far below one over the number of people.",
            )
        return _plain_above(profile.pure_epsilon), 0.0
    epsilon = profile.epsilon(delta)
    if not math.isfinite(epsilon):
        raise NoGuarantee(f"delta: no finite epsilon holds at delta={delta:g}. Expected a larger delta.")
    return _plain_above(epsilon), delta


def _plain_above(epsilon: float) -> float:
    """The plain decimal just above, so that what was calibrated to 0.3 is charged 0.3."""
    plain = float(f"{epsilon:.12g}")
    return plain if epsilon <= plain <= epsilon * (1.0 + 1e-12) else epsilon
