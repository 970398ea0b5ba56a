"""Budgets, told and drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import veil
from veil.cli.ledger_output import budget_figure, print_dataset, print_datasets, save_budget
from veil.ledger.dataset import Dataset
from veil.ledger.history import BudgetHistory


@pytest.fixture
def ledger(tmp_path: Path) -> veil.Ledger:
    return veil.Ledger(tmp_path / "budget.db")


def _charge(dataset: Dataset, epsilon: float, *, confirm: bool = True) -> None:
    entry = dataset.reserve(epsilon=epsilon, description={"name": "Example"})
    if confirm:
        dataset.confirm(entry)


def test_the_history_says_what_became_of_charges(ledger: veil.Ledger) -> None:
    trips = ledger.open("trips", epsilon=1, why="a pilot")
    _charge(trips, 0.25)
    _charge(trips, 0.5, confirm=False)
    trips.raise_budget(epsilon=2, why="the board")
    history = BudgetHistory.of(trips)
    assert [moment.state for moment in history.moments if moment.entry.kind == "reserve"] == [
        "released",
        "charged, no result",
    ]
    assert (history.charges, history.now.used, history.line) == (2, 0.375, "epsilon")
    assert history.to_dict(entries=False)["remaining"]["epsilon"] == "1.25"


def test_the_picture_has_steps_up_to_the_budget(ledger: veil.Ledger) -> None:
    trips = ledger.open("trips", epsilon=1)
    for _ in range(4):
        _charge(trips, 0.25)
    figure = budget_figure(BudgetHistory.of(trips))
    limits, spent, *_ = figure.axes[0].get_lines()
    assert np.asarray(spent.get_ydata()).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0, 1.0]  # up to now
    assert np.unique(np.asarray(limits.get_ydata())).tolist() == [1.0]
    assert figure.axes[0].get_ylabel() == "ε (epsilon)"


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".svg", ".png", ".pdf"])
def test_pictures_are_saved_by_their_ending(ledger: veil.Ledger, tmp_path: Path, ending: str) -> None:
    trips = ledger.open("trips", epsilon=1)
    trips.close(why="the end")
    target = tmp_path / f"budget{ending}"
    save_budget(BudgetHistory.of(trips), target, overwrite=False)
    start = target.read_bytes()[:8]
    assert start.startswith({".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF"}[ending])
    with pytest.raises(veil.errors.OutputExists):
        save_budget(BudgetHistory.of(trips), target, overwrite=False)


def test_a_filter_shows_its_own_measure(ledger: veil.Ledger, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("zcdp", "renyi"):
        dataset = ledger.open(name, epsilon=1, delta=1e-6, accounting=name)
        veil.release(
            veil.vectors.GeometricCounts(50.0, 3), [5, 2, 9], adjacency=veil.vectors.Records(), ledger=dataset
        )
        history = BudgetHistory.of(dataset)
        assert history.line == "rho" if name == "zcdp" else history.line.startswith("order ")
        budget_figure(history)
        print_dataset(history, last=5)
    print_datasets([BudgetHistory.of(ledger.dataset(name)) for name in ledger.datasets()], "budget.db")
    shown = capsys.readouterr().out
    assert "zcdp filter: rho = " in shown
    assert "GeometricCounts" in shown


def test_an_empty_ledger_says_how_to_begin(capsys: pytest.CaptureFixture[str]) -> None:
    print_datasets([], "budget.db")
    assert "veil ledger open budget.db NAME --epsilon 1" in capsys.readouterr().out


def test_batches_parts_and_seeds_show(ledger: veil.Ledger) -> None:
    noise, near = veil.vectors.GeometricCounts(10.0, 3), veil.vectors.Records()
    dataset = ledger.open("d", epsilon=3, delta=1e-5, adjacency=near, parts=["n", "s"])
    batch = dataset.batch([noise, noise], delta=1e-6)
    veil.release(noise, [1, 2, 3], adjacency=near, ledger=batch, rng=1)
    veil.release(noise, [1, 2, 3], adjacency=near, ledger=dataset.part("n"))
    told = {(moment.what, moment.state) for moment in BudgetHistory.of(dataset).moments}
    assert ("batch of 2", "released") in told
    assert ("GeometricCounts", "released from a seed") in told
    assert ("GeometricCounts on n", "released") in told
