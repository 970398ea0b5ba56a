"""How Dirichlet vectors are drawn: rounded, by an urn, or in floats (dirichlet.md, 8)."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from itertools import accumulate, combinations, pairwise
from operator import mul
from typing import Any, ClassVar

import numpy as np
from scipy.special import betainc, gammaln, xlogy

from veil.core.arrays import Floats
from veil.core.checks import integer, shown, truth
from veil.core.errors import InvalidArgument, NoGuarantee
from veil.core.mechanism import REAL_ARITHMETIC, ExactOrFloat, batch_shape
from veil.core.random.streams import Rng
from veil.vectors.accuracy import Errors, dirichlet_errors
from veil.vectors.counts import Counts
from veil.vectors.samplers.polya_urn import MOST_DRAWS, sample_urn
from veil.vectors.samplers.rounded_dirichlet import sample_rounded_dirichlet

# An audit looks at every output if there are no more than these.
_FEW_OUTPUTS = 20_000
_CELLS = 400
# Below this shape a gamma variable may underflow to zero in every entry at once.
_SMALL_SHAPE = 0.2
_DIGITS = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN)


def checked_draws(exact: Any, draws: Any) -> int | None:
    """The number of draws from an urn; None where there is none, as in a mechanism that is not exact."""
    truth("exact", exact)
    if draws is None:
        return None
    if not exact:
        raise InvalidArgument("draws", expected="exact=True with it", found="exact=False")
    number = integer("draws", draws, least=1)
    if number > MOST_DRAWS:
        raise InvalidArgument("draws", expected=f"at most {MOST_DRAWS:,}", found="more")
    return number


class DirichletForm(ExactOrFloat):
    """What both Dirichlet mechanisms share: a rounded vector, an urn's frequencies, or a vector of floats."""

    draws: int | None
    form: ClassVar[str] = "rounded to 28 bits"

    @abstractmethod
    def float_shapes(self, valid: Any) -> Floats:
        """The shapes of the Dirichlet vector, as floats, one row or a batch."""

    @abstractmethod
    def exact_shape(self, entry: Any) -> Fraction:
        """The shape of one entry, the rational that it is."""

    def exact_shapes(self, row: Any) -> list[Fraction]:
        """The shapes of one row."""
        return [self.exact_shape(entry) for entry in row.tolist()]

    def describe(self) -> dict[str, Any]:
        """The name and the parameters: of an urn and of floats as in Veil 0.1."""
        description = super().describe()
        if self.draws is None:
            del description["parameters"]["draws"]
        else:
            del description["parameters"]["form"]
            description["parameters"]["exact"] = True
        return description

    @classmethod
    def rebuilt(cls, form: Any = None, **parameters: Any) -> Any:
        """The mechanism that `describe` described: with `exact` and a number of draws it is an urn."""
        made: Any = cls
        if parameters.get("draws") is None:
            return super().rebuilt(form, **parameters)
        if form is not None or "exact" not in parameters:
            found = "without exact" if form is None else f"form {shown(form)}"
            raise InvalidArgument("draws", expected="exact with it, and no form", found=found)
        return made(**parameters)

    def assumptions(self, adjacency: Any = None) -> tuple[str, ...]:
        return () if self.exact else (REAL_ARITHMETIC,)

    def _draw(self, rng: Rng, value: Any, size: int | None) -> Floats:
        if not self.exact:
            return sample_dirichlet(rng, shapes=self.float_shapes(value), size=size)
        rows = value.reshape(-1, value.shape[-1])
        if self.draws is not None:
            shapes = [self.exact_shapes(row) for row in rows]
            counts = sample_urn(rng, shapes=shapes, draws=self.draws, size=size)
            return counts.reshape(batch_shape(value, size)) / self.draws
        rounded = sample_rounded_dirichlet(
            rng,
            shapes=self.float_shapes(value),
            exact=lambda row, column: self.exact_shape(rows[row, column].item()),
            size=size,
        )
        return shares(rounded)

    def simulate(self, value: Any, *, rng: Rng, size: int) -> Floats:
        """Draws for plans and comparisons on public values: the urn in floats, never for a release."""
        vectors = sample_dirichlet(rng, shapes=self.float_shapes(self.validate(value)), size=size)
        return vectors if self.draws is None else rng.multinomial(self.draws, vectors) / self.draws

    def log_density(self, outputs: Floats, value: Any) -> Floats:
        """The log density (of an urn, the log probability) of each output for this value."""
        shapes = self.float_shapes(self.validate(value))
        return log_dirichlet(outputs, shapes) if self.draws is None else log_urn(outputs, shapes, self.draws)

    def errors(self, value: Any) -> Errors:
        """The expected errors for this value, in closed form. They depend on it: for public ones only."""
        valid = self.validate(value)
        is_counted = np.issubdtype(valid.dtype, np.integer)
        truth = Counts(valid.size).shares(valid) if is_counted else valid
        shapes = self.float_shapes(valid)
        return (
            dirichlet_errors(shapes, truth) if self.draws is None else urn_errors(shapes, truth, self.draws)
        )

    def can_enumerate(self, value: Any) -> bool:
        """Whether an audit can look at every output: of one value, from an urn with few draws."""
        valid = self.validate(value)
        if self.draws is None or valid.ndim > 1:
            return False
        return math.comb(self.draws + valid.size - 1, valid.size - 1) <= _FEW_OUTPUTS

    def distribution(self, value: Any) -> dict[tuple[float, ...], float]:
        """Every output of an urn with its probability."""
        if self.draws is None:
            raise NoGuarantee(
                "the outputs of a Dirichlet mechanism can be listed only if they come from an urn"
            )
        return urn_law(self.exact_shapes(self.validate(value)), self.draws)


