"""Views of a release: what is searched, put in order and left out, and that labels stay text."""

from __future__ import annotations

import numpy as np
import pytest

from veil.report.views import Bars, Flows, HeatMap, Lines, Look, Network, Routes, View
from veil.report.views.heat_map import ALIKE
from veil.report.views.links import Links
from veil.report.views.view import FEW, LARGEST, LISTED, NAMED

HOSTILE = "<script>alert('x')</script>\"&"
LABELS = ["home", HOSTILE, "work", "zoo"]
TABLE = np.array([[0.1, 0.2, 0.7, 0.0], [0.5, 0.0, 0.5, 0.0], [0.3, 0.3, 0.2, 0.2], [0.0, 0.0, 1.0, 0.0]])
LINKS = Links.of_table(LABELS, TABLE)
VIEWS: tuple[View, ...] = (
    Bars(
        "Shares",
        LABELS,
        np.array([0.1, 0.4, 0.3, 0.2]),
        np.array([[0.0, 0.2], [0.3, 0.5], [0.2, 0.4], [0.1, 0.3]]),
    ),
    HeatMap("Next", LABELS, LABELS, TABLE),
    HeatMap("Rows", LABELS, ["a", HOSTILE], TABLE[:, :2]),
    Flows("Flows", LINKS),
    Network("Network", LINKS),
    Routes.counted("Routes", [LABELS, LABELS, ["home", "zoo"]]),
    Lines("Table", ["label", HOSTILE], [[label, 0.25] for label in LABELS]),
)


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.title)
def test_labels_stay_text_and_nothing_runs(view: View) -> None:
    for order in (*view.orders, "no such order"):
        for search in ("", "o", HOSTILE):
            drawn = view.draw(Look(search, order))
            assert "<script" not in drawn
            assert " style=" not in drawn
            assert "onclick" not in drawn
            assert view.order(Look(search, order)) in view.orders
    assert "&lt;script" in view.draw(Look())
    assert "Nothing here is called “nowhere”" in view.draw(Look("nowhere"))


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.title)
def test_a_search_leaves_out_what_it_does_not_find(view: View) -> None:
    assert "zoo" in view.draw(Look())
    assert "home" in view.draw(Look("HOME"))


def _after_each_other(drawn: str, *words: str) -> bool:
    places = [drawn.index(f">{word}<") for word in words]
    return places == sorted(places)


def test_bars_in_every_order() -> None:
    bars = Bars("Shares", ["b", "a", "c"], np.array([0.2, 0.3, 0.5]))
    assert _after_each_other(bars.draw(Look(order=LARGEST)), "c", "a", "b")
    assert _after_each_other(bars.draw(Look(order=LISTED)), "b", "a", "c")
    assert _after_each_other(bars.draw(Look(order=NAMED)), "a", "b", "c")


def test_a_heat_map_puts_alike_rows_beside_each_other() -> None:
    """Two kinds of rows that are mixed: found apart, whatever their order."""
    table = np.array([[0.9, 0.1, 0.0], [0.0, 0.1, 0.9], [0.88, 0.12, 0.0], [0.0, 0.12, 0.88]])
    heat = HeatMap("Rows", ["one", "two", "three", "four"], ["x", "y", "z"], table)
    drawn = heat.draw(Look(order=ALIKE))
    order = sorted(["one", "two", "three", "four"], key=lambda label: drawn.index(f">{label}<"))
    assert {*order[:2]} in ({"one", "three"}, {"two", "four"})
    # A cell tells its value, and a row its name.
    assert 'data-said="x: 0.9"' in drawn
    assert 'data-row="one"' in drawn


def test_what_is_left_out_is_said() -> None:
    many = [f"place {number}" for number in range(100)]
    table = np.random.default_rng(5).dirichlet(np.ones(100), size=100)
    for view in (HeatMap("Next", many, many, table), Bars("Shares", many, table[0])):
        assert f"{FEW} of 100" in view.draw(Look(most=FEW))
    assert "Nothing" not in Network("Net", Links.of_table(many, table)).draw(Look("place 99", most=FEW))


def test_strongest_links_first_and_none_to_itself() -> None:
    found = LINKS.strongest(Look())
    weights = [weight for *_, weight in found]
    assert weights == sorted(weights, reverse=True)
    assert found[0] == (3, 2, 1.0)
    assert all(first != second for first, second, _ in found)
    assert {first for first, second, _ in LINKS.strongest(Look("zoo"))} <= {2, 3}
    assert Links.of_table(["a"], np.array([[1.0]])).strongest(Look()) == []


def test_routes_are_counted() -> None:
    routes = Routes.counted("Routes", [["a", "b"], ["c"], ["a", "b"]])
    assert routes.routes == ((("a", "b"), 2), (("c",), 1))
    assert "2 ×" in routes.draw(Look())
    assert "<mark>a</mark>" in routes.draw(Look("a"))
