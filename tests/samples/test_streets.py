"""The made-up town of 43 segments: the same everywhere, and drives that it allows."""

from __future__ import annotations

import csv
import zlib
from itertools import pairwise
from pathlib import Path

import pytest

import veil
from veil.samples.streets import drives, segments, streets, write_drives, write_streets
from veil.words.reading import read_words
from veil.words.supports import read_support

# Checksum of the thousand drives of the default seed.
DRIVES = 1188578881


def test_segments_are_one_block_long() -> None:
    places = segments()
    assert len(places) == 43
    assert len(set(places.values())) == 43
    for (x1, y1), (x2, y2) in places.values():
        assert abs(x1 - x2) + abs(y1 - y2) == 1.0
    assert all(name.isascii() and "," not in name and name == name.strip() for name in places)


def test_streets_go_both_ways_and_everywhere() -> None:
    roads, places = streets(), segments()
    assert list(roads) == list(places)
    assert sum(map(len, roads.values())) == 170
    for name, ends in roads.items():
        assert 3 <= len(ends) <= 5
        assert name not in ends
        assert len(set(ends)) == len(ends)
        assert all(name in roads[end] and set(places[name]) & set(places[end]) for end in ends)
    reached, seen = {"Ash 1st-2nd"}, set[str]()
    while reached - seen:
        seen |= reached
        reached = {end for name in reached for end in roads[name]} | seen
    assert seen == set(roads)


def test_callers_may_change_what_they_get() -> None:
    streets().clear()
    segments().clear()
    assert len(streets()) == len(segments()) == 43


def test_drives_are_feasible_and_repeat() -> None:
    roads = streets()
    found = drives(300)
    assert found == drives(300) != drives(300, seed=2)
    assert found[:10] == drives(10)
    assert {len(drive) for drive in found} == set(range(6, 21))
    for drive in found:
        assert all(b in roads[a] for a, b in pairwise(drive))
    assert set().union(*found) == set(roads)
    for drive in found[:20]:
        assert drive in veil.words.ChainWords(roads, len(drive))


def test_drives_go_on_rather_than_back() -> None:
    """A random walk over the streets goes straight back in about a quarter of its steps."""
    back = [a == c for drive in drives(300) for a, c in zip(drive, drive[2:], strict=False)]
    walks = veil.words.ChainWords(streets(), 14).walks(300, rng=1)
    random = [a == c for walk in walks for a, c in zip(walk, walk[2:], strict=False)]
    assert sum(back) / len(back) < 0.01
    assert sum(random) / len(random) > 0.2


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    log, roads = tmp_path / "drives.csv", tmp_path / "streets.csv"
    write_drives(log)
    write_streets(roads)
    return log, roads


def test_files_hold_the_same(files: tuple[Path, Path]) -> None:
    log, roads = files
    labels, successors = read_support(roads)
    found = {name: {labels[end] for end in ends} for name, ends in zip(labels, successors, strict=True)}
    assert found == {name: set(ends) for name, ends in streets().items()}
    held = read_words(str(log), by="driver", order="minute", state="segment", states=list(streets()))
    assert len(held) == 1000
    assert sorted(held.to_lists()) == sorted(drives(1000))


def test_the_same_drives_everywhere(files: tuple[Path, Path]) -> None:
    text = files[0].read_bytes()
    assert b"\r" not in text
    assert zlib.crc32(text) == DRIVES
    with files[0].open(encoding="utf-8", newline="") as lines:
        assert next(csv.reader(lines)) == ["driver", "minute", "segment"]


def test_few_drives(tmp_path: Path) -> None:
    write_drives(tmp_path / "few.csv", count=2, seed=7)
    held = read_words(str(tmp_path / "few.csv"), by="driver", order="minute", state="segment")
    assert held.to_lists() == drives(2, seed=7)
