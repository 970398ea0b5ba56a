"""Attempts to spend more than a budget, to be charged less than is revealed, or to read a ledger two ways."""

from __future__ import annotations

import copy
import decimal
import itertools
import math
import os
import pickle
import unicodedata
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf
from sqlalchemy import text

import veil
from tests.ledger.places import (
    COUNTS,
    NEAR,
    NOISE,
    Elsewhere,
    Place,
    new_database,
    new_file,
    new_schema,
    release,
)
from tests.tables.servers import Server
from veil.bits.mechanisms.staircase_xor import LazyResponse
from veil.chains.mechanisms.private_chain import Part, PrivateChain
from veil.chains.transition_counts import TransitionCounts
from veil.core.job import cost
from veil.core.numerics.staircase import staircase
from veil.core.privacy.pairs import (
    DiscreteGaussianShift,
    GammaPair,
    NormalPair,
    RandomizedResponses,
    SymmetricBetaPair,
)
from veil.core.privacy.profile import NothingRevealed, PrivacyProfile
from veil.core.privacy.renyi import RenyiProfile, divergence_within, rho_within
from veil.errors import BudgetExceeded, InvalidArgument, LedgerCorrupt, VeilError
from veil.graphs.mechanisms.private_graph import PrivateGraph
from veil.ledger.accounting import Rule, _divergence
from veil.ledger.amounts import Amount, charged
from veil.ledger.verification import check_charged
from veil.matrices.row_profiles import WorstOf

REPLACE = veil.vectors.Records("replace")
ROADS = {"a": ["b", "c"], "b": ["a"], "c": ["a", "c"]}


@pytest.fixture
def file(folder: Path) -> Place:
    return new_file(folder)


def exact(amount: Amount | None) -> Fraction:
    assert amount is not None
    return Fraction(str(amount))


# Who is a neighbour, and what that costs


def test_a_batch_of_users_with_a_smaller_cap(file: Place) -> None:
    """The cap says nothing of who is a neighbour, and all of what a release reveals."""
    dataset = file.ledger().open("trips", epsilon=10, adjacency=veil.chains.Transitions("user", cap=1))
    chain = PrivateChain(2, [Part("transitions", veil.vectors.GeometricCounts(10.0, 4), shape=(2, 2))])
    batch = dataset.batch([chain])
    counts = TransitionCounts(np.array([[3, 4], [5, 6]]), cap=50)
    near = veil.chains.Transitions("user", cap=50)
    try:
        out = veil.release(chain, counts, adjacency=near, ledger=batch)
    except InvalidArgument:
        return
    assert Fraction(out.epsilon) <= exact(dataset.spent.epsilon)


def _loss_of_replacing_within_a_part(scale: float) -> Fraction:
    """Noise on each of two counts, one record goes from the first to the second: exactly."""
    return 2 / Fraction(scale)


@pytest.mark.parametrize("charges", [["north"], ["north", "north"], ["north", "south", "north"]])
def test_a_replacement_within_a_part(file: Place, charges: list[str]) -> None:
    """The dataset's neighbours replace a record. The new one need not be in another part."""
    dataset = file.ledger().open("t", epsilon=99, adjacency=REPLACE, parts=["north", "south"], moves=True)
    noise = veil.vectors.GeometricCounts(2.0, 2)
    for part in charges:
        veil.release(noise, [3, 4], adjacency=NEAR, ledger=dataset.part(part))
    lost = charges.count("north") * _loss_of_replacing_within_a_part(2.0)
    assert exact(dataset.spent.epsilon) >= lost


