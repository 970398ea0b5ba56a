"""A claim against the truth of pairs: nothing may lie above it, and the search must come near it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from flint import arb

from tests.review.divergences import ball, is_below, shown
from tests.review.tails import precision
from veil.core.privacy.profile import PrivacyProfile

# Counted over all studies, for whoever asks: pairs, and the largest part of a claim that was reached.
FIGURES: dict[str, tuple[int, float]] = {}


@dataclass
class Tally:
    """What was compared with one profile. reached: the largest truth as a part of the claim, by epsilon."""

    study: str
    profile: PrivacyProfile
    pairs: int = 0
    reached: dict[float, float] = field(default_factory=dict)
    above: list[str] = field(default_factory=list)

    def add(self, epsilon: float, truths: Iterable[arb], what: object) -> None:
        """The true divergences of a pair, in both directions or one, or bounds that are not above them."""
        claim = self.profile.delta(epsilon)
        for truth in truths:
            if is_below(claim, truth):
                self.above.append(f"{what} at {epsilon!r}: {shown(truth)}, claimed {claim!r}")
            part = float(truth.mid()) / claim if claim > 0.0 else 0.0
            self.reached[epsilon] = max(self.reached.get(epsilon, 0.0), part)

    def add_loss(self, loss: Fraction | arb, what: object) -> None:
        """A loss that occurs, against the epsilon from which on delta is zero."""
        claim = self.profile.pure_epsilon
        with precision(256):
            truth = ball(loss) if isinstance(loss, Fraction) else loss
            if bool(truth > arb(claim)):
                self.above.append(f"{what}: a loss of {shown(truth)}, claimed {claim!r}")
            part = float(truth.mid()) / claim if claim > 0.0 else 0.0
        self.reached[-1.0] = max(self.reached.get(-1.0, 0.0), part)

    def close(self, *, least: float = 0.0) -> None:
        """Say what was found; an error where it is above the claim, or the search saw too little of it."""
        worst = min(self.reached.values(), default=0.0)
        FIGURES[self.study] = self.pairs, max(self.reached.values(), default=0.0)
        parts = ", ".join(
            f"{'pure' if at < 0 else f'{at:g}'}: {part:.9g}" for at, part in self.reached.items()
        )
        print(f"\n{self.study} ({self.profile.kind}): {self.pairs:,} pairs; truth / claim at {parts}")
        assert not self.above, f"{len(self.above)} above the claim, the first: {self.above[0]}"
        assert worst >= least, f"the search reached {worst:.4f} of the claim, expected {least}"
