"""Entries that were added past Veil: hashes and links are right, and what they say is not lawful."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import veil
from tests.ledger.forging import Forgery, written_by_0_1
from tests.ledger.places import MOSTLY_IN_A_FILE, NEAR, NOISE, Elsewhere, Place, new_file, new_schema, release
from veil.errors import LedgerCorrupt
from veil.ledger import chain
from veil.ledger.amounts import Amount
from veil.ledger.balance import Balance, amounts, texts
from veil.ledger.description import shortened


def filled(place: Place) -> veil.Ledger:
    """A dataset with parts and neighbours, charges, a raise, and a batch of which one place is left.

    The last of its 11 entries is a charge that was not confirmed.
    """
    ledger = place.ledger()
    trips = ledger.open("trips", epsilon=1, adjacency=NEAR, parts=["north", "south"], by="officer")
    release(trips)
    release(trips.part("north"))
    trips.raise_budget(epsilon=2, why="approved", by="officer")
    release(trips.batch([NOISE, NOISE], adjacency=NEAR))
    trips.reserve(epsilon=0.1, description={"name": "by hand"})
    assert ledger.verify().findings == ()
    return ledger


def closed(forgery: Forgery) -> None:
    forgery.place.ledger().dataset("trips").close(why="ended", by="officer")


def terms(kind: str, **changes: Any) -> Callable[[Forgery], None]:
    """Terms that were changed in this way, by somebody and for a reason."""

    def forge(forgery: Forgery) -> None:
        said = {name: changes.get(name, usual) for name, usual in (("by", "officer"), ("why", "approved"))}
        agreed = forgery.agreed | {name: change for name, change in changes.items() if name not in said}
        forgery.add(kind, {**said, "agreed": agreed})

    return forge


def limits(epsilon: str) -> dict[str, Any]:
    return {"name": "basic", "limits": {"epsilon": epsilon, "delta": "0"}}


def raised_limits(forgery: Forgery) -> None:
    terms("raise", epsilon="3", rule=limits("100"))(forgery)


def confirm_that_raises(forgery: Forgery) -> None:
    agreed = forgery.agreed | {"epsilon": "100", "rule": limits("100")}
    forgery.add("confirm", {"entry": 2, "agreed": agreed}, token="confirm 99")


def reopened(forgery: Forgery) -> None:
    closed(forgery)
    terms("raise", epsilon="9", rule=limits("9"), closed=False)(forgery)


def opened_again(forgery: Forgery) -> None:
    totals: dict[str, Any] = {"whole": {}, "parts": {}}
    content = {"by": "officer", "why": None, "agreed": forgery.agreed, "totals": totals}
    forgery.add("open", content)


def opened_again_with_totals(forgery: Forgery) -> None:
    forgery.add("open", {"by": "officer", "why": None, "agreed": forgery.agreed})


def dated(time: str) -> Callable[[Forgery], None]:
    def forge(forgery: Forgery) -> None:
        agreed = forgery.agreed | {"epsilon": "3", "rule": limits("3")}
        forgery.add("raise", {"by": "officer", "why": "approved", "agreed": agreed}, time=time)

    return forge


def charge(**changes: Any) -> Callable[[Forgery], None]:
    """A charge like the last one, but for this; totals as they were before it, unless it says otherwise."""

    def forge(forgery: Forgery) -> None:
        content = forgery.newest("reserve")
        for name in ("totals", "under", "places"):
            content.pop(name, None)
        forgery.add("reserve", content | {"part": None} | changes)

    return forge


OTHERS = veil.words.Hamming(1).describe()
FREE = {"epsilon": "0", "delta": "0"}


def lawful_charge(forgery: Forgery) -> None:
    """Not a forgery at all: what Veil itself would have written."""
    content = forgery.newest("reserve")
    content.pop("places", None)
    cost = amounts(content["cost"])
    balance = Balance.from_dict(forgery.entries()[-1].content["totals"], moves=False)
    content |= {"part": None, "totals": balance.after(cost, None).to_dict()}
    content.pop("under")
    forgery.add("reserve", content)


def after_closing(forge: Callable[[Forgery], None]) -> Callable[[Forgery], None]:
    def forged(forgery: Forgery) -> None:
        closed(forgery)
        forge(forgery)

    return forged


def use(**changes: Any) -> Callable[[Forgery], None]:
    """The use of the place of the batch that is left, but for this."""

    def forge(forgery: Forgery) -> None:
        content = forgery.newest("use")
        for name in ("totals", "under"):
            content.pop(name)
        content |= {"slot": 1} | changes
        forgery.add("use", content, token=f"use {content['entry']} {content['slot']}")

    return forge


def confirm(number: int, *, token: str | None = None, **more: Any) -> Callable[[Forgery], None]:
    return lambda forgery: forgery.add(
        "confirm", {"entry": number} | more, token=token or f"confirm {number}"
    )


def restore(**changes: Any) -> Callable[[Forgery], None]:
    def forge(forgery: Forgery) -> None:
        last = forgery.entries()[-1]
        nothing: dict[str, Any] = {"whole": {}, "parts": {}}
        content = {"by": "officer", "why": "a disk", "from": last.number, "seen": [last.number + 1, "0" * 64]}
        forgery.add("restore", content | {"lost": nothing} | changes)

    return forge


def refunded(forgery: Forgery) -> None:
    """A confirmation after which less is spent."""
    forgery.add("confirm", {"entry": 2, "totals": {"whole": {}, "parts": {}}}, token="confirm 77")


def other_mechanism(forgery: Forgery) -> None:
    use(mechanism=NOISE.describe() | {"sha256": "0" * 64})(forgery)


def under_older_terms(forgery: Forgery) -> None:
    first = forgery.entries()[0]
    content = forgery.newest("reserve")
    for name in ("totals", "places"):
        content.pop(name, None)
    # A charge of nothing: what is wrong with it are its terms alone.
    content |= {"cost": FREE, "epsilon": "0", "part": None}
    forgery.add("reserve", content | {"under": [1, first.sha256]})


def batch(price: str, *, near: dict[str, Any] | None = None) -> Callable[[Forgery], None]:
    """A batch of one release at this price, and the release, perhaps under other neighbours."""

    def forge(forgery: Forgery) -> None:
        described = shortened(NOISE.describe())
        content = forgery.newest("reserve")
        for name in ("totals", "under"):
            content.pop(name)
        cost = amounts({"epsilon": price, "delta": "0"})
        balance = Balance.from_dict(forgery.entries()[-1].content["totals"], moves=False)
        content |= {"epsilon": price, "cost": texts(cost), "places": [described["sha256"]]}
        content |= {"part": None, "totals": balance.after(cost, None).to_dict()}
        forgery.add("reserve", content)
        number = forgery.entries()[-1].number
        use(entry=number, slot=0, mechanism=described, adjacency=near or NEAR.describe())(forgery)

    return forge


def twice(forge: Callable[[Forgery], None]) -> Callable[[Forgery], None]:
    """Once more, after what keeps the database from taking a token twice was removed."""

    def forged(forgery: Forgery) -> None:
        forgery.place.sql("DROP INDEX veil_ledger_tokens")
        if forgery.place.kind == "sqlite":
            forgery.place.sql("DROP TRIGGER veil_ledger_no_other")
        forge(forgery)
        forge(forgery)

    return forged


FORGERIES: dict[str, Callable[[Forgery], None]] = {
    # Those of the review.
    "a confirmation that carries a raised budget": confirm_that_raises,
    "limits that are not those of the budget": raised_limits,
    "a charge of 5 that costs nothing": charge(epsilon="5", cost=FREE),
    "a closed dataset that is opened by a raise": reopened,
    "a second opening that forgets what was spent": opened_again,
    "a second opening": opened_again_with_totals,
    "another rule": terms("raise", epsilon="3", rule={"name": "zcdp", "limits": {"rho": "1"}}),
    "neighbours dropped": terms("raise", epsilon="3", rule=limits("3"), adjacency=None),
    "a raise of 1999": dated("1999-01-01T00:00:00.000000+00:00"),
    # Our own.
    "a raise to less": terms("raise", epsilon="0.5", rule=limits("0.5")),
    "a raise to the same": terms("raise"),
    "a raise with other parts": terms("raise", epsilon="3", rule=limits("3"), parts=["north", "east"]),
    "a raise that lets records move": terms("raise", epsilon="3", rule=limits("3"), moves=True),
    "a raise by nobody": terms("raise", epsilon="3", rule=limits("3"), by=""),
    "a raise without a reason": terms("raise", epsilon="3", rule=limits("3"), why=""),
    "a raise of delta to 2": terms("raise", delta="2", rule={"name": "basic", "limits": {}}),
    "a raise without limits": terms("raise", epsilon="3", rule={"name": "basic", "limits": {}}),
    "a closing that raises": terms("close", epsilon="3", rule=limits("3"), closed=True),
    "a closing that does not close": terms("close"),
    "a new key that raises": terms("key", epsilon="3", rule=limits("3"), key="0" * 16),
    "a new key that is none": terms("key"),
    "a time that is none": dated("yesterday"),
    "a time of no zone": dated("2096-01-01T00:00:00.000000"),
    "a charge that costs less than it says": charge(cost={"epsilon": "0.01", "delta": "0"}),
    "a charge without delta": charge(cost={"epsilon": "0.1"}),
    "a charge along another line": charge(cost={"epsilon": "0.1", "delta": "0", "rho": "0"}),
    "a charge below nothing": charge(cost={"epsilon": "-5", "delta": "0"}),
    "a charge by nobody": charge(by=" ", cost=FREE, epsilon="0"),
    "a charge for no reason that is one": charge(why="", cost=FREE, epsilon="0"),
    "a charge by what is no text": charge(by=["officer"], cost=FREE, epsilon="0"),
    "a use by nobody": use(by=""),
    "a charge that is no number": charge(cost={"epsilon": "NaN", "delta": "0"}),
    "a charge that is not in the totals": charge(),
    "a charge of no part": charge(part="east", cost=FREE, epsilon="0"),
    "a charge that hides nobody": charge(adjacency=None, cost=FREE, epsilon="0"),
    "a charge that hides others": charge(adjacency=OTHERS, cost=FREE, epsilon="0"),
    "a charge with terms in it": charge(agreed={}, cost=FREE, epsilon="0"),
    "a charge with more than a charge says": charge(note="a gift", cost=FREE, epsilon="0"),
    "a charge under older terms": under_older_terms,
    "a charge after closing": after_closing(charge(cost=FREE, epsilon="0")),
    "a raise after closing": after_closing(terms("raise", epsilon="9", rule=limits("9"))),
    "a use after closing": after_closing(use()),
    "a use of another mechanism": other_mechanism,
    "a use of a place that there is not": use(slot=7),
    "a use of what is no batch": use(entry=2, slot=0),
    "a batch that costs nothing": batch("0"),
    "a batch that costs too little": batch("0.09"),
    "a batch whose releases hide others": batch("0.1", near=veil.vectors.Records("replace").describe()),
    "a charge that says less than nothing": charge(cost=FREE, epsilon="-1"),
    "a charge that is a number": charge(cost={"epsilon": 0, "delta": 0}, epsilon="0"),
    "a charge in other digits": charge(cost={"epsilon": "٠", "delta": "0"}, epsilon="0"),
    "a charge that says it in other digits": charge(cost=FREE, epsilon="٠"),
    "a charge written at length": charge(cost={"epsilon": "0.0", "delta": "0"}, epsilon="0"),
    "a confirmation of a fraction": confirm(11.0),  # type: ignore[arg-type]
    "a use of a fraction": use(entry=8.0),
    "the same confirmation twice": twice(confirm(11)),
    "the same place twice": twice(use()),
    "a confirmation of nothing": confirm(99),
    "a confirmation of a confirmation": confirm(3),
    "a confirmation of the opening": confirm(1),
    "a second confirmation": confirm(2, token="confirm 02"),
    "a confirmation after which less is spent": refunded,
    "a result that is none": confirm(11, result="yes"),
    "a restore by nobody": restore(by=""),
    "a restore that gives back": restore(lost={"whole": {"epsilon": "-1"}, "parts": {}}),
    "a restore of another place": restore(**{"from": 2}),
    "a restore of what nobody saw": restore(seen=[1, "0" * 64]),
    "a restore that is not counted": restore(lost={"whole": {"epsilon": "1", "delta": "0"}, "parts": {}}),
}


@pytest.mark.mostly_slow(quick=6)
@pytest.mark.parametrize("name", FORGERIES)
def test_forged_entries_do_not_verify(folder: Path, name: str, elsewhere: Elsewhere) -> None:
    """On a machine that has never seen the ledger, with and without heads that were exported before."""
    place = new_file(folder)
    heads = filled(place).export(heads_only=True)
    before = len(Forgery(place).entries())
    FORGERIES[name](Forgery(place))
    assert len(Forgery(place).entries()) > before
    elsewhere()
    for against in (None, heads):
        with pytest.raises(LedgerCorrupt):
            place.ledger().verify(against)


@MOSTLY_IN_A_FILE
@pytest.mark.parametrize(
    "forge",
    [
        lawful_charge,
        use(),
        charge(by="officer", why="asked", cost=FREE, epsilon="0"),
        confirm(11),
        confirm(11, result="0" * 64),
        batch("0.1"),
    ],
)
def test_lawful_entries_do(place: Place, forge: Callable[[Forgery], None]) -> None:
    """The same hand, and what Veil itself would have written: it is the meaning that is refused."""
    heads = filled(place).export(heads_only=True)
    forge(Forgery(place))
    assert place.ledger().verify(heads).datasets == ["trips"]


ON_A_SERVER = ["a confirmation that carries a raised budget", "a charge of 5 that costs nothing"]


@pytest.mark.xdist_group("postgres")
@pytest.mark.parametrize("name", ON_A_SERVER)
def test_on_a_server(postgres: Any, name: str) -> None:
    place = new_schema(postgres)
    filled(place)
    FORGERIES[name](Forgery(place))
    with pytest.raises(LedgerCorrupt):
        place.ledger().verify()


@pytest.mark.parametrize("accounting", ["zcdp", "renyi"])
def test_what_a_filter_counts_is_computed_again(folder: Path, accounting: str) -> None:
    """A charge whose divergences are stated too small, with totals that agree."""
    place = new_file(folder)
    release(place.ledger().open("trips", epsilon=1, delta=1e-6, accounting=accounting, adjacency=NEAR))
    assert place.ledger().verify().findings == ()
    forgery = Forgery(place)
    content = forgery.newest("reserve")
    cost = {line: Amount(amount / 2) for line, amount in amounts(content["cost"]).items()}
    cost |= {line: amounts(content["cost"])[line] for line in ("epsilon", "delta")}
    balance = Balance.from_dict(content["totals"], moves=False)
    content |= {"cost": texts(cost), "totals": balance.after(cost, None).to_dict()}
    content.pop("under")
    forgery.add("reserve", content)
    with pytest.raises(LedgerCorrupt, match="below what its mechanism reveals"):
        place.ledger().verify()


@pytest.mark.parametrize("limit", ["0.5", "100"])
def test_limits_of_a_filter_are_computed_again(folder: Path, limit: str) -> None:
    place = new_file(folder)
    place.ledger().open("trips", epsilon=1, delta=1e-6, accounting="zcdp")
    place.drop_watches()
    entry = Forgery(place).entries()[0]
    agreed = entry.content["agreed"] | {"rule": {"name": "zcdp", "limits": {"rho": limit}}}
    forged = replace(entry, content={**entry.content, "agreed": agreed})
    values: dict[str, Any] = {"body": forged.body, "sha": forged.sha256}
    place.sql("UPDATE veil_ledger_entries SET body = :body, sha256 = :sha", **values)
    place.sql("UPDATE veil_ledger_datasets SET last = :body", body=forged.body)
    with pytest.raises(LedgerCorrupt, match="limits"):
        place.ledger().verify()


def test_older_entries_are_reported_not_refused(folder: Path) -> None:
    """Clocks were set back before there was a rule: what an older Veil wrote is odd, and no fault."""
    place = new_file(folder)
    filled(place)
    place.drop_watches()
    written_by_0_1(place)
    FORGERIES["a raise of 1999"](Forgery(place))
    with pytest.raises(LedgerCorrupt, match="a time before"):
        place.ledger().verify()
    place.sql("UPDATE veil_ledger SET value = '{\"trips\": 12}' WHERE key = 'earlier'")
    findings = [text for text in place.ledger().verify().findings if "trigger" not in text]
    assert [finding.partition(":")[0] for finding in findings] == ["trips/12"]
    assert "a time before that of the entry before it (written by an older Veil)" in findings[0]


@pytest.mark.parametrize("claim", ["earlier", "schema"])
def test_newer_entries_cannot_pass_for_older_ones(folder: Path, claim: str) -> None:
    """What was written before there were rules is a number in the ledger, which its owner may raise."""
    place = new_file(folder)
    filled(place)
    FORGERIES["a charge of 5 that costs nothing"](Forgery(place))
    if claim == "earlier":
        place.sql("UPDATE veil_ledger SET value = '{\"trips\": 12}' WHERE key = 'earlier'")
    else:
        place.sql("UPDATE veil_ledger SET value = '1' WHERE key = 'schema'")
        place.sql("DELETE FROM veil_ledger WHERE key = 'earlier'")
    with pytest.raises(LedgerCorrupt, match=r"trips/2: .*newer than the ledger says"):
        place.ledger().verify()


def test_clocks_that_are_set_back_do_no_harm(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry is never dated before the one it follows."""
    dataset = place.ledger().open("trips", epsilon=1)
    release(dataset)

    class Earlier(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime(1999, 1, 1, tzinfo=UTC)

    monkeypatch.setattr(chain, "datetime", Earlier)
    release(dataset)
    monkeypatch.undo()
    times = [entry.time for entry in dataset.entries()]
    assert times == sorted(times)
    assert min(times) > "2000"
    assert place.ledger().verify().findings == ()