def test_two_records_of_a_part_under_gaussian_noise(file: Place) -> None:
    ledger = file.ledger()
    noise = veil.vectors.DiscreteGaussianCounts(3.0, 2)
    near: dict[str, Any] = {"adjacency": REPLACE, "parts": ["north", "south"], "moves": True}
    zcdp = ledger.open("zcdp", epsilon=5, delta=1e-3, accounting="zcdp", **near)
    veil.release(noise, [3, 4], adjacency=NEAR, delta=1e-6, ledger=zcdp.part("north"))
    assert exact(zcdp.spent.lines["rho"]) >= Fraction(noise.profile(REPLACE).zcdp())
    basic = ledger.open("basic", epsilon=50, delta=1e-3, **near)
    out = veil.release(noise, [3, 4], adjacency=NEAR, delta=1e-9, ledger=basic.part("north"))
    spent = basic.spent
    # What follows from (epsilon, delta) alone: another mechanism that has them may reveal so much.
    assert exact(spent.epsilon) >= 2 * Fraction(out.epsilon)
    assert float(exact(spent.delta)) >= out.delta * (1 + math.exp(out.epsilon)) * (1 - 1e-12)


def test_moves_without_neighbours(file: Place) -> None:
    """Where releases say themselves what they hide, one that hides replacements is blind to a mover."""
    with pytest.raises(InvalidArgument, match="moves"):
        file.ledger().open("trips", epsilon=1, parts=["north", "south"], moves=True)


def test_a_plain_reservation_from_a_part(file: Place) -> None:
    dataset = file.ledger().open("t", epsilon=9, adjacency=REPLACE, parts=["north", "south"], moves=True)
    dataset.part("north").reserve(epsilon=1, description={"name": "mine"})


def test_a_refused_part_leaves_no_trace(file: Place) -> None:
    dataset = file.ledger().open("trips", epsilon=1, parts=["north", "south"])
    part = dataset.part("north")
    dataset.close(why="over")
    with pytest.raises(InvalidArgument, match="closed"):
        release(part)
    with pytest.raises(InvalidArgument, match="closed"):
        release(dataset.part("south"))
    assert [entry.kind for entry in dataset.entries()] == ["open", "close"]


# Divergences


def _true_conversion(epsilon: float, delta: float, order: float, divergence: float) -> bool:
    a, r = mpf(order), mpf(divergence)
    return bool((a - 1) * (r - mpf(epsilon)) + a * mp.log(1 - 1 / a) - mp.log(a - 1) <= mp.log(mpf(delta)))


@pytest.mark.slow
def test_conversions_at_high_precision() -> None:
    random = np.random.default_rng(7)
    with mp.workdps(60):
        for _ in range(400):
            epsilon, delta = 10 ** random.uniform(-6, 4), 10 ** random.uniform(-300, -0.001)
            order = 1 + 10 ** random.uniform(-8, 7)
            room = divergence_within(epsilon, delta, order)
            assert room == 0.0 or _true_conversion(epsilon, delta, order, room)
        for _ in range(5):
            epsilon, delta = 10 ** random.uniform(-3, 2), 10 ** random.uniform(-100, -2)
            assert 0.0 < rho_within(epsilon, delta) <= _best_rho(epsilon, delta)


def _best_rho(epsilon: float, delta: float) -> Any:
    """Looked for anew: what one order gives is a lower bound of the best."""

    def rho(above: Any) -> Any:
        a = 1 + mp.exp(above)
        return (mpf(epsilon) + (mp.log(mpf(delta)) + above - a * mp.log(1 - 1 / a)) / (a - 1)) / a

    middle, width = mpf(4), mpf(12)
    while width > mpf(10) ** -12:
        middle = max((middle + width * step / 20 for step in range(-20, 21)), key=rho)
        width /= 5
    return rho(middle)


def _response(each: float, times: int, order: float) -> Any:
    e, a = mpf(each), mpf(order)
    return times * mp.log(mp.cosh((a - mpf(1) / 2) * e) / mp.cosh(e / 2)) / (a - 1)


def _gamma(shape: float, step: float, order: float) -> Any:
    x, s, a = mpf(shape), mpf(step), mpf(order)
    grown = mp.loggamma(x + s) - mp.loggamma(x)
    more = mp.loggamma(x + a * s) - mp.loggamma(x) - a * grown
    less = mp.loggamma(x - (a - 1) * s) - mp.loggamma(x + s) + a * grown
    return max(more, less) / (a - 1)


