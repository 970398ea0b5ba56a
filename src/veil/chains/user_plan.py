"""How much of each user is counted, chosen from public numbers alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from veil.chains.numerics.backoff import planned_second_cap
from veil.chains.numerics.strata import Strata, guessed_lengths, planned_shares, planned_strata
from veil.core.checks import integer, positive
from veil.core.errors import InvalidArgument

# Where nobody says how many users there are, or how long their sequences: a guess, and the plan says so.
ASSUMED_USERS = 100_000
ASSUMED_LENGTH = 5.0


@dataclass(frozen=True, slots=True)
class UserPlan:
    """Strata of users by the length of their sequences, each with a cap; and the cap of second-order counts.

    strata: (least number of states, most transitions counted of one user), by rising length.
    """

    strata: Strata
    second_cap: int | None

    @property
    def cap(self) -> int:
        """The most transitions counted of any user."""
        return max(cap for _, cap in self.strata)

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of `read` that count so."""
        second = (
            {} if self.second_cap is None else {"second_cap": min(self.second_cap, self.cap), "memory": 2}
        )
        # One stratum is everybody: a plain cap will do, and no lengths have to weigh it.
        whole = {"strata": self.strata} if len(self.strata) > 1 else {"cap": self.cap}
        return {**whole, "sequences": True, **second}

    @property
    def words(self) -> str:
        """The plan in one line."""
        parts = [f"{cap} of those with {least} states or more" for least, cap in self.strata]
        return "of each user at most " + ", ".join(parts)


# More than there are people, and than anybody does.
_MOST = 10**12


def plan_users(
    states: int,
    *,
    epsilon: float,
    users: int | None = None,
    mean_length: float | None = None,
    cap: int | None = None,
    memory: int = 1,
) -> UserPlan:
    """Strata and caps for a release that hides whole users.

    users, mean_length: about how many there are and how many states a sequence has, as far as that is
    public. cap: no stratum counts more than this.

    >>> from veil import chains
    >>> chains.plan_users(17, users=1_000_000, epsilon=1.0).strata
    ((2, 2), (4, 6), (8, 14), (16, 27), (32, 47), (64, 65), (128, 119))
    """
    states, memory = integer("states", states, least=2, most=_MOST), integer("memory", memory, least=1)
    if memory > 2:
        raise InvalidArgument("memory", expected="1 or 2", found=str(memory))
    number = ASSUMED_USERS if users is None else integer("users", users, least=1, most=_MOST)
    length = (
        ASSUMED_LENGTH if mean_length is None else positive("mean_length", mean_length, least=1.0, most=1e9)
    )
    most = None if cap is None else integer("cap", cap, least=1, most=_MOST)
    share = planned_shares(second=memory == 2).transitions * positive("epsilon", epsilon)
    strata = planned_strata(states, number, share, mean_length=length, cap=most)
    second = planned_second_cap(guessed_lengths(number, length)) if memory == 2 else None
    return UserPlan(strata, second)
