"""The ledger under a reader who chooses the next release by the last answer (spec: accounting).

Randomised response at 1, then either it again or "reveal with probability 0.2103". In every fixed order the
privacy losses add up to delta(1.5) = 0.2103. Whoever chooses after seeing the first answer reaches 0.2668. An
account that adds privacy-loss distributions would let that through; every way of the ledger charges for it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import pytest

import veil
from tests.ledger.places import MOSTLY_IN_A_FILE
from veil.core.account import Charge
from veil.core.privacy.profile import LogDelta, PrivacyProfile
from veil.errors import BudgetExceeded, InvalidArgument
from veil.ledger.accounting import Rule
from veil.ledger.amounts import Amount

EPSILON = 1.5
ANSWER = veil.bits.RandomizedResponse(1.0)
NEAR = veil.bits.BitFlips(1)
# Of a bit: the probability of each output. None: nothing was revealed.
Law = dict[Any, float]


def response(bit: int) -> Law:
    truth = math.e / (1.0 + math.e)
    return {bit: truth, 1 - bit: 1.0 - truth}


def delta_of(laws: Iterable[Law], epsilon: float) -> float:
    """The hockey-stick divergence of two laws, both ways."""
    one, other = laws
    outputs = {*one, *other}
    return max(
        math.fsum(max(0.0, p.get(out, 0.0) - math.exp(epsilon) * q.get(out, 0.0)) for out in outputs)
        for p, q in ((one, other), (other, one))
    )


def together(first: Callable[[int], Law], second: Callable[[Any], Callable[[int], Law]], bit: int) -> Law:
    """The law of both answers, where the second release is chosen by the first answer."""
    return {(one, two): p * q for one, p in first(bit).items() for two, q in second(one)(bit).items()}


# Such that revealing after a response costs as much as a second response.
CHANCE = delta_of((together(response, lambda _: response, bit) for bit in (0, 1)), EPSILON)


def reveal(bit: int) -> Law:
    return {bit: CHANCE, None: 1.0 - CHANCE}


def adaptive(answer: Any) -> Callable[[int], Law]:
    return response if answer == 1 else reveal


FIXED: dict[str, Callable[[Any], Callable[[int], Law]]] = {
    "twice": lambda _: response,
    "reveal": lambda _: reveal,
}


def test_the_counterexample() -> None:
    """By brute force over all outputs."""
    assert pytest.approx(0.2103, abs=5e-5) == CHANCE
    for second in FIXED.values():
        laws = [together(response, second, bit) for bit in (0, 1)]
        assert delta_of(laws, EPSILON) == pytest.approx(CHANCE, abs=1e-12)
        # The other order is another mechanism with the same losses.
        swapped = [together(second(None), lambda _: response, bit) for bit in (0, 1)]
        assert delta_of(swapped, EPSILON) == pytest.approx(CHANCE, abs=1e-12)
    truth = delta_of((together(response, adaptive, bit) for bit in (0, 1)), EPSILON)
    assert truth == pytest.approx(0.2668, abs=5e-5)


def worst(first: Callable[[int], Law]) -> float:
    """Of all four ways to choose the second release by the first answer."""
    found = 0.0
    for zero, one in itertools.product((response, reveal), repeat=2):

        def chosen(answer: Any, zero: Any = zero, one: Any = one) -> Callable[[int], Law]:
            found: Callable[[int], Law] = one if answer == 1 else zero
            return found

        found = max(found, delta_of((together(first, chosen, bit) for bit in (0, 1)), EPSILON))
    return found


class Reveal(PrivacyProfile):
    """The profile of revealing with a chance: delta is the chance, whatever epsilon."""

    def log_deltas(self) -> tuple[LogDelta, LogDelta]:
        return (lambda epsilon: math.log(CHANCE),) * 2


def losses(law: Callable[[int], Law]) -> Any:
    """The privacy-loss distribution, by Google's library."""
    from dp_accounting.pld.privacy_loss_distribution import from_two_probability_mass_functions

    one, other = ({out: math.log(p) for out, p in law(bit).items()} for bit in (1, 0))
    return from_two_probability_mass_functions(one, other, value_discretization_interval=1e-4)


