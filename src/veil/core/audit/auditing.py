"""Attacking one's own mechanism: a lower bound on epsilon, exact where outputs are few."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from veil.core.adjacency import Adjacency
from veil.core.audit.enumeration import Law, exact_loss, law_fault, laws_of
from veil.core.audit.events import best_event
from veil.core.audit.marks import Marker
from veil.core.audit.seen import Seen
from veil.core.audit.subject import AuditPair, Reader
from veil.core.checks import delta_of, integer, within
from veil.core.errors import InvalidArgument
from veil.core.mechanism import Mechanism, kind_of
from veil.core.random.streams import Rng, generator

# One audit in a thousand million raises a false alarm: a thousand of them together, one in a million.
CONFIDENCE = 0.999_999_999
# Outputs that are drawn of each of the two values: more would not fit into memory.
_MOST_SAMPLES = 100_000_000
# Numbers that are held at once.
_AT_ONCE = 4_000_000
BY_BITS = "by the last bits of floats"


@dataclass(frozen=True, slots=True)
class Audit:
    """What an attack found.

    lower: epsilon is at least this (at the stated confidence, or surely if exact). claimed: what the
    mechanism claims at this delta. violated: the attack beat the claim, or found the fault named in `fault`.
    exact: by enumeration. confidence: a false alarm is rarer than one less this. by_bits: the
    claim was beaten by events of the last bits of floats alone.
    """

    lower: float
    claimed: float
    violated: bool
    exact: bool
    confidence: float
    delta: float
    fault: str = ""
    by_bits: bool = False

    def __str__(self) -> str:
        sure = "by enumeration" if self.exact else f"at confidence {self.confidence:.12g}"
        verdict = "VIOLATION" if self.violated else "no violation found"
        claim = f"claimed {self.claimed:.4g} at delta {self.delta:g}"
        bits = f" {BY_BITS}" if self.by_bits else ""
        text = f"{verdict}: epsilon >= {self.lower:.4g}{bits} {sure}, {claim}"
        return f"{text}; {self.fault}" if self.fault else text


def audit(
    mechanism: Mechanism,
    value: Any,
    neighbour: Any,
    *,
    samples: int = 100_000,
    confidence: float = CONFIDENCE,
    delta: float = 0.0,
    adjacency: Adjacency | None = None,
    rng: Any = None,
) -> Audit:
    """A lower bound on the epsilon that tells the value from the neighbour.

    Never hand in sensitive values: audit on made-up ones (`audit_pairs` makes some). Where the mechanism
    lists its outputs (`distribution`), the loss is computed from all of them, and draws are compared with
    that law. Otherwise an event is chosen on one half of the draws and measured on the other by
    Clopper-Pearson limits. No violation found does not mean that there is none.

    adjacency: the relation between the two; found from them if None. The draws must be independent:
    `audit_suite` tests that as well.
    """
    alpha = alpha_of(confidence)
    return audit_at(
        mechanism, value, neighbour, samples=samples, alpha=alpha, delta=delta, adjacency=adjacency, rng=rng
    )


def audit_at(
    mechanism: Mechanism,
    value: Any,
    neighbour: Any,
    *,
    samples: int,
    alpha: float,
    delta: float,
    adjacency: Adjacency | None,
    rng: Any,
    beside: bool = False,
) -> Audit:
    """The same by the chance alpha of a false alarm, which a confidence near one cannot say as well.

    beside: look only at what is the same in both (see `AuditPair`), which is claimed to tell nothing.
    """
    subject = kind_of(mechanism).audit
    delta = delta_of(delta)
    draws = integer("samples", samples, least=1000, most=_MOST_SAMPLES)
    shapes = [getattr(mechanism.validate(one), "shape", ()) for one in (value, neighbour)]
    if shapes[0] != shapes[1]:
        raise InvalidArgument("neighbour", expected=f"shape {shapes[0]}, as the value", found=f"{shapes[1]}")
    relation = mechanism.adjacency if adjacency is None else adjacency
    if relation is None:
        relation = relation_between(mechanism, value, neighbour)
    # Refuses, in its own words, a relation that the mechanism does not know.
    claimed = mechanism.profile(relation).epsilon(delta)
    check_neighbours(mechanism, relation, value, neighbour)
    stream, fault = generator(rng), ""
    if beside:
        claimed = delta = 0.0
        look = subject.beside(mechanism, value, neighbour)
    else:
        laws = laws_of(mechanism, value, neighbour)
        if laws is not None:
            found = _enumerated(mechanism, (value, neighbour), laws, claimed, delta, draws, alpha, stream)
            if not found.fault:
                return found
            fault = found.fault
        else:
            fault = subject.fault(mechanism, value, stream)
        look = subject.reader(mechanism, value, neighbour), subject.marker(mechanism, value, neighbour)
    first, second = (seen_draws(mechanism, item, *look, draws, stream) for item in (value, neighbour))
    # Half of the error for each direction, and of that half for each limit.
    both_ways = (first, second), (second, first)
    bounds, plain = zip(*(best_event(*rows, delta, alpha=0.5 * alpha) for rows in both_ways), strict=True)
    lower = max(bounds)
    by_bits = lower > claimed >= max(plain) and not fault
    return Audit(
        lower, claimed, lower > claimed or bool(fault), False, 1.0 - alpha, delta, fault, by_bits=by_bits
    )


def _enumerated(
    mechanism: Mechanism,
    values: tuple[Any, Any],
    laws: tuple[Law, Law],
    claimed: float,
    delta: float,
    draws: int,
    alpha: float,
    stream: Rng,
) -> Audit:
    """By all outputs, and whether draws follow what was enumerated."""
    lower = exact_loss(*laws, delta)
    if lower > claimed:
        return Audit(lower, claimed, True, True, 1.0, delta)
    fitted = min(draws, kind_of(mechanism).audit.fitted)
    faults = (
        law_fault(mechanism, item, law, fitted, 0.5 * alpha, stream)
        for item, law in zip(values, laws, strict=True)
    )
    fault = next(filter(None, faults), "")
    return Audit(lower, claimed, bool(fault), True, 1.0 - alpha, delta, fault)


def alpha_of(confidence: Any) -> float:
    """The chance of a false alarm that a confidence leaves."""
    expected = "a number of at least 0.5 and below 1"
    kept = within("confidence", confidence, 0.5, 1.0, expected=expected)
    if kept == 1.0:
        raise InvalidArgument("confidence", expected=expected, found="1")
    return 1.0 - kept


def audit_pairs(mechanism: Mechanism, adjacency: Adjacency | None = None) -> list[AuditPair]:
    """Pairs of made-up neighbours on which to audit the mechanism, each with a name.

    adjacency: needed where the mechanism has none of its own.

    >>> from veil import vectors
    >>> from veil.core.audit.auditing import audit_pairs
    >>> audit_pairs(vectors.GeometricCounts(1.0, 3), vectors.Records("replace"))[0].name
    'from the first cell to the last, among large ones'
    """
    subject = kind_of(mechanism).audit
    relation = mechanism.adjacency if adjacency is None else adjacency
    if relation is None:
        raise InvalidArgument(
            "adjacency", expected="what a neighbour is: the mechanism itself does not say", found="None"
        )
    # Refuses, in its own words, a relation that the mechanism does not know.
    mechanism.profile(relation)
    pairs = subject.pairs(mechanism, relation)
    if not pairs:
        raise InvalidArgument("adjacency", expected="one with neighbours in the domain", found="none")
    for pair in pairs:
        check_neighbours(mechanism, relation, pair.value, pair.neighbour)
    return pairs


def relation_between(mechanism: Mechanism, value: Any, neighbour: Any) -> Adjacency:
    """The tightest adjacency under which the two are neighbours."""
    subject = kind_of(mechanism).audit
    return subject.relation(mechanism, mechanism.validate(value), mechanism.validate(neighbour))


def check_neighbours(mechanism: Mechanism, relation: Adjacency, value: Any, neighbour: Any) -> None:
    """Refuse two values that are further apart than the relation allows: their loss is no violation."""
    subject = kind_of(mechanism).audit
    apart = subject.apart(mechanism, relation, mechanism.validate(value), mechanism.validate(neighbour))
    if apart:
        raise InvalidArgument(
            "neighbour",
            expected=relation.words,
            found=apart,
            hint="State another adjacency to audit values further apart.",
        )


def seen_draws(mechanism: Any, value: Any, reader: Reader, marker: Marker, draws: int, stream: Rng) -> Seen:
    """What is seen of so many outputs for the value."""
    subject = kind_of(mechanism).audit
    size = max(1, subject.size(mechanism, mechanism.validate(value)))
    each = max(1, min(draws, _AT_ONCE // size))
    seen = []
    for begin in range(0, draws, each):
        drawn = subject.drawn(mechanism, value, min(each, draws - begin), stream)
        seen.append(Seen(reader(drawn), marker(drawn)))
    return Seen.joined(seen)