def _beta(shape: float, step: float, order: float) -> Any:
    x, s, a = mpf(shape), mpf(step), mpf(order)
    logs = [mp.loggamma(y) for y in (x + a * s, x + s - a * s, x, x + s)]
    return (logs[0] + logs[1] - logs[2] - logs[3]) / (a - 1)


def _lazy(each: float, chance: float, order: float) -> Any:
    e, c, a = mpf(each), mpf(chance), mpf(order)
    up = (a - 1) * e
    return mp.log(1 + c * mp.expm1(up) + c * mp.exp(-e) * mp.expm1(-up)) / (a - 1)


def _discrete_gaussian(sigma: float, cells: int, order: float) -> Any:
    a, v = mpf(order), 2 * mpf(sigma) ** 2
    whole = range(-int(40 * sigma * order) - 60, int(40 * sigma * order) + 60)
    total = mp.fsum(mp.exp(-mpf(z * z) / v) for z in whole)
    moment = mp.fsum(mp.exp(-(a * (z - 1) ** 2 + (1 - a) * z * z) / v) for z in whole)
    return cells * mp.log(moment / total) / (a - 1)


USUAL = (1.01, 1.5, 2.0, 4.0, 16.0, 128.0)


def _cases() -> list[tuple[PrivacyProfile, float, Any]]:
    found: list[tuple[PrivacyProfile, float, Any]] = []
    for order in USUAL:
        for each, times in itertools.product((1e-6, 1e-3, 0.1, 1.0, 30.0, 900.0), (1, 7)):
            found.append((RandomizedResponses(each, times), order, _response(each, times, order)))
        for each, chance in itertools.product((1e-3, 0.5, 5.0), (1e-9, 0.01, 0.4)):
            found.append((LazyResponse(each, chance), order, _lazy(each, chance, order)))
        for shape, step in itertools.product((0.1, 7.3, 1e3, 1e6), (1e-4, 0.5, 3.0)):
            if shape > (order - 1.0) * step:
                found.append((GammaPair(shape, step), order, _gamma(shape, step, order)))
                found.append((SymmetricBetaPair(shape, step), order, _beta(shape, step, order)))
    return found


def test_no_divergence_is_charged_below_the_truth() -> None:
    with mp.workdps(60):
        for profile, order, truth in _cases():
            assert mpf(_divergence(profile, order)) >= truth, (profile, order)


@pytest.mark.parametrize(
    ("profile", "order", "truth"),
    [
        (RandomizedResponses(1e-6, 10**6), 1.5, lambda: _response(1e-6, 10**6, 1.5)),
        (RandomizedResponses(1e-3, 10**6), 1.01, lambda: _response(1e-3, 10**6, 1.01)),
        (GammaPair(1e6, 50.0), 1.0001, lambda: _gamma(1e6, 50.0, 1.0001)),
    ],
    ids=["many small responses", "many responses", "gamma near 1"],
)
def test_divergences_that_cancel(profile: PrivacyProfile, order: float, truth: Any) -> None:
    with mp.workdps(60):
        assert mpf(_divergence(profile, order)) >= truth()


@pytest.mark.slow
def test_no_rho_is_below_the_truth() -> None:
    """D_a <= rho a at every order, near 1 and far from it."""
    with mp.workdps(50):
        for order in (1.001, 1.5, 2.0, 7.0, 40.0, 500.0):
            for each, times in itertools.product((1e-4, 0.3, 2.0, 20.0), (1, 5)):
                rho = RandomizedResponses(each, times).zcdp()
                assert mpf(rho) * mpf(order) >= _response(each, times, order)
                assert mpf(LazyResponse(each, 0.2).zcdp()) * mpf(order) >= _lazy(each, 0.2, order)
            shift = NormalPair(0.7)
            assert mpf(shift.zcdp()) >= mpf(0.7) ** 2 / 2
        for sigma, cells, order in itertools.product((0.2, 0.5, 1.0, 3.0), (1, 2), (1.01, 2.0, 9.0)):
            rho = DiscreteGaussianShift(sigma, cells).zcdp()
            assert mpf(rho) * mpf(order) * (1 + mpf(10) ** -40) >= _discrete_gaussian(sigma, cells, order)


