"""Attacking one's own mechanism: a lower bound on epsilon, exact where outputs are few."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from veil.core.adjacency import Adjacency
from veil.core.audit.enumerated import Law, adds_up, exact_loss, laws_of, misfit
from veil.core.audit.events import best_event
from veil.core.audit.neighbours import check_neighbours, relation_between
from veil.core.audit.watching import drawn_rows
from veil.core.checks import delta_of, integer, within
from veil.core.errors import InvalidArgument
from veil.core.kinds import kind_of
from veil.core.mechanism import Mechanism, checked_mechanism
from veil.core.random.streams import Rng, generator

# One audit in a thousand million raises a false alarm: a thousand of them together, one in a million.
CONFIDENCE = 0.999_999_999
WRONG_LAW = "the draws do not follow the law that the mechanism states"
WRONG_SUM = "the law that the mechanism states does not sum to one"


@dataclass(frozen=True, slots=True)
class Audit:
    """What an attack found.

    lower: epsilon is at least this (at the stated confidence, or surely if exact). claimed: what the
    mechanism claims at this delta. violated: the attack beat the claim, or found the fault named in `fault`.
    exact: by enumeration. confidence: a false alarm is rarer than one less this.
    """

    lower: float
    claimed: float
    violated: bool
    exact: bool
    confidence: float
    delta: float
    fault: str = ""

    def __str__(self) -> str:
        sure = "by enumeration" if self.exact else f"at confidence {self.confidence:.12g}"
        verdict = "VIOLATION" if self.violated else "no violation found"
        claim = f"claimed {self.claimed:.4g} at delta {self.delta:g}"
        text = f"{verdict}: epsilon >= {self.lower:.4g} {sure}, {claim}"
        return f"{text}; {self.fault}" if self.fault else text


# Outputs that are drawn of each of the two values: more would not fit into memory.
_MOST_SAMPLES = 100_000_000


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
        mechanism,
        value,
        neighbour,
        samples=samples,
        alpha=alpha,
        delta=delta,
        adjacency=adjacency,
        rng=rng,
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
) -> Audit:
    """The same by the chance alpha of a false alarm, which a confidence near one cannot say as well."""
    subject = kind_of(checked_mechanism(mechanism)).audit
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
    stream, confidence, fault = generator(rng), 1.0 - alpha, ""
    laws = laws_of(mechanism, value, neighbour)
    if laws is not None:
        lower = exact_loss(*laws, delta)
        if lower > claimed:
            return Audit(lower, claimed, True, True, 1.0, delta)
        fault = _fault(mechanism, (value, neighbour), laws, min(draws, subject.fitted), alpha, stream)
        if not fault:
            return Audit(lower, claimed, False, True, confidence, delta)
    else:
        fault = subject.fault(mechanism, value, stream)
    reader = subject.reader(mechanism, value, neighbour)
    first, second = (drawn_rows(mechanism, item, reader, draws, stream) for item in (value, neighbour))
    # Half of the error for each direction, and of that half for each limit.
    lower = max(
        best_event(first, second, delta, alpha=0.5 * alpha),
        best_event(second, first, delta, alpha=0.5 * alpha),
    )
    return Audit(lower, claimed, lower > claimed or bool(fault), False, confidence, delta, fault)


def alpha_of(confidence: Any) -> float:
    """The chance of a false alarm that a confidence leaves."""
    expected = "a number of at least 0.5 and below 1"
    kept = within("confidence", confidence, 0.5, 1.0, expected=expected)
    if kept == 1.0:
        raise InvalidArgument("confidence", expected=expected, found="1")
    return 1.0 - kept


def _fault(
    mechanism: Any, values: tuple[Any, Any], laws: tuple[Law, Law], draws: int, alpha: float, stream: Rng
) -> str:
    """Whether what was enumerated is what is drawn: wrong with probability at most alpha."""
    subject = kind_of(mechanism).audit
    for value, law in zip(values, laws, strict=True):
        if not adds_up(law):
            return WRONG_SUM
        found = subject.keys(mechanism, subject.drawn(mechanism, value, draws, stream))
        if misfit(law, found, alpha=0.5 * alpha):
            return WRONG_LAW
    return ""
