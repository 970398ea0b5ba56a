"""Gamma, normal and Laplace variables that are real numbers, known as closely as asked (proofs in ideal.md).

Each is a function of a few uniform real numbers. Nothing here is rounded for good: intervals hold the real
number, and shrink as more digits are computed and more bits are drawn, until what was asked is decided.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TypeVar

from veil.core.numerics.intervals import Arithmetic, Interval
from veil.core.random.streams import Rng
from veil.core.random.uniform import Uniform

_FIRST_DIGITS = 32
Answer = TypeVar("Answer")


def precisions() -> Iterator[Arithmetic]:
    """One precision after the other, each twice as fine."""
    digits = _FIRST_DIGITS
    while True:
        yield Arithmetic(digits)
        digits *= 2


def settle(rng: Rng, uniforms: list[Uniform], ask: Callable[[Arithmetic], Answer | None]) -> Answer:
    """The answer, with more digits and more bits of the same uniform numbers until there is one.

    A uniform number that may be 0 or 1 as far as its bits are known is not asked about.
    """
    for attempt, arithmetic in enumerate(precisions()):
        if attempt:
            for uniform in uniforms:
                uniform.extend(rng)
        if all(low > 0 and high < 1 for low, high in (uniform.between() for uniform in uniforms)):
            answer = ask(arithmetic)
            if answer is not None:
                return answer
    raise AssertionError("precisions never end")


def _log_of(a: Arithmetic, uniform: Uniform) -> Interval:
    return a.log(a.between(*uniform.between()))


def _logit_of(a: Arithmetic, uniform: Uniform) -> Interval:
    """log(U / (1 - U))."""
    low, high = uniform.between()
    return a.log(a.between(low / (1 - low), high / (1 - high)))


class LogisticProposal(ABC):
    """A variable that is drawn by rejection from a logistic one: y = rate log(U / (1 - U)).

    It is accepted if -log(4 U (1 - U) V) >= excess(y), V another uniform number.
    """

    @abstractmethod
    def rate(self, a: Arithmetic) -> Interval: ...

    @abstractmethod
    def excess(self, a: Arithmetic, y: Interval) -> Interval: ...

    def place(self, a: Arithmetic, u: Uniform) -> Interval:
        """y."""
        return a.multiply(self.rate(a), _logit_of(a, u))

    def accepts(self, rng: Rng, u: Uniform, v: Uniform) -> bool:
        """Whether the proposal is taken."""

        def ask(a: Arithmetic) -> bool | None:
            (low, high), both = u.between(), a.between(*v.between())
            # U (1 - U) rises to 1/4 at U = 1/2 and falls from there; a word never has 1/2 inside it.
            ends = sorted((4 * low * (1 - low), 4 * high * (1 - high)))
            logs = a.log(a.multiply(a.between(*ends), both))
            room = a.add(logs, self.excess(a, self.place(a, u)))
            return True if room[1] <= 0 else False if room[0] > 0 else None

        return settle(rng, [u, v], ask)


class GammaProposal(LogisticProposal):
    """log(X / shape) for X ~ Gamma(shape), shape above 1/2: excess(y) = shape (e^y - 1 - y)."""

    def __init__(self, shape: Fraction) -> None:
        self.shape = shape

    def rate(self, a: Arithmetic) -> Interval:
        return a.divide(a.number(1), a.root(a.number(2 * self.shape - 1)))

    def excess(self, a: Arithmetic, y: Interval) -> Interval:
        rest = a.subtract(a.subtract(a.exp(y), a.number(1)), y)
        return a.multiply(a.number(self.shape), rest)


class NormalProposal(LogisticProposal):
    """A standard normal variable: excess(y) = y^2 / 2."""

    def rate(self, a: Arithmetic) -> Interval:
        return a.divide(a.number(1), a.root(a.number(2)))

    def excess(self, a: Arithmetic, y: Interval) -> Interval:
        return a.divide(a.multiply(y, y), a.number(2))


class LaplaceVariable:
    """A standard Laplace variable: -log U with a random sign."""

    def place(self, a: Arithmetic, u: Uniform, *, negative: bool) -> Interval:
        logs = _log_of(a, u)
        return logs if negative else a.negate(logs)


def log_gamma(a: Arithmetic, shape: Fraction, u: Uniform, boost: Uniform | None) -> tuple[Interval, Interval]:
    """(e^y times the shape, what to add to its logarithm) of a Gamma(shape) variable.

    boost: where it was drawn as Gamma(shape + 1) W^(1/shape), the W.
    """
    proposal = GammaProposal(shape if boost is None else shape + 1)
    size = a.multiply(a.number(proposal.shape), a.exp(proposal.place(a, u)))
    if boost is None:
        return size, a.number(0)
    return size, a.divide(_log_of(a, boost), a.number(shape))