def test_rho_of_several() -> None:
    small = RenyiProfile(lambda orders: 0.1 * orders, 0.1)
    large = RenyiProfile(lambda orders: 0.2 * orders, 0.2)
    parts = [(small, 3), (large, 1)]
    assert Fraction(RenyiProfile.together(parts).zcdp()) >= 3 * Fraction(0.1) + Fraction(0.2)
    mixed = RandomizedResponses(0.1).compose(NormalPair(0.3)).compose(LazyResponse(0.2, 0.5))
    each = (RandomizedResponses(0.1), NormalPair(0.3), LazyResponse(0.2, 0.5))
    assert Fraction(mixed.zcdp()) >= sum(Fraction(one.zcdp()) for one in each)
    assert WorstOf(each).zcdp() == max(one.zcdp() for one in each)
    assert NothingRevealed().zcdp() == 0.0
    unknown = RenyiProfile.together([*parts, (RenyiProfile(lambda orders: orders**2), 1)])
    with pytest.raises(VeilError, match="zCDP"):
        unknown.zcdp()


# Amounts

NUMBERS: list[Any] = [0.1, 0.3, 1.1, 2.675, 1 / 3, 5, np.float64(0.7), 1e-300, 123456.789]


@pytest.mark.parametrize("number", NUMBERS)
def test_amounts_are_in_order(number: Any) -> None:
    amount = Amount(repr(float(number)))
    assert amount == number
    assert amount <= number
    assert amount >= number
    assert not amount > number
    assert not amount < number
    assert number <= amount
    assert number >= amount
    # One that floats round down, so that the order is tested on both sides.
    assert Amount("0.3") <= 0.3


def test_amounts_do_not_depend_on_the_context() -> None:
    with decimal.localcontext(decimal.Context(prec=1, rounding=decimal.ROUND_DOWN, Emax=2, Emin=-2)):
        assert str(Amount("0.123456789") + Amount("1000.000000001")) == "1000.12345679"
        assert Amount("0.19") < Amount("0.191")
        assert Amount("0.19") != Amount("0.191")
        assert charged("epsilon", 1 / 3) >= whole(1 / 3)
    assert hash(Amount("0.10")) == hash(Amount("0.1")) == hash(0.1)


def whole(value: float) -> Amount:
    """All digits of a float."""
    return Amount(decimal.Decimal(value))


def test_texts_that_are_no_amounts(file: Place) -> None:
    ledger = file.ledger()
    for written in (
        "NaN",
        "-NaN",
        "sNaN",
        "inf",
        "-1",
        "-1e-9",
        "0x1",
        "",
        "1e401",
        "1e-401",
        "1,5",
        "9" * 401,
    ):
        with pytest.raises(InvalidArgument, match="epsilon"):
            ledger.open("trips", epsilon=written)
    for odd in (True, 1j, b"1", None, np.nan, np.inf, Fraction(1, 3), [1]):
        with pytest.raises(InvalidArgument, match="epsilon"):
            ledger.open("trips", epsilon=odd)


@pytest.mark.parametrize("accounting", ["zcdp", "renyi"])
def test_budgets_beyond_floats(accounting: str) -> None:
    with pytest.raises(InvalidArgument, match="epsilon"):
        Rule.of(accounting, Amount("1e400"), Amount("1e-6"))


@pytest.mark.parametrize("budget", [1 / 3, 0.1 + 0.2])
def test_a_budget_holds_a_charge_of_its_own_size(file: Place, budget: float) -> None:
    dataset = file.ledger().open("trips", epsilon=budget)
    dataset.reserve(epsilon=budget, description={"name": "all of it"})
    with pytest.raises(BudgetExceeded):
        dataset.reserve(epsilon=1e-300, description={"name": "more"})


