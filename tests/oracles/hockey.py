"""Hockey-stick divergences of one-dimensional pairs, in arbitrary precision.

``E_eps(P || Q) = integral of max(0, p - e^eps q)``.  For each pair below the log density ratio is linear
in a coordinate u (u = logit t for betas of equal total, u = log x for gammas), so the positive part is a
half line that starts at a threshold u*.  Two routes are used, and the tests compare them:

* closed form: P[half line] - e^eps Q[half line] with incomplete beta or gamma functions, the working
  precision being raised until the difference keeps enough digits;
* quadrature: the integral over v > 0 of p(u* +- v) * (1 - e^{-|slope| v}), a positive and log-concave
  integrand (nothing cancels), by Gauss-Legendre rules on panels laid around its mode.

All results are ``mpf`` numbers, which do not underflow.
"""

from collections.abc import Callable
from typing import TypeAlias

from mpmath import mp, mpf

from .halfline import WORKING_DIGITS, half_line_integral

Number: TypeAlias = "float | mpf"

CLOSED_FORM_LIMIT = 2000


def _difference(first: tuple[mpf, mpf], second: tuple[mpf, mpf], factor: mpf) -> mpf | None:
    """first - factor * second, or None when fewer than 25 digits of the difference would be right.

    Each argument is (value, scale), the error being about scale * 10^-digits.
    """
    value = first[0] - factor * second[0]
    error = (first[1] + factor * second[1]) * mpf(10) ** -mp.dps
    return value if value > error * mpf(10) ** 25 else None


def _raise_precision(attempt: Callable[[], mpf | None]) -> mpf:
    for digits in (WORKING_DIGITS, 100, 200, 400, 800, 1600):
        with mp.workdps(digits):
            value = attempt()
        if value is not None:
            return value
    raise ArithmeticError("no convergence at 1600 digits")


def _series(numerator: mpf, denominator: mpf, x: mpf) -> mpf:
    """Sum over m of x^m prod_{j<m} (numerator + j)/(denominator + j): 2F1(numerator, 1; denominator; x)."""
    total = term = mpf(1)
    tiny = mpf(10) ** -(mp.dps + 5)
    m = 0
    while True:
        ratio = x * (numerator + m) / (denominator + m)
        term *= ratio
        total += term
        m += 1
        if ratio < 1 and term < tiny * total * (1 - max(ratio, x)):
            return total


def _beta_below(a: mpf, b: mpf, u: mpf) -> tuple[mpf, mpf]:
    """P[logit t < u] for t ~ Beta(a, b), and the scale of its rounding error."""
    x, y = 1 / (1 + mp.exp(-u)), 1 / (1 + mp.exp(u))
    log_beta = mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)
    front = mp.exp(a * mp.log(x) + b * mp.log(y) - log_beta)
    if x * (a + b + 2) <= a + 1:
        value = front / a * _series(a + b, a + 1, x)
        return value, value
    return 1 - front / b * _series(a + b, b + 1, y), mpf(1)


def _log_beta(a: mpf, b: mpf) -> mpf:
    return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


def beta_hockey_stick(
    a1: Number, b1: Number, a2: Number, b2: Number, epsilon: Number, method: str = "auto"
) -> mpf:
    """E_epsilon(Beta(a1, b1) || Beta(a2, b2)) for a1 + b1 == a2 + b2 (up to 1e-12; b2 is then adjusted).

    ``method`` is "closed", "quad", or "auto": closed up to a total of 2,000, quadrature beyond.
    """
    with mp.workdps(WORKING_DIGITS):
        a1, b1, a2, b2, eps = mpf(a1), mpf(b1), mpf(a2), mpf(b2), mpf(epsilon)
        total = a1 + b1
        if min(a1, b1, a2, b2) <= 0 or abs(a2 + b2 - total) > mpf("1e-12") * total:
            raise ValueError("the shapes must be positive and have equal totals")
        if a1 == a2:
            return max(mpf(0), -mp.expm1(eps))
        if a1 < a2:  # reflect t to 1 - t, so that large t speaks for the first one
            a1, a2 = b1, total - a2
        b1, b2, rate = total - a1, total - a2, a1 - a2
        if min(b1, b2) <= 0:
            raise ValueError("the shapes differ by less than their rounding")

    def threshold() -> mpf:
        return (eps + _log_beta(a1, b1) - _log_beta(a2, b2)) / rate

    def closed() -> mpf | None:
        u = -threshold()
        return _difference(_beta_below(b1, a1, u), _beta_below(b2, a2, u), mp.exp(eps))

    if method == "closed" or (method == "auto" and total <= CLOSED_FORM_LIMIT):
        return _raise_precision(closed)
    with mp.workdps(WORKING_DIGITS):
        constant = _log_beta(a1, b1)

        def log_density(u: mpf) -> mpf:  # of the logit
            softplus = max(u, mpf(0)) + mp.log1p(mp.exp(-abs(u)))
            return a1 * u - total * softplus - constant

        def slope(u: mpf) -> mpf:
            small = mp.exp(-abs(u))
            return (a1 - b1 * small) / (1 + small) if u < 0 else (a1 * small - b1) / (1 + small)

        landmarks = [mpf(s * 2**j) for j in range(6) for s in (-1, 1)] + [mpf(0)]
        return half_line_integral(log_density, slope, threshold(), rate, 1, landmarks)


