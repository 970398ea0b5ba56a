"""A made-up network: 300 people of a small town in six clubs, and who is friends with whom.

People of one club are friends more often than others, a few have many friends, and friends of friends become
friends: so the network has communities, a long tail of degrees, and triangles. Only `random()` of Python's
generator is used, whose stream stays the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from random import Random

Friendship = tuple[str, str]
Pair = tuple[int, int]

PEOPLE = 300
CLUBS = {"chess": 75, "rowing": 65, "choir": 55, "garden": 45, "radio": 35, "hiking": 25}
# How many friends one has on average in the own club, and outside it, before friends of friends meet.
_INSIDE, _OUTSIDE = 6.5, 0.8
# Two people with a friend in common become friends as often, for each such friend; from another club less.
_MEET, _MEET_OUTSIDE = 0.09, 0.015
# How sociable people are: from quiet to well known, with a tail of this index.
_TAIL, _MOST_SOCIABLE = 2.2, 5.0


def clubs(*, seed: int = 1) -> dict[str, str]:
    """The people, p001 to p300, each with their club."""
    random = Random(f"clubs {seed}")
    places = [club for club, members in CLUBS.items() for _ in range(members)]
    shuffled = sorted(range(PEOPLE), key=lambda _: random.random())
    return {f"p{i + 1:03d}": places[shuffled[i]] for i in range(PEOPLE)}


def friends(*, seed: int = 1) -> list[Friendship]:
    """The friendships, each once, sorted. Everybody has one at least.

    >>> from veil.samples.friends import friends
    >>> network = friends()
    >>> len({person for pair in network for person in pair}), network[0]
    (300, ('p001', 'p018'))
    """
    club = clubs(seed=seed)
    people = list(club)
    random = Random(f"friends {seed}")
    warmth = _sociable(random)
    of = [club[person] for person in people]
    # A friendship is so likely that the people of each club, and all people, have as many as they should.
    inside = {
        name: _INSIDE * size / sum(warmth[i] for i in range(PEOPLE) if of[i] == name) ** 2
        for name, size in CLUBS.items()
    }
    outside = _OUTSIDE * PEOPLE / sum(warmth) ** 2
    pairs: set[Pair] = set()
    for i, j in combinations(range(PEOPLE), 2):
        scale = inside[of[i]] if of[i] == of[j] else outside
        if random.random() < min(0.9, scale * warmth[i] * warmth[j]):
            pairs.add((i, j))
    pairs |= _meetings(random, pairs, of)
    pairs |= _company(random, pairs, of)
    return [(people[i], people[j]) for i, j in sorted(pairs)]


def _sociable(random: Random) -> list[float]:
    """How sociable each person is, by a Pareto distribution that is cut off."""
    return [min((1.0 - random.random()) ** (-1.0 / _TAIL), _MOST_SOCIABLE) for _ in range(PEOPLE)]


def _neighbours(pairs: set[Pair]) -> list[set[int]]:
    near: list[set[int]] = [set() for _ in range(PEOPLE)]
    for i, j in pairs:
        near[i].add(j)
        near[j].add(i)
    return near


def _meetings(random: Random, pairs: set[Pair], club: Sequence[str]) -> set[Pair]:
    """The friendships of those who meet through a common friend."""
    near = _neighbours(pairs)
    met = set()
    for i, j in combinations(range(PEOPLE), 2):
        draw = random.random()
        chance = _MEET if club[i] == club[j] else _MEET_OUTSIDE
        if draw >= (1.0 - chance) ** len(near[i] & near[j]):
            met.add((i, j))
    return met - pairs


def _company(random: Random, pairs: set[Pair], club: Sequence[str]) -> set[Pair]:
    """A friend in the club for all who have none."""
    added = set()
    for i, near in enumerate(_neighbours(pairs)):
        if not near:
            others = [j for j in range(PEOPLE) if j != i and club[j] == club[i]]
            j = others[int(random.random() * len(others))]
            added.add((min(i, j), max(i, j)))
    return added