# Scales at which 1/scale lies between a short decimal and the float of it.
SCALES = [7.974481658692184]


@pytest.mark.parametrize("scale", SCALES)
def test_the_decimal_that_is_charged_for_a_scale(scale: float) -> None:
    epsilon, _ = cost(veil.vectors.GeometricCounts(scale, 3).profile(NEAR), None)
    assert exact(charged("epsilon", epsilon)) >= 1 / Fraction(scale)


STATED = [0.1, 0.2, 0.3, 0.55, 0.7, 1.1, 2.3, 3.3, 1e-3, 0.1254, 4.35]


@pytest.mark.parametrize("epsilon", STATED)
def test_what_was_stated_is_not_exceeded(epsilon: float) -> None:
    """The odds of every mechanism that is built for a decimal, against that decimal, at high precision."""
    with mp.workdps(60):
        limit = mp.mpf(repr(epsilon))

        def within(rate: float, times: int = 1) -> bool:
            keep = 1 - mp.mpf(Fraction(rate).numerator) / Fraction(rate).denominator
            return bool(times * mp.log(keep / (1 - keep)) <= limit)

        assert within(veil.bits.RandomizedResponse(epsilon).flip_rate)
        steps = staircase(6, 3, 2, epsilon)
        assert -mp.log(mp.mpf(steps.decay)) <= limit
        graph = PrivateGraph(epsilon, statistics=("edges",)) if epsilon > 0.01 else None
        if graph is not None:
            assert sum(map(Fraction, graph.costs.values())) <= Fraction(repr(epsilon))
        words = veil.words.SequentialWords(veil.words.ChainWords(ROADS, 3, start="a"), epsilon)
        assert -words.radius * mp.log(mp.mpf(words.decay)) <= limit
        made = veil.calibrate(lambda k: veil.vectors.GeometricCounts(1 / k, 3), NEAR, epsilon=epsilon)
        assert 1 / Fraction(made.scale) <= Fraction(repr(epsilon))


# Batches, and words that are released while they are made


class _Free:
    """Notes releases as uses of some entry, of which none has to be paid for."""

    def __init__(self, dataset: veil.ledger.dataset.Dataset, entry: Any) -> None:
        self.dataset, self.entry, self.slots = dataset, entry, itertools.count()

    def reserve(self, *, epsilon: float, delta: float, description: dict[str, Any]) -> Any:
        raise NotImplementedError

    def reserve_charge(self, charge: Any) -> Any:
        return self.dataset.use(self.entry, next(self.slots), charge)

    def confirm(self, entry: Any) -> None:
        self.dataset.confirm(entry)


@pytest.mark.parametrize("declared", [False, True], ids=["of a plain charge", "of another batch"])
def test_uses_of_what_is_no_place(file: Place, declared: bool) -> None:
    """A release of 100 that is noted as paid for by one of 0.1: not accepted, or at least shown."""
    ledger = file.ledger()
    dataset = ledger.open("trips", epsilon="0.1", adjacency=NEAR)
    entry = dataset.batch([NOISE]).entry if declared else release(dataset).entry
    try:
        loud, free = veil.vectors.GeometricCounts(0.01, 3), _Free(dataset, entry)
        out = veil.release(loud, COUNTS, adjacency=NEAR, ledger=free)
        ledger.verify()
        check_charged(out, ledger, "a file")
    except VeilError:
        return
    raise AssertionError("100 for 0.1")


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda word: pickle.loads(pickle.dumps(word))])
def test_copies_of_a_word_that_is_being_made(file: Place, way: Any) -> None:
    dataset = file.ledger().open("words", epsilon=4)
    trip = veil.words.online(
        veil.words.SequentialWords(veil.words.ChainWords(ROADS, 3, start="a"), 4.0), ledger=dataset
    )
    with pytest.raises(InvalidArgument, match="copy"):
        way(trip)
    assert [trip.push(symbol) for symbol in "bac"] == list(trip.finish().value)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_word_in_a_forked_process(monkeypatch: pytest.MonkeyPatch) -> None:
    trip = veil.words.online(veil.words.SequentialWords(veil.words.ChainWords(ROADS, 3, start="a"), 4.0))
    trip.push("b")
    parent = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: parent + 1)
    with pytest.raises(InvalidArgument, match="process"):
        trip.push("a")


