"""kill -9 at random moments of a release: never a value without its charge, and the ledger holds."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import veil
from tests.ledger.places import Place, release
from tests.ledger.workers import killed, pay_later, release_for_ever

# Few enough that budgets run out again and again while processes are being killed.
CHARGES = 40


def charges(place: Place) -> dict[tuple[str, int], str]:
    """Every reservation of the ledger, with its hash."""
    ledger = place.ledger()
    return {
        (name, entry.number): entry.sha256
        for name in ledger.datasets()
        for entry in ledger.dataset(name).entries()
        if entry.kind == "reserve"
    }


def unpaid(place: Place, folder: Path) -> list[str]:
    """Values that were written, whole or in part, for which nothing was charged."""
    paid = charges(place)
    found = []
    for file in folder.iterdir():
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
        except ValueError:
            # Half a file has another name than a whole one.
            assert file.suffix != ".json", file
            continue
        entry = veil.load(file).entry if file.suffix == ".json" else None
        key = (content["entry"]["dataset"], content["entry"]["number"])
        if key not in paid or (entry is not None and entry.sha256 not in ("", paid[key])):
            found.append(file.name)
    return found


def shoot(
    place: Place, folder: Path, kills: int, *, work: Callable[..., None] = release_for_ever, at_once: int = 4
) -> int:
    """Kill so many processes in the middle of their work; how many values got out."""
    moments = random.Random(2026)
    folder.mkdir()
    ledger = place.ledger()
    done = number = 0
    dataset = ledger.open("0", epsilon=CHARGES // 10)
    with ThreadPoolExecutor(at_once) as pool:
        while done < kills:
            if dataset.remaining.epsilon == 0:
                number += 1
                dataset = ledger.open(str(number), epsilon=CHARGES // 10)
            count = min(at_once, kills - done)
            delays = [moments.uniform(0.0, 0.25) for _ in range(count)]
            to = (place.url, dataset.name, str(folder))
            list(pool.map(killed, [work] * count, [to] * count, delays))
            done += count
            assert place.ledger().verify()
    return len(list(folder.glob("*.json")))


def check(place: Place, folder: Path, kills: int) -> None:
    release(place.ledger().open("warm", epsilon=1))
    written = shoot(place, folder, kills)
    assert written >= kills / 10
    assert unpaid(place, folder) == []
    ledger = place.ledger()
    for name in ledger.verify():
        dataset = ledger.dataset(name)
        spent, budget = dataset.spent.epsilon, dataset.budget.epsilon
        assert spent is not None
        assert spent <= budget
        # Every charge is a tenth: none was lost, none was half written.
        assert spent * 10 == sum(entry.kind == "reserve" for entry in dataset.entries())
    # It goes on.
    release(ledger.open("after", epsilon=1))
    print(f"{place.kind}: {kills} kills, {written} values, {len(charges(place))} charges")


def test_some_kills(place: Place, folder: Path) -> None:
    check(place, folder / "values", 24)


@pytest.mark.slow
def test_many_kills(place: Place, folder: Path) -> None:
    check(place, folder / "values", 500)


def test_that_it_would_show(place: Place, folder: Path) -> None:
    """The same shots at a release that is paid for after it was written: found."""
    release(place.ledger().open("warm", epsilon=1))
    shoot(place, folder / "values", 12, work=pay_later, at_once=1)
    assert unpaid(place, folder / "values")
