"""The made-up network of friends: the same everywhere, and like a network of friends."""

from __future__ import annotations

import zlib
from collections import Counter
from itertools import combinations

import pytest

from veil.graphs.verbs import read
from veil.samples import path
from veil.samples.friends import CLUBS, PEOPLE, Friendship, clubs, friends

# Checksum of the file of the default seed.
FRIENDS = 1878575013


def neighbours(network: list[Friendship]) -> dict[str, set[str]]:
    near: dict[str, set[str]] = {}
    for one, other in network:
        near.setdefault(one, set()).add(other)
        near.setdefault(other, set()).add(one)
    return near


def test_everybody_is_in_a_club() -> None:
    members = clubs()
    assert list(members) == [f"p{i:03d}" for i in range(1, PEOPLE + 1)]
    assert Counter(members.values()) == Counter(CLUBS)
    # The numbers of people do not tell their clubs.
    assert len({members[f"p{i:03d}"] for i in range(1, 31)}) > 3


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_it_is_like_a_network_of_friends(seed: int) -> None:
    network, club = friends(seed=seed), clubs(seed=seed)
    assert network == sorted(set(network))
    assert all(one < other for one, other in network)
    near = neighbours(network)
    assert set(near) == set(club)
    assert 1300 < len(network) < 1900
    degrees = sorted(map(len, near.values()))
    assert degrees[0] >= 1
    assert degrees[-1] > 2.5 * degrees[PEOPLE // 2]
    inside = sum(club[one] == club[other] for one, other in network)
    assert 0.8 < inside / len(network) < 0.97
    # Two friends of one person are friends: about 3 in 100 would be by chance alone.
    pairs = [pair for ones in near.values() for pair in combinations(sorted(ones), 2)]
    closed = sum(other in near[one] for one, other in pairs)
    assert closed / len(pairs) > 0.2
    reached, seen = {network[0][0]}, set[str]()
    while reached - seen:
        seen |= reached
        reached = {friend for person in reached for friend in near[person]}
    assert len(seen) == PEOPLE


def test_seeds_differ_and_repeat() -> None:
    assert friends() == friends(seed=1) != friends(seed=2)
    friends().clear()
    assert friends()


def test_the_same_file_everywhere() -> None:
    head = "# A made-up network: who is friends with whom among 300 people.\n# Made by veil.samples.friends\n"
    text = (head + "".join(f"{one} {other}\n" for one, other in friends())).encode()
    assert text == path("friends.txt").read_bytes()
    assert b"\r" not in text
    assert zlib.crc32(text) == FRIENDS


def test_the_file_holds_the_network() -> None:
    graph = read(path("friends.txt"))
    rows, columns = graph.space.ends(graph.codes)
    found = [(graph.labels[i], graph.labels[j]) for i, j in zip(rows.tolist(), columns.tolist(), strict=True)]
    assert graph.labels == tuple(clubs())
    assert found == friends()
    assert graph.repeated == 0