def test_a_place_that_is_put_into_a_batch_by_hand(file: Place) -> None:
    """What is used twice is refused by the ledger, whatever the copy of the batch believes."""
    dataset = file.ledger().open("trips", epsilon=1, adjacency=NEAR)
    batch = dataset.batch([NOISE])
    believed = list(batch._slots)
    release(batch)
    batch._slots[:] = believed
    with pytest.raises(InvalidArgument):
        release(batch)
    assert [entry.kind for entry in dataset.entries()].count("use") == 1


# The ledger's own database


def test_totals_that_were_set_back(place: Place, elsewhere: Elsewhere) -> None:
    """Without touching an entry: no watch of the database sees it. The next charge must, not an audit."""
    dataset = place.ledger().open("trips", epsilon="0.1")
    release(dataset)
    ((last,),) = place.sql("SELECT last FROM veil_ledger_datasets")
    forged = last.replace('"epsilon":"0.1"', '"epsilon":"0.0"')
    assert forged != last
    place.sql("UPDATE veil_ledger_datasets SET last = :last", last=forged)
    # On this machine, and on one that has never seen the ledger.
    with pytest.raises(LedgerCorrupt):
        release(dataset)
    elsewhere()
    with pytest.raises(LedgerCorrupt, match="not the newest"):
        release(place.ledger().dataset("trips"))
    assert len(dataset.entries()) == 3


@pytest.mark.xdist_group("postgres")
def test_commits_are_on_the_disk_whatever_the_server_is_set_to(postgres: Server) -> None:
    place = new_database(postgres)
    name = place.url.rsplit("/", 1)[1]
    place.sql(f"ALTER DATABASE {name} SET synchronous_commit = off")
    ledger = place.ledger()
    ledger.open("trips", epsilon=1)
    how = text("SHOW synchronous_commit")
    assert ledger._store.read(lambda connection: connection.execute(how).scalar()) == "on"