def shares(rounded: Floats) -> Floats:
    """Rounded vectors divided by their sums, which are near 1: post-processing, in floats."""
    divided: Floats = rounded / rounded.sum(axis=-1, keepdims=True)
    return divided


def sample_dirichlet(rng: Rng, *, shapes: Floats, size: int | None = None) -> Floats:
    """Draw x ~ Dirichlet(shapes) in floats along the last axis; entries of shape zero stay zero.

    For plans, and for what says that it is not exact. shapes: one vector or a batch. size: how many draws of
    it, along a new leading axis.
    """
    full = shapes.shape if size is None else (size, *shapes.shape)
    positive = shapes > 0.0
    if np.min(shapes, where=positive, initial=np.inf) < _SMALL_SHAPE:
        return _sample_in_logs(rng, np.broadcast_to(shapes, full))
    draws = rng.standard_gamma(shapes, size=full)
    draws /= draws.sum(axis=-1, keepdims=True)
    return draws


def _sample_in_logs(rng: Rng, shapes: Floats) -> Floats:
    """G(a) = G(a + 1) U^(1/a) in law: with logarithms no shape is too small."""
    with np.errstate(divide="ignore", over="ignore"):
        logs = np.log(rng.standard_gamma(shapes + 1.0))
        logs -= rng.standard_exponential(shapes.shape) / shapes
    logs -= logs.max(axis=-1, keepdims=True)
    draws: Floats = np.exp(logs)
    draws /= draws.sum(axis=-1, keepdims=True)
    return draws


def urn_errors(shapes: Floats, truth: Floats, draws: int) -> Errors:
    """The errors of the frequencies as an estimate of the truth.

    The variance is 1 + A / draws times that of Dirichlet(shapes), A the sum of the shapes. An entry may be
    zero, so the expected divergence is infinite.
    """
    plain = dirichlet_errors(shapes, truth)
    total = float(shapes.sum())
    means = shapes / total
    added = float((means * (1.0 - means)).mean()) * total / (draws * (total + 1.0))
    entries = np.array(plain.entries) + [
        _added_deviation(float(a), total - float(a), float(centre), draws)
        for a, centre in zip(shapes, truth, strict=True)
    ]
    may_be_zero = bool(((truth > 0.0) & (shapes < total)).any())
    kl = math.inf if may_be_zero else plain.kl
    l1 = float(entries.sum())
    return Errors(l1, 0.5 * l1, math.sqrt(plain.rmse**2 + added), kl, tuple(map(float, entries)))