def test_adding_losses_would_accept_it() -> None:
    """What the ledger must not do: both fixed orders fit into (1.5, 0.2105), the adaptive truth does not."""
    for second in (response, reveal):
        assert losses(response).compose(losses(second)).get_delta_for_epsilon(EPSILON) <= 0.2105
    assert worst(response) > 0.2667


def test_basic_refuses(ledger: veil.Ledger) -> None:
    """(1, 0) and then (1, 0) or (0, 0.2103): the budget that PLDs would keep to holds neither's sum."""
    dataset = ledger.open("bit", epsilon=EPSILON, delta="0.2104")
    veil.release(ANSWER, [[True]], adjacency=NEAR, ledger=dataset)
    with pytest.raises(BudgetExceeded):
        veil.release(ANSWER, [[True]], adjacency=NEAR, ledger=dataset)
    # The other choice alone fits: then both answers lead to it or stop, which is no choice.
    dataset.reserve(epsilon=0.0, delta=CHANCE, description={"name": "reveal"})
    stopped = delta_of(
        (together(response, lambda a: (lambda _: {0: 1.0}) if a else reveal, bit) for bit in (0, 1)), EPSILON
    )
    assert stopped <= CHANCE
    # A budget with room for both choices covers the truth: (2, 0.2103) is what adding gives.
    assert delta_of((together(response, adaptive, bit) for bit in (0, 1)), 2.0) <= CHANCE


@MOSTLY_IN_A_FILE
@pytest.mark.parametrize("accounting", ["zcdp", "renyi"])
def test_filters_cover_every_choice(ledger: veil.Ledger, accounting: str) -> None:
    """The least delta at which the filter lets two responses through is above the adaptive truth."""
    low, high = 1e-9, 0.999
    for _ in range(40):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if _takes_two(accounting, middle) else (middle, high)
    assert high > worst(response)
    dataset = ledger.open("bit", epsilon=EPSILON, delta=0.2104, accounting=accounting, adjacency=NEAR)
    for _ in range(3):
        with suppress(BudgetExceeded):
            veil.release(ANSWER, [[True]], adjacency=NEAR, ledger=dataset)
    assert sum(entry.kind == "reserve" for entry in dataset.entries()) <= 1
    # The other choice has no finite divergence at all.
    with pytest.raises(veil.errors.VeilError):
        dataset.reserve_charge(Charge(0.0, CHANCE, {"name": "reveal"}, NEAR, (Reveal(),)))


def _takes_two(accounting: str, delta: float) -> bool:
    try:
        rule = Rule.of(accounting, Amount("1.5"), Amount(repr(delta)))
    except InvalidArgument:
        return False
    cost = rule.cost(Charge(1.0, 0.0, {"name": "x"}, NEAR, (ANSWER.profile(NEAR),)))
    return rule.fits({line: 2 * amount for line, amount in cost.items()})


def test_a_batch_is_no_choice(ledger: veil.Ledger) -> None:
    """Declared together, two responses may cost (1.5, 0.2104): but then nothing else can take their place."""
    dataset = ledger.open("bit", epsilon=EPSILON, delta="0.2104")
    batch = dataset.batch([ANSWER, ANSWER], adjacency=NEAR, delta=0.2104)
    assert batch.epsilon <= EPSILON
    veil.release(ANSWER, [[True]], adjacency=NEAR, ledger=batch)
    with pytest.raises(InvalidArgument, match="declared"):
        batch.reserve(epsilon=0.0, delta=CHANCE, description={"name": "reveal"})
    # Nor is there anything left for it outside.
    with pytest.raises(BudgetExceeded):
        dataset.reserve(epsilon=0.0, delta=CHANCE, description={"name": "reveal"})
    # Declared with all three, so that the choice is open, it costs all three.
    three = losses(response).compose(losses(response)).compose(losses(reveal))
    assert three.get_delta_for_epsilon(EPSILON) >= worst(response)
