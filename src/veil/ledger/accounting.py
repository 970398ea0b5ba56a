"""How charges add up, where each release may be chosen after seeing those before it (proofs: accounting.md).

A rule measures a charge along one or several lines and has a limit on each. "basic" adds epsilon and delta
and must stay within both limits. "zcdp" adds rho. "renyi" adds the divergences of a few orders that are fixed
when the dataset is opened; one of them must stay within its limit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from veil.core.account import Charge
from veil.core.checks import choice, items
from veil.core.errors import InvalidArgument, NoGuarantee
from veil.core.numerics.rounding import float_above, float_below
from veil.core.privacy.pairs import RandomizedResponses
from veil.core.privacy.profile import PrivacyProfile, order_of
from veil.core.privacy.renyi import divergence_within, rho_within
from veil.ledger.amounts import ZERO, Amount, charged

RULES = ("basic", "zcdp", "renyi")
# Wide apart: each costs a share of delta, and what lies between loses little.
USUAL_ORDERS = (2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 64.0, 128.0)
UP, _DOWN = Context(prec=15, rounding=ROUND_CEILING), Context(prec=15, rounding=ROUND_FLOOR)
# Beyond any meaning; within what floats hold.
_MOST_EPSILON = Amount(1_000_000)
# Stands for a divergence without end; sums that hold it are at least as large.
_NO_BOUND = Amount("1e30")
# Each has a share of delta and a limit of its own in every entry.
_MOST_ORDERS = 100

Totals = Mapping[str, Amount]


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to add up charges, with its limits."""

    name: str
    limits: Totals

    @classmethod
    def of(cls, name: str, epsilon: Amount, delta: Amount, orders: Sequence[float] | None = None) -> Rule:
        """The rule whose limits keep everything together within (epsilon, delta)."""
        choice("accounting", name, RULES)
        if orders is not None and name != "renyi":
            raise InvalidArgument("orders", expected='accounting="renyi" with them', found=repr(name))
        if name == "basic":
            return cls(name, {"epsilon": epsilon, "delta": delta})
        if epsilon > _MOST_EPSILON:
            raise InvalidArgument("epsilon", expected=f"at most {_MOST_EPSILON} with a filter", found="more")
        # Floats that are surely not above what was stated.
        most, failing = (float_below(Fraction(amount)) for amount in (epsilon, delta))
        if failing <= 0.0 or most <= 0.0:
            field = "delta" if failing <= 0.0 else "epsilon"
            raise InvalidArgument(field, expected=f"a number above 0 with accounting={name!r}", found="0")
        if name == "zcdp":
            return cls(name, {"rho": _rounded(rho_within(most, failing), _DOWN)})
        return cls(name, _order_limits(most, failing, orders))

    def cost(self, charge: Charge) -> dict[str, Amount]:
        """What the charge adds along each line; epsilon and delta always among them."""
        simple = {
            "epsilon": charged("epsilon", charge.epsilon),
            "delta": charged("delta", charge.delta, most=1),
        }
        if self.name == "basic":
            return simple
        if not charge.profiles:
            expected = f"releases of Veil's own mechanisms, with accounting={self.name!r}"
            raise InvalidArgument("ledger", expected=expected, found="epsilon and delta alone")
        return simple | {line: self._along(line, charge.profiles) for line in self.limits}

    def _along(self, line: str, profiles: Sequence[PrivacyProfile]) -> Amount:
        if self.name == "zcdp":
            return _sum_above(map(_rho, profiles))
        order = float(line.removeprefix("order "))
        return _sum_above(_divergence(profile, order) for profile in profiles)

    def fits(self, totals: Totals) -> bool:
        """Whether nothing, or with "renyi" not everything, is above its limit."""
        within = [spent <= self.limits[line] for line, spent in self.along(totals).items()]
        return any(within) if self.name == "renyi" else all(within)

    def advice(self, totals: Totals) -> str:
        """What would help, where these totals do not fit."""
        over = [line for line, spent in self.along(totals).items() if spent > self.limits[line]]
        if over == ["delta"]:
            return "There is room in epsilon but not in delta: raise it, or release with a smaller delta."
        return ""

    def along(self, totals: Totals) -> dict[str, Amount]:
        """What of the totals has a limit."""
        return {line: totals.get(line, ZERO) for line in self.limits}

    def remaining(self, totals: Totals) -> dict[str, Amount]:
        """What is left along each line, at least nothing."""
        return {line: max(ZERO, self.limits[line] - spent) for line, spent in self.along(totals).items()}

    def used(self, totals: Totals) -> tuple[str, float]:
        """The line along which the budget is tightest, and the share of it that is gone: for the eye."""
        shares = {
            line: min(1.0, float(spent) / float(self.limits[line])) if self.limits[line] else 1.0
            for line, spent in self.along(totals).items()
            if self.limits[line] or spent
        }
        tightest = min if self.name == "renyi" else max
        line = tightest(shares, key=shares.__getitem__, default=next(iter(self.limits)))
        return line, shares.get(line, 0.0)

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "limits": {line: str(limit) for line, limit in self.limits.items()}}

    @classmethod
    def from_dict(cls, content: Any) -> Rule:
        # Texts of the store have their keys in the order of letters.
        known = sorted(content["limits"].items(), key=lambda item: _place(item[0]))
        limits = {str(line): Amount(limit) for line, limit in known}
        return cls(choice("accounting", content["name"], RULES), limits)


