"""All that Veil can do to catch a mechanism at once, with one false-alarm rate for the whole."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from veil.core.adjacency import Adjacency
from veil.core.audit.auditing import BY_BITS, CONFIDENCE, Audit, alpha_of, audit_at, audit_pairs
from veil.core.audit.independence import SeedReuse, seed_reuse
from veil.core.audit.subject import AuditPair, Example
from veil.core.checks import integer, items, on_progress
from veil.core.errors import InvalidArgument
from veil.core.kind import every_kind
from veil.core.mechanism import REAL_ARITHMETIC, Mechanism, kind_of
from veil.core.random.streams import generator

__all__ = ["AuditSuite", "SeedReuse", "audit_examples", "audit_suite", "seed_reuse"]

_CALLS = 400
ARTEFACTS = "this form assumes real arithmetic; the audit found float artefacts"
MORE_THAN_ARTEFACTS = "this form assumes real arithmetic, but not only the last bits of floats were found"
# Where a mechanism has no finite epsilon at delta = 0: samples see most of its curve here.
_DELTA = 0.01


@dataclass(frozen=True, slots=True)
class AuditSuite:
    """What a suite of audits found. A false alarm anywhere in it is rarer than 1 - confidence.

    pairs: the made-up neighbours. audits: what was found on each. reuse: the test of independent draws.
    """

    mechanism: Mechanism
    adjacency: Adjacency
    delta: float
    samples: int
    confidence: float
    pairs: tuple[AuditPair, ...]
    audits: tuple[Audit, ...]
    reuse: SeedReuse

    @property
    def rows(self) -> tuple[tuple[AuditPair, Audit], ...]:
        """Each pair with what was found on it."""
        return tuple(zip(self.pairs, self.audits, strict=True))

    @property
    def lower(self) -> float:
        """Epsilon is at least this: the largest bound of all pairs."""
        return max(one.lower for one in self.audits)

    @property
    def claimed(self) -> float:
        return self.audits[0].claimed

    @property
    def violated(self) -> bool:
        """Whether a claim was beaten, or a fault was found."""
        return bool(self.faults)

    @property
    def exact(self) -> bool:
        """Whether every pair was enumerated, but for those of which only a part is looked at."""
        return all(one.exact for pair, one in self.rows if not pair.beside)

    @property
    def faults(self) -> tuple[str, ...]:
        """What was found, in words."""
        faults = []
        for pair, result in self.rows:
            if result.lower > result.claimed:
                bits = f" {BY_BITS}" if result.by_bits else ""
                bound = f"epsilon is at least {result.lower:.4g}{bits}, claimed {result.claimed:.4g}"
                faults.append(f"{pair.name}: {bound}")
            if result.fault:
                faults.append(f"{pair.name}: {result.fault}")
        return (*faults, self.reuse.fault) if self.reuse.found else tuple(faults)

    @property
    def note(self) -> str:
        """What to make of a violation where the form does not claim to draw exactly."""
        if not self.violated or REAL_ARITHMETIC not in self.mechanism.assumptions(self.adjacency):
            return ""
        by_bits = all(one.by_bits for one in self.audits if one.violated)
        return ARTEFACTS if by_bits and not self.reuse.found else MORE_THAN_ARTEFACTS

    def __str__(self) -> str:
        count = len(self.pairs)
        looked = f"{count} pair{'' if count == 1 else 's'} of made-up neighbours"
        bound = f"epsilon >= {self.lower:.4g}, claimed {self.claimed:.4g} at delta {self.delta:g}"
        rate = f"a false alarm anywhere has probability at most {1.0 - self.confidence:.2g}"
        if self.violated:
            said = "; ".join((*self.faults, *filter(None, [self.note])))
            return f"VIOLATION: {said} ({looked}; {rate})"
        return f"no violation found on {looked}: {bound} ({rate})"


def audit_suite(
    mechanism: Mechanism,
    adjacency: Adjacency | None = None,
    *,
    delta: float | None = None,
    samples: int | None = None,
    confidence: float = CONFIDENCE,
    pairs: Sequence[AuditPair] | None = None,
    rng: Any = None,
    progress: Callable[[str], None] | None = None,
) -> AuditSuite:
    """Audit the mechanism on made-up neighbours of every kind, and test that its draws are independent.

    1 - confidence is the chance of a false alarm in all of it together: an equal part goes to every pair
    (where it is divided between the two directions and the two limits of each) and to the test of
    independence.

    adjacency: needed where the mechanism has none of its own. delta: None for 0, or for 0.01 where the
    mechanism claims nothing at 0. samples: draws for each value; None for as many as take a few seconds.
    pairs: None for those of `audit_pairs`.

    >>> import veil
    >>> found = veil.audit_suite(veil.bits.RandomizedResponse(1.0), samples=1_000, rng=1)
    >>> found.violated, found.claimed
    (False, 1.0)
    """
    subject = kind_of(mechanism).audit
    relation = mechanism.adjacency if adjacency is None else adjacency
    chosen = audit_pairs(mechanism, relation) if pairs is None else items("pairs", pairs, expected="pairs")
    if not all(isinstance(pair, AuditPair) for pair in chosen):
        raise InvalidArgument("pairs", expected="veil.AuditPair of neighbours", found="others")
    if relation is None or all(pair.beside for pair in chosen):
        raise InvalidArgument("adjacency", expected="one, and a pair of neighbours at least", found="none")
    tell_step = on_progress("progress", progress)
    draws = subject.samples(mechanism) if samples is None else integer("samples", samples, least=1000)
    if delta is None:
        delta = 0.0 if math.isfinite(mechanism.profile(relation).epsilon(0.0)) else _DELTA
    share = alpha_of(confidence) / (len(chosen) + 1)
    stream = None if rng is None else generator(rng)
    audits = []
    same: dict[str, Any] = {"alpha": share, "delta": delta, "adjacency": relation, "rng": stream}
    for number, pair in enumerate(chosen, start=1):
        tell_step(f"{mechanism.name}, pair {number} of {len(chosen)}: {pair.name}")
        audits.append(
            audit_at(mechanism, pair.value, pair.neighbour, samples=draws, beside=pair.beside, **same)
        )
    tell_step(f"{mechanism.name}, whether draws are independent")
    alone, batches = ([pair for pair in chosen if pair.beside is beside] for beside in (False, True))
    values = alone[-1].value, alone[-1].neighbour
    batch = (batches[-1].value, batches[-1].neighbour) if batches else ()
    calls = min(_CALLS, draws)
    reuse = seed_reuse(mechanism, *values, calls=calls, alpha=share, rng=stream, batches=batch)
    return AuditSuite(mechanism, relation, delta, draws, confidence, tuple(chosen), tuple(audits), reuse)


def audit_examples() -> list[Example]:
    """Every mechanism that there is, with an adjacency where it has none of its own."""
    return [example for kind in every_kind() for example in kind.audit.examples()]