def _gamma_below(a: mpf, x: mpf) -> mpf:
    front = mp.exp(a * mp.log(x) - x - mp.loggamma(a + 1))
    total = term = mpf(1)
    m = 1
    while term > mpf(10) ** -(mp.dps + 5) * total or m + a < x:
        term *= x / (a + m)
        total += term
        m += 1
    return front * total


def gamma_hockey_stick(shape1: Number, shape2: Number, epsilon: Number, method: str = "auto") -> mpf:
    """E_epsilon(Gamma(shape1) || Gamma(shape2)) at unit scale, in either order of the shapes.

    An upper tail beyond x = 1e12 (1 + shape1) holds less than e^-1e11 and is returned as 0.
    """
    with mp.workdps(WORKING_DIGITS):
        a1, a2, eps = mpf(shape1), mpf(shape2), mpf(epsilon)
        if a1 == a2:
            return max(mpf(0), -mp.expm1(eps))
        rate, sign = abs(a1 - a2), 1 if a1 > a2 else -1

    def threshold() -> mpf:
        return (eps + mp.loggamma(a1) - mp.loggamma(a2)) / (a1 - a2)

    def closed() -> mpf | None:
        x = mp.exp(threshold())
        first, second = _gamma_below(a1, x), _gamma_below(a2, x)
        if sign < 0:
            return _difference((first, first), (second, second), mp.exp(eps))
        return _difference((1 - first, mpf(1)), (1 - second, mpf(1)), mp.exp(eps))

    with mp.workdps(WORKING_DIGITS):
        start = mp.exp(threshold())
        if sign > 0 and start > mpf(10) ** 12 * (1 + a1):
            return mpf(0)
        small = max(a1, a2, start) <= CLOSED_FORM_LIMIT
    if method == "closed" or (method == "auto" and small):
        return _raise_precision(closed)
    with mp.workdps(WORKING_DIGITS):
        constant = mp.loggamma(a1)
        centre = mp.log(max(a1, mpf(1)))
        landmarks = [centre + j for j in (-32, -16, -8, -4, -2, -1, 0, 1, 2, 3, 4)]

        def log_density(u: mpf) -> mpf:  # of the logarithm
            return a1 * u - mp.exp(u) - constant

        return half_line_integral(log_density, lambda u: a1 - mp.exp(u), threshold(), rate, sign, landmarks)


def normal_hockey_stick(shift: Number, sigma: Number, epsilon: Number) -> mpf:
    """E_epsilon(N(shift, sigma^2) || N(0, sigma^2))."""

    def closed() -> mpf | None:
        ratio, eps = abs(mpf(shift)) / mpf(sigma), mpf(epsilon)
        first = mp.erfc((eps / ratio - ratio / 2) / mp.sqrt(2)) / 2
        second = mp.erfc((eps / ratio + ratio / 2) / mp.sqrt(2)) / 2
        return _difference((first, first), (second, second), mp.exp(eps))

    return max(mpf(0), -mp.expm1(mpf(epsilon))) if shift == 0 else _raise_precision(closed)


def worst_case_dirichlet(k: Number, floor: Number, mass: Number, size: int, epsilon: Number) -> mpf:
    """The worst pair of floored vectors of size >= 3, all entries protected, at concentration k.

    a = k floor and s = k min(mass, 1 - size floor): E_epsilon(Beta(a + s, a) || Beta(a, a + s)).
    """
    if size < 3:
        raise ValueError("size 2 has its own form")
    with mp.workdps(WORKING_DIGITS):
        a = mpf(k) * mpf(floor)
        s = mpf(k) * max(mpf(0), min(mpf(mass), 1 - size * mpf(floor)))
        return beta_hockey_stick(a + s, a, a, a + s, epsilon)


def two_entry_dirichlet(k: Number, floor: Number, mass: Number, epsilon: Number, points: int = 65) -> mpf:
    """Size 2: the maximum over a grid of x in [floor, 1 - floor - d'] and over both directions.

    d' = min(mass, 1 - 2 floor); the pair is Beta(k(x + d'), k(1 - x - d')) and Beta(kx, k(1 - x)).
    """
    with mp.workdps(WORKING_DIGITS):
        low = mpf(floor)
        move = max(mpf(0), min(mpf(mass), 1 - 2 * low))
        width = 1 - 2 * low - move
        best = mpf(0)
        for x in {low + width * i / (points - 1) for i in range(points)}:
            shifted = (k * (x + move), k * (1 - x - move))
            plain = (k * x, k * (1 - x))
            forth = beta_hockey_stick(*shifted, *plain, epsilon)
            back = beta_hockey_stick(*plain, *shifted, epsilon)
            best = max(best, forth, back)
        return best