def _added_deviation(a: float, b: float, centre: float, draws: int) -> float:
    """E|X / M - c| - E|P - c| for P ~ Beta(a, b) and X ~ Binomial(M, P).

    Given P it is 2 (c F_M(h) - P F_{M-1}(h - 1) - (c - P)_+), F the binomial distribution function and h
    the whole part of c M. That differs from zero near P = c alone, where it is summed.
    """
    if not (a > 0.0 and b > 0.0 and 0.0 < centre < 1.0):
        return 0.0
    reach = 12.0 * math.sqrt(centre * (1.0 - centre) / draws) + 40.0 / draws
    edges = np.linspace(max(0.0, centre - reach), min(1.0, centre + reach), _CELLS + 1)
    p = 0.5 * (edges[1:] + edges[:-1])
    h = math.floor(centre * draws)
    # F_M(h) = I_{1-p}(M - h, h + 1), and of fewer than no draws there are none.
    up_to = betainc(draws - h, h + 1.0, 1.0 - p) if h < draws else 1.0
    before = betainc(draws - h, float(h), 1.0 - p) if h > 0 else 0.0
    more = 2.0 * (centre * up_to - p * before - np.maximum(centre - p, 0.0))
    return float((np.maximum(more, 0.0) * np.diff(betainc(a, b, edges))).sum())


def log_dirichlet(outputs: Floats, shapes: Floats) -> Floats:
    """The log density of Dirichlet(shapes), one number for each row of outputs."""
    kernel = xlogy(shapes - 1.0, np.maximum(outputs, 1e-320)).sum(axis=-1)
    constant = gammaln(shapes.sum()) - gammaln(shapes[shapes > 0.0]).sum()
    return np.asarray(kernel + constant, dtype=np.float64)


def log_urn(outputs: Floats, shapes: Floats, draws: int) -> Floats:
    """The log probability of each row of frequencies."""
    counts, present = np.rint(outputs * draws), shapes > 0.0
    amounts, drawn = shapes[present], counts[..., present]
    each = gammaln(amounts + drawn) - gammaln(amounts) - gammaln(drawn + 1.0)
    total = float(shapes.sum())
    constant = gammaln(draws + 1.0) + gammaln(total) - gammaln(total + draws)
    possible = counts[..., ~present].sum(axis=-1) == 0.0
    return np.where(possible, each.sum(axis=-1) + constant, -np.inf)


def urn_law(shapes: Sequence[Fraction], draws: int) -> dict[tuple[float, ...], float]:
    """All frequencies with their probabilities, right to the last bit or the one before it.

    P(c) = M! / (A)_M times the product of (a_i)_{c_i} / c_i!, (a)_c = a (a + 1) ... (a + c - 1). In 60
    digits the at most 4 M roundings of a product are nowhere near the last bit of a float.
    """
    with localcontext(_DIGITS):
        rising = [_rising(shape, draws) for shape in shapes]
        ways = _rising(Fraction(1), draws)
        whole = ways[draws] / _rising(sum(shapes, Fraction(0)), draws)[draws]
        law = {}
        # Each way to put the draws into cells is a way to place the bars between them.
        for bars in combinations(range(draws + len(shapes) - 1), len(shapes) - 1):
            ends = (-1, *bars, draws + len(shapes) - 1)
            counts = [right - left - 1 for left, right in pairwise(ends)]
            probability = whole
            for table, count in zip(rising, counts, strict=True):
                probability *= table[count] / ways[count]
            law[tuple(count / draws for count in counts)] = float(probability)
    return law


def _rising(start: Fraction, most: int) -> list[Decimal]:
    """(a)_0 to (a)_most."""
    first = Decimal(start.numerator) / Decimal(start.denominator)
    return list(accumulate((first + step for step in range(most)), mul, initial=Decimal(1)))