def words_of(totals: Totals) -> str:
    """Amounts as text: epsilon = 0.5, delta = 0.000001."""
    return ", ".join(
        f"{line} = {amount if amount < _NO_BOUND else 'no bound'}" for line, amount in totals.items()
    )


def _place(line: str) -> tuple[float, str]:
    """Epsilon before delta, small orders before large ones."""
    return (float(line.removeprefix("order ")) if line.startswith("order ") else -(line == "epsilon"), line)


def _order_limits(epsilon: float, delta: float, orders: Sequence[float] | None) -> dict[str, Amount]:
    expected = f"a list of 1 to {_MOST_ORDERS} orders"
    given = list(USUAL_ORDERS) if orders is None else items("orders", orders, expected=expected)
    if not 1 <= len(given) <= _MOST_ORDERS:
        raise InvalidArgument("orders", expected=expected, found=f"{len(given):,}")
    wanted = sorted(set(map(order_of, given)))
    # Which of them is within its limit in the end may depend on what was released: each has a share of delta.
    share = delta / len(wanted)
    kept = [order for order in wanted if divergence_within(epsilon, share, order) > 0.0]
    if not kept:
        expected = f"an order that leaves room within epsilon = {epsilon:g}, delta = {delta:g}"
        found, hint = "none of them does", "A larger order, or a larger budget."
        raise InvalidArgument("orders", expected=expected, found=found, hint=hint)
    share = float_below(Fraction(delta) / len(kept))
    # In full: what is charged must be the divergence of the order that has the limit.
    names = {order: f"order {order!r}".removesuffix(".0") for order in kept}
    return {names[order]: _rounded(divergence_within(epsilon, share, order), _DOWN) for order in kept}


def _sum_above(numbers: Iterable[float]) -> Amount:
    """Exactly added, then rounded up."""
    each = list(numbers)
    # Beyond any limit, but a number: what it is added to is then used up.
    if sum(each) > float(_NO_BOUND):
        return _NO_BOUND
    return _rounded(float_above(sum(map(Fraction, each), Fraction())), UP)


def _rounded(value: float, context: Context) -> Amount:
    return Amount(context.plus(Decimal(value)))


def _rho(profile: PrivacyProfile) -> float:
    try:
        return profile.zcdp()
    except NoGuarantee:
        raise NoGuarantee(
            'accounting: this mechanism has no zCDP parameter. Open the dataset with accounting="renyi", or '
            '"basic", which take it.'
        ) from None


def _divergence(profile: PrivacyProfile, order: float) -> float:
    """The divergence of this order, not below the truth; infinite where it is."""
    known = []
    with suppress(NoGuarantee):
        known.append(profile.rdp(order))
    if math.isfinite(profile.pure_epsilon):
        known.append(profile.pure_epsilon)
        if profile.pure_epsilon < 1e3:
            known.append(RandomizedResponses(profile.pure_epsilon).rdp(order))
    if not known:
        raise NoGuarantee(
            'accounting: the Renyi divergences of this mechanism are not known. "basic" takes it all the same'
        )
    return min(known)
