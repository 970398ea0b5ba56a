"""A made-up institute: who writes to whom in 42 departments, as large as the Email network.

People differ in how much they write, and many messages stay in the department. Everybody is joined to
everybody else by some path. Only `random()` of Python's generator is used, whose stream stays the same.
"""

from __future__ import annotations

from bisect import bisect
from itertools import accumulate
from random import Random

PEOPLE, DEPARTMENTS, PAIRS = 986, 42, 16_064
# The k-th department has a size in proportion to 1 / (k + _FLAT).
_FLAT = 4.0
# How often one writes within the department, and how much people write: a tail of this index, cut off.
_INSIDE = 0.45
_TAIL, _MOST = 1.3, 25.0

Pair = tuple[int, int]


def departments(*, seed: int = 1) -> list[int]:
    """The department of every person, from 0 to 41; none is empty."""
    random = Random(f"departments {seed}")
    shares = list(accumulate(1.0 / (k + _FLAT) for k in range(DEPARTMENTS)))
    first = list(range(DEPARTMENTS))
    rest = [bisect(shares, random.random() * shares[-1]) for _ in range(PEOPLE - DEPARTMENTS)]
    return first + rest


def messages(*, seed: int = 1) -> list[Pair]:
    """The pairs of people who write to each other, each once, sorted."""
    random = Random(f"messages {seed}")
    of = departments(seed=seed)
    warmth = [min(_MOST, (1.0 - random.random()) ** (-1.0 / _TAIL)) for _ in range(PEOPLE)]
    # A tree first, so that all are joined.
    pairs = {(_drawn(random, list(range(person)), warmth), person) for person in range(1, PEOPLE)}
    members = [[i for i in range(PEOPLE) if of[i] == name] for name in range(DEPARTMENTS)]
    groups = [(group, list(accumulate(warmth[i] for i in group))) for group in members]
    everybody = (list(range(PEOPLE)), list(accumulate(warmth)))
    while len(pairs) < PAIRS:
        writer = _picked(random, *everybody)
        reader = _picked(random, *(groups[of[writer]] if random.random() < _INSIDE else everybody))
        if writer != reader:
            pairs.add((min(writer, reader), max(writer, reader)))
    return sorted(pairs)


def _drawn(random: Random, people: list[int], warmth: list[float]) -> int:
    return _picked(random, people, list(accumulate(warmth[i] for i in people)))


def _picked(random: Random, people: list[int], sums: list[float]) -> int:
    return people[min(bisect(sums, random.random() * sums[-1]), len(people) - 1)]