@pytest.mark.parametrize("address", [Path(":memory:"), "sqlite:///./:memory:"])
def test_a_ledger_that_would_be_forgotten(
    address: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    try:
        veil.Ledger(address).open("trips", epsilon=1)
    except InvalidArgument:
        return
    assert (folder / ":memory:").stat().st_size > 0


def test_a_dataset_that_travels_to_another_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two folders with a ledger each, of the same names: the budget that was meant is charged, or none."""
    for name, budget in (("one", 1), ("two", 5)):
        (folder / name).mkdir()
        monkeypatch.chdir(folder / name)
        veil.Ledger("budget.db").open("trips", epsilon=budget)
    monkeypatch.chdir(folder / "one")
    luggage = pickle.dumps(veil.Ledger("budget.db").dataset("trips"))
    monkeypatch.chdir(folder / "two")
    assert pickle.loads(luggage).budget.epsilon == 1


# By blanks, by composition, by case, by width, by letters of other scripts, by what has no width.
ALIKE = [
    "trips ",
    unicodedata.normalize("NFD", "caf\u00e9"),
    "TRIPS",
    "\uff54rips",
    "tr\u0456ps",
    "t\u200drips",
]


@pytest.mark.parametrize("name", ALIKE)
def test_names_that_look_alike(file: Place, name: str) -> None:
    ledger = file.ledger()
    ledger.open("trips", epsilon=1)
    with pytest.raises(InvalidArgument, match="name"):
        ledger.open(name, epsilon=1)
    assert ledger.datasets() == ["trips"]


def test_triggers_that_were_taken_away_are_reported(file: Place) -> None:
    file.ledger().open("trips", epsilon=1)
    assert file.ledger().verify().findings == ()
    file.drop_watches()
    findings = file.ledger().verify().findings
    assert findings
    assert all("the database does not refuse changes any more" in text for text in findings)


def test_triggers_that_do_nothing_are_reported(place: Place) -> None:
    """Of the same names, with other contents; and those of others, which may undo what is written."""
    place.ledger().open("trips", epsilon=1)
    assert place.ledger().verify().findings == ()
    on_entries = "ON veil_ledger_entries"
    if place.kind == "sqlite":
        place.sql("DROP TRIGGER veil_ledger_no_DELETE")
        place.sql(f"CREATE TRIGGER veil_ledger_no_DELETE BEFORE DELETE {on_entries} BEGIN SELECT 1; END")
        place.sql("CREATE TRIGGER undo AFTER UPDATE ON veil_ledger_datasets BEGIN SELECT 1; END")
        changed = "veil_ledger_no_DELETE"
    else:
        changed = "veil_ledger_no_change"
        place.sql(f"DROP TRIGGER {changed} {on_entries}")
        calls = "FOR EACH ROW EXECUTE FUNCTION veil_ledger_keep()"
        place.sql(f"CREATE TRIGGER {changed} BEFORE UPDATE {on_entries} {calls}")
        place.sql(f"CREATE TRIGGER undo AFTER UPDATE ON veil_ledger_datasets {calls}")
    findings = place.ledger().verify().findings
    assert [text.rpartition("trigger ")[2] for text in findings] == [
        f"{changed} is another one",
        "undo is not of Veil",
    ]


def test_a_trigger_whose_function_does_nothing_is_reported(postgres: Server) -> None:
    place = new_schema(postgres)
    place.ledger().open("trips", epsilon=1)
    place.sql(
        "CREATE OR REPLACE FUNCTION veil_ledger_keep() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RETURN NEW; END $$"
    )
    findings = place.ledger().verify().findings
    assert [text.rpartition(" ")[2] for text in findings] == ["one", "one"]
    assert all("is another one" in text for text in findings)


def test_the_clock_does_not_matter(file: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    import datetime

    from veil.ledger import chain

    class _Backwards(datetime.datetime):
        year_now = 2031

        @classmethod
        def now(cls, tz: Any = None) -> Any:
            cls.year_now -= 1
            return datetime.datetime(cls.year_now, 1, 1, tzinfo=tz)

    monkeypatch.setattr(chain, "datetime", _Backwards)
    ledger = file.ledger()
    dataset = ledger.open("trips", epsilon="0.2")
    release(dataset)
    release(dataset)
    with pytest.raises(BudgetExceeded):
        release(dataset)
    assert ledger.verify().datasets == ["trips"]


def test_an_interrupted_charge_releases_nothing(file: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C at any moment: what was drawn was charged, and what was charged stays so."""
    dataset = file.ledger().open("trips", epsilon=1)
    drawn: list[int] = []
    noise = veil.vectors.GeometricCounts.noise

    def interrupted(self: Any, *args: Any) -> Any:
        drawn.append(len(dataset.entries()))
        if len(drawn) == 1:
            raise KeyboardInterrupt
        return noise(self, *args)

    monkeypatch.setattr(veil.vectors.GeometricCounts, "noise", interrupted)
    with pytest.raises(KeyboardInterrupt):
        release(dataset)
    release(dataset)
    assert drawn == [2, 3]
    assert dataset.spent.epsilon == 0.2


@pytest.mark.xdist_group("postgres")
def test_no_password_behind_an_error(postgres: Server) -> None:
    """Not in the error, nor in those that it came from, which a logger may walk through."""
    place = new_schema(postgres)
    secret = "hush-hush-7"
    wrong = place.url.replace(postgres.password, secret)
    with pytest.raises(VeilError) as caught:
        veil.Ledger(wrong).datasets()
    error: BaseException | None = caught.value
    while error is not None:
        assert secret not in str(error) + repr(error.args) + repr(vars(error))
        error = error.__cause__ or error.__context__
