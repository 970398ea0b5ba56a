"""The Dirichlet mechanism on probability vectors (paper DS; proofs in dirichlet.md)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln, xlogy

from veil.domains.adjacency import Adjacency, Transfer
from veil.domains.checks import positive
from veil.domains.intake import Floats
from veil.domains.simplex import Simplex
from veil.errors import InvalidArgument, NoGuarantee
from veil.mechanisms.accuracy import Errors, dirichlet_errors
from veil.mechanisms.base import UNPROTECTED, Described, adjacency_of
from veil.mechanisms.published import Published, largest_threshold, published_bound
from veil.numerics.rounding import float_above
from veil.privacy.pairs import SymmetricBetaPair
from veil.privacy.profile import NothingRevealed, PrivacyProfile
from veil.privacy.two_entries import TwoEntries
from veil.samplers.dirichlet import sample_dirichlet
from veil.samplers.randomness import Rng


@dataclass(frozen=True)
class Dirichlet(Described):
    """Release x ~ Dirichlet(k p) in place of the probability vector p.

    k: the concentration; the larger, the closer x is to p and the less private.
    domain: the Simplex, with its floor. A floor of zero protects nothing.
    smooth: first map p to (1 - n floor) p + floor, so that every vector, zeros included, is taken and
        the guarantee assumes nothing of it. Without smoothing the guarantee holds only among vectors
        that respect the floor (the paper's form).

    >>> import veil
    >>> mechanism = veil.Dirichlet(20.6, veil.Simplex(5, floor=0.073))
    >>> profile = mechanism.profile(veil.Transfer.from_records(98))
    >>> round(profile.epsilon(0.0026), 3)
    0.629
    """

    k: float
    domain: Simplex
    _: KW_ONLY
    smooth: bool = False
    name: ClassVar[str] = "Dirichlet"

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", positive("k", self.k))
        if not isinstance(self.domain, Simplex):
            raise InvalidArgument("domain", expected="a veil.Simplex", found=type(self.domain).__name__)
        if not isinstance(self.smooth, bool):
            raise InvalidArgument("smooth", expected="True or False", found=repr(self.smooth)[:40])
        if self.smooth and self._shrinkage <= 0.0:
            raise InvalidArgument(
                "domain.floor",
                expected=f"less than 1/size = {1.0 / self.domain.size:g} where the vector is smoothed",
                found=f"{self.domain.floor:g}",
            )

    @property
    def _shrinkage(self) -> float:
        return float_above(1 - self.domain.size * Fraction(self.domain.floor))

    @property
    def _accepted(self) -> Simplex:
        """The vectors that it takes: with smoothing those below the floor as well."""
        if not self.smooth:
            return self.domain
        return Simplex(self.domain.size, protected=self.domain.protected, slack=self.domain.slack)

    def validate(self, value: Any) -> Floats:
        return self._accepted.validate(value)

    def smoothed(self, vectors: Floats) -> Floats:
        """What the vectors become before the noise."""
        if not self.smooth:
            return vectors
        return self._shrinkage * vectors + self.domain.floor

    def _draw(self, rng: Rng, value: Any, size: int | None) -> Floats:
        return sample_dirichlet(rng, shapes=self.k * self.smoothed(value), size=size)

    def _largest_transfer(self, mass: float) -> float:
        """How much two protected entries can differ once smoothed."""
        if self.smooth:
            return self._shrinkage * min(mass, self._accepted.room)
        return min(mass, self.domain.room)

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        """The exact privacy profile for vectors that exchange mass (Theorems 1 and 2 of dirichlet.md)."""
        transfer: Transfer = adjacency_of(self, adjacency, Transfer)
        floor = self.domain.floor
        if floor <= 0.0:
            raise NoGuarantee(
                "domain.floor: a floor of 0 protects nothing, since an entry that may be zero gives itself "
                "away whatever k is. Expected a floor above 0, found 0; smooth=True makes any vector "
                "respect the floor."
            )
        moved = self._largest_transfer(transfer.mass)
        if moved <= 0.0:
            return NothingRevealed()
        if self.domain.size == 2:
            return TwoEntries(self.k, floor, min(moved, 1.0 - 2.0 * floor))
        return SymmetricBetaPair(self.k * floor, self.k * moved)

    def assumptions(self, adjacency: Adjacency | None = None) -> tuple[str, ...]:
        found = []
        if not self.smooth:
            which = "every entry" if self.domain.protected is None else "every protected entry"
            text = f"{which} of the true vector and of its neighbours is at least {self.domain.floor!r}"
            found.append(text)
        if self.domain.slack:
            found.append(f"at least {self.domain.slack!r} of the mass lies outside the protected entries")
        if self.domain.protected is not None:
            found.append(UNPROTECTED)
        return tuple(found)

    def published(
        self,
        adjacency: Adjacency | None = None,
        *,
        gamma: float | None = None,
        delta: float | None = None,
        form: str = "theorem",
    ) -> Published:
        """The papers' own bound, as printed (DS Thm 1-3, DC Thm 1), with the assumptions that fail.

        gamma: where the paper splits the output space; or delta: take the gamma of least epsilon.
        form: "theorem", or "corollary" for the looser closed form of DS Cor. 1-3.
        """
        transfer: Transfer = adjacency_of(self, adjacency, Transfer)
        if (gamma is None) == (delta is None):
            raise InvalidArgument("gamma", expected="either gamma or delta", found="both or neither")
        if gamma is None:
            assert delta is not None
            gamma = largest_threshold(self.k, self.domain, delta)
        return published_bound(self.k, self.domain, transfer.mass, gamma, form)

    def errors(self, value: Any) -> Errors:
        """The expected errors for this vector, in closed form. They depend on it: for public ones only."""
        vector = self.validate(value)
        return dirichlet_errors(self.k * self.smoothed(vector), vector)

    def log_density(self, outputs: Floats, value: Any) -> Floats:
        """The log density of each output if this value lay behind it."""
        return log_dirichlet(outputs, self.k * self.smoothed(self.validate(value)))


def log_dirichlet(outputs: Floats, shapes: Floats) -> Floats:
    """The log density of Dirichlet(shapes), one number for each row of outputs."""
    kernel = xlogy(shapes - 1.0, np.maximum(outputs, 1e-320)).sum(axis=-1)
    constant = gammaln(shapes.sum()) - gammaln(shapes[shapes > 0.0]).sum()
    return np.asarray(kernel + constant, dtype=np.float64)
