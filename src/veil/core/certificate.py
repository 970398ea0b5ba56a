"""What ball arithmetic says of a record: the true delta, enclosed, against the one that is claimed."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

from veil.core.errors import VeilError
from veil.core.privacy.rigorous import Enclosure
from veil.core.privacy.rigorous.enclosure import flint
from veil.core.record import Release

# As few as tell the enclosure from the claim are shown.
_DIGITS = (3, 6, 9, 12, 17)


@dataclass(frozen=True, slots=True)
class Certificate:
    """The delta of a record's description at the epsilon that it claims.

    epsilon, delta: as claimed. profile: what kind it has. enclosure: around the true delta, or around that of
    the pair that the proof of an upper bound uses; None where there is no such evaluation for the profile.
    """

    epsilon: float
    delta: float
    profile: str
    enclosure: Enclosure | None

    @property
    def holds(self) -> bool | None:
        """Whether the claim is certified; False where it is refuted, None where neither is known."""
        if self.enclosure is None:
            return None
        if self.enclosure.high <= self.delta:
            return True
        return False if self.enclosure.low > self.delta else None

    def __str__(self) -> str:
        if self.enclosure is None:
            return f"Ball arithmetic is not available for this mechanism: its profile is a {self.profile}."
        at = f"epsilon {_plain(self.epsilon)}"
        if self.enclosure.high == 0.0:
            return (
                f"Certified by ball arithmetic: delta at {at} is 0; the record claims {_plain(self.delta)}."
            )
        between = f"delta at {at} is between {' and '.join(self._ends(self.enclosure))}"
        claimed = f"the record claims {_plain(self.delta)}"
        if self.holds is None:
            return f"Could not be resolved by ball arithmetic: {between}; {claimed}."
        if self.holds:
            return f"Certified by ball arithmetic: {between}; {claimed}."
        return f"WRONG: refuted by ball arithmetic: {between}; {claimed}. Do not trust this file."

    def to_json(self) -> dict[str, Any]:
        """For machines; the enclosure is null where there is none, `holds` where it is not known."""
        low, high = (None, None) if self.enclosure is None else (self.enclosure.low, self.enclosure.high)
        return {"low": low, "high": high, "holds": self.holds, "message": str(self)}

    def _ends(self, enclosure: Enclosure) -> tuple[str, str]:
        """The enclosure in few digits, rounded outwards, that still say whether the claim holds."""
        low, high, claimed = "", "", Decimal(repr(self.delta))
        for digits in _DIGITS:
            low, high = _down(enclosure.low, digits), _up(enclosure.high, digits)
            if self.holds is None or Decimal(high) <= claimed or Decimal(low) > claimed:
                break
        return low, high


def certificate_of(release: Release[Any]) -> Certificate:
    """Evaluate what a record claims by ball arithmetic. Needs the extra "rigorous"; may take seconds."""
    flint()
    profile = release.profile
    try:
        enclosure = profile.enclosure(release.epsilon)
    except (ArithmeticError, MemoryError, ValueError) as error:
        if isinstance(error, VeilError):
            raise
        enclosure = Enclosure(0.0, 1.0)
    return Certificate(release.epsilon, release.delta, type(profile).__name__, enclosure)


def _plain(number: float) -> str:
    return repr(number).removesuffix(".0")


def _down(number: float, digits: int) -> str:
    return _rounded(number, digits, ROUND_FLOOR)


def _up(number: float, digits: int) -> str:
    return _rounded(number, digits, ROUND_CEILING)


def _rounded(number: float, digits: int, rounding: str) -> str:
    if number == 0.0:
        return "0"
    exact = Decimal(number)
    short = exact.quantize(Decimal(1).scaleb(exact.adjusted() + 1 - digits), rounding=rounding)
    if -5 < short.adjusted() < 5:
        return f"{short.normalize():f}"
    mantissa, exponent = f"{short.normalize():e}".split("e")
    return f"{mantissa}e{int(exponent):+03d}"
