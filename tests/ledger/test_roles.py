"""Roles of a server with no more rights than they need: a releaser can charge, and nothing else."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy.exc import DBAPIError

import veil
from tests.ledger.forging import Forgery
from tests.ledger.places import NEAR, NOISE, Place, new_file, new_schema, release
from tests.ledger.test_forged_histories import FORGERIES
from tests.tables.servers import Server
from veil.errors import BudgetExceeded, InvalidArgument, LedgerUnavailable
from veil.ledger.entry import Entry, digest

pytestmark = pytest.mark.xdist_group("postgres")


@dataclass(frozen=True)
class Office:
    """A ledger with its owner, and a role for each purpose."""

    owner: Place
    roles: dict[str, Place]

    def ledger(self, purpose: str) -> veil.Ledger:
        return self.roles[purpose].ledger()


@pytest.fixture
def office(postgres: Server) -> Office:
    owner = new_schema(postgres)
    schema = owner.sql("SELECT current_schema()")[0][0]
    ledger = owner.ledger()
    trips = ledger.open("trips", epsilon=1, adjacency=NEAR, parts=["north", "south"])
    release(trips)
    roles = {}
    with psycopg.connect(postgres.address(), autocommit=True) as connection:
        for purpose in ("auditor", "releaser", "steward"):
            name = f"role_{uuid4().hex}"
            connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{postgres.password}'".encode())
            connection.execute(f"ALTER ROLE {name} SET search_path = {schema}".encode())
            ledger.grant(name, purpose)
            roles[purpose] = Place(postgres.address(user=name), "postgresql")
    return Office(owner, roles)


@pytest.fixture
def stranger(postgres: Server) -> str:
    """The name of a role that can connect, and no more."""
    name = f"role_{uuid4().hex}"
    with psycopg.connect(postgres.address(), autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{postgres.password}'".encode())
    return name


def test_an_auditor_reads(office: Office) -> None:
    ledger = office.ledger("auditor")
    assert ledger.verify(ledger.export()).datasets == ["trips"]
    for attempt in (
        lambda: release(ledger.dataset("trips")),
        lambda: ledger.dataset("trips").raise_budget(epsilon=5, why="more"),
        lambda: ledger.open("new", epsilon=1),
    ):
        with pytest.raises(LedgerUnavailable, match="may not"):
            attempt()


def test_a_releaser_charges_and_confirms(office: Office, stranger: str) -> None:
    dataset = office.ledger("releaser").dataset("trips")
    release(dataset)
    release(dataset.part("north"))
    release(dataset.batch([NOISE], adjacency=NEAR))
    assert dataset.spent.epsilon == 0.4
    with pytest.raises(BudgetExceeded):
        dataset.reserve(epsilon=5, description={"name": "too much"})
    for attempt in (
        lambda: dataset.raise_budget(epsilon=5, why="more"),
        lambda: dataset.close(why="over"),
        lambda: office.ledger("releaser").open("new", epsilon=1),
        lambda: office.ledger("releaser").grant(stranger, "steward"),
    ):
        with pytest.raises(LedgerUnavailable, match="may not"):
            attempt()
    assert office.owner.ledger().verify().findings == ()


def test_a_steward_opens_raises_and_closes(office: Office) -> None:
    ledger = office.ledger("steward")
    dataset = ledger.dataset("trips")
    dataset.raise_budget(epsilon=3, why="more")
    release(dataset)
    ledger.open("grades", epsilon=1)
    release(office.ledger("releaser").dataset("grades"))
    dataset.close(why="over")
    assert office.owner.ledger().verify().datasets == ["grades", "trips"]


STATEMENTS = [
    "DELETE FROM veil_ledger_entries",
    "UPDATE veil_ledger_entries SET body = body",
    "TRUNCATE veil_ledger_entries",
    "INSERT INTO veil_ledger_entries (dataset, number, sha256, token, body) "
    "VALUES ('trips', 99, 'x', 'x', 'x')",
    "UPDATE veil_ledger_datasets SET last = last",
    "DELETE FROM veil_ledger_datasets",
    "INSERT INTO veil_ledger_datasets (name, last) VALUES ('x', 'x')",
    "UPDATE veil_ledger SET value = value",
    "DELETE FROM veil_ledger_queue",
    "SELECT * FROM veil_ledger_queue FOR UPDATE",
    "SELECT * FROM veil_ledger_datasets FOR UPDATE",
    "DROP TRIGGER veil_ledger_no_change ON veil_ledger_entries",
    "ALTER TABLE veil_ledger_entries DISABLE TRIGGER ALL",
    "DROP FUNCTION veil_ledger_add",
    "CREATE OR REPLACE FUNCTION veil_ledger_amount(a text) RETURNS numeric LANGUAGE sql AS $$ SELECT 0 $$",
    "LOCK TABLE veil_ledger_entries",
    "SET session_replication_role = replica",
]


@pytest.mark.mostly_slow(quick=3)
@pytest.mark.parametrize("statement", STATEMENTS)
def test_what_a_releaser_cannot_do(office: Office, statement: str) -> None:
    before = office.owner.sql("SELECT * FROM veil_ledger_entries")
    with pytest.raises(DBAPIError, match=r"permission denied|must be owner"):
        office.roles["releaser"].sql(statement)
    assert office.owner.sql("SELECT * FROM veil_ledger_entries") == before


@dataclass(frozen=True)
class Releaser(Forgery):
    """A forger who has nothing but the functions of the ledger."""

    def add(self, kind: str, content: dict[str, Any], *, token: str | None = None, time: str = "") -> None:
        call = "SELECT veil_ledger_add(:dataset, :number, :sha, :token, :body, NULL, NULL)"
        self.place.sql(call, **self.made(kind, content, token, time))


# Forged histories that a role may try which can only call the functions; those of closed datasets apart.
_TRIED = [
    name
    for name in FORGERIES
    if "clos" not in name and "batch" not in name and "use" not in name and "twice" not in name
]
# What only the meaning of the mechanism or of who is hidden shows: no charge below the stated one, no budget
# exceeded. `verify` sees these.
_SEEN_LATER = {
    "a charge that hides nobody",
    "a charge that hides others",
    "a charge with more than a charge says",
    "a charge along another line",
    "a result that is none",
    "a charge that is a number",
    "a charge written at length",
}


@pytest.mark.mostly_slow(quick=5)
@pytest.mark.parametrize("name", _TRIED)
def test_a_releaser_cannot_forge(office: Office, name: str) -> None:
    forger = Releaser(office.roles["releaser"])
    trips = office.owner.ledger().dataset("trips")
    trips.raise_budget(epsilon=2, why="approved")
    release(trips.batch([NOISE, NOISE], adjacency=NEAR))
    trips.reserve(epsilon=0.1, description={"name": "by hand"})
    before = office.owner.sql("SELECT count(*) FROM veil_ledger_entries")
    spent = trips.spent.epsilon
    if name in _SEEN_LATER:
        try:
            FORGERIES[name](forger)
        except DBAPIError:
            return
        assert trips.spent.epsilon == spent
        with pytest.raises(veil.errors.LedgerCorrupt):
            office.owner.ledger().verify()
        return
    with pytest.raises(DBAPIError):
        FORGERIES[name](forger)
    assert office.owner.sql("SELECT count(*) FROM veil_ledger_entries") == before


def test_a_batch_that_costs_nothing_by_the_functions(office: Office) -> None:
    """The server cannot tell what mechanisms reveal: it accepts it, and `verify` names it."""
    release(office.owner.ledger().dataset("trips").batch([NOISE, NOISE], adjacency=NEAR))
    assert office.owner.ledger().verify().findings == ()
    FORGERIES["a batch that costs nothing"](Releaser(office.roles["releaser"]))
    number = len(office.owner.ledger().dataset("trips").entries()) - 1
    with pytest.raises(veil.errors.LedgerCorrupt, match=f"trips/{number}: .*reveal together"):
        office.owner.ledger().verify()


def test_a_releaser_cannot_spend_more_than_there_is(office: Office) -> None:
    """By hand, with totals that say so: the function counts for itself."""
    place = office.roles["releaser"]
    last = Entry.parse(office.owner.sql("SELECT last FROM veil_ledger_datasets")[0][0], "test")
    content = dict(Forgery(office.owner).newest("reserve"))
    cost = {"epsilon": "1", "delta": "0"}
    content |= {"cost": cost, "epsilon": "1"}
    content["under"] = last.content["under"]
    for totals in ({"epsilon": "1.1", "delta": "0"}, {"epsilon": "0.1", "delta": "0"}):
        content["totals"] = {"whole": totals, "parts": {}}
        entry = Entry(last.ledger, "trips", last.number + 1, last.time, "reserve", content, last.sha256)
        values: dict[str, Any] = {"n": entry.number, "sha": digest(entry.body), "body": entry.body}
        with pytest.raises(DBAPIError, match=r"beyond the budget|not the sum"):
            place.sql("SELECT veil_ledger_add('trips', :n, :sha, 'x', :body, NULL, NULL)", **values)
    assert office.owner.ledger().dataset("trips").spent.epsilon == 0.1


@pytest.mark.parametrize("accounting", ["zcdp", "renyi"])
@pytest.mark.parametrize("part", [None, "north"])
def test_filters_and_parts_by_the_functions(office: Office, accounting: str, part: str | None) -> None:
    """What Veil refuses and what the server refuses are the same budgets."""
    steward, releaser = office.ledger("steward"), office.ledger("releaser")
    steward.open(
        "filtered", epsilon=1, delta=1e-6, accounting=accounting, adjacency=NEAR, parts=["north", "south"]
    )
    dataset = releaser.dataset("filtered")
    account = dataset if part is None else dataset.part(part)
    made = 0
    with suppress(BudgetExceeded):
        while made < 100:
            release(account)
            made += 1
    assert 2 <= made < 100
    assert office.owner.ledger().verify().findings == ()


def test_records_that_move(office: Office) -> None:
    """Where a part counts for two records: delta is the line that is not plain addition."""
    near = veil.vectors.Records("replace")
    steward, releaser = office.ledger("steward"), office.ledger("releaser")
    steward.open("moving", epsilon=5, delta=0.1, adjacency=near, parts=["north", "south"], moves=True)
    north = releaser.dataset("moving").part("north")
    for delta in (0.0, 1e-6, 1e-3):
        north.reserve(epsilon=0.3, delta=delta, description={"name": "by hand"})
    assert office.owner.ledger().verify().findings == ()
    assert north.spent.epsilon == 1.8


def test_long_lists_of_parts(office: Office) -> None:
    names = [f"{number:0>190}" for number in range(40)]
    office.ledger("steward").open("many", epsilon=1, parts=names)
    dataset = office.ledger("releaser").dataset("many")
    for name in names[:15]:
        release(dataset.part(name))
    assert office.owner.ledger().verify().datasets == ["many", "trips"]
    assert dataset.part(names[0]).spent.epsilon == 0.1


def test_nobody_else_can_hold_up_charges(office: Office, postgres: Server, stranger: str) -> None:
    """A role that can only connect cannot take what charges wait for."""
    schema = office.owner.sql("SELECT current_schema()")[0][0]
    with psycopg.connect(postgres.address(user=stranger)) as connection:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(f"SELECT {schema}.veil_ledger_lock('trips')".encode())
        connection.rollback()
        # The locks that 0.1 took, which anybody can.
        connection.execute(b"SELECT pg_advisory_lock(8323107)")
        connection.execute(b"SELECT pg_advisory_lock(hashtextextended('trips', 8323108))")
        release(office.ledger("releaser").dataset("trips"))


def test_grants(office: Office, folder: Path, stranger: str) -> None:
    ledger = office.owner.ledger()
    statements = ledger.grant(stranger, "auditor")
    assert all(statement.startswith("GRANT ") for statement in statements)
    assert not any("INSERT" in statement or "EXECUTE" in statement for statement in statements)
    odd: list[tuple[Any, Any]] = [
        ("", "auditor"),
        (5, "auditor"),
        ("x" * 64, "auditor"),
        ("postgres", "owner"),
    ]
    for role, purpose in odd:
        with pytest.raises(InvalidArgument):
            ledger.grant(role, purpose)
    with pytest.raises(LedgerUnavailable, match="no such role"):
        ledger.grant('no"body', "auditor")
    with pytest.raises(InvalidArgument, match="a server"):
        new_file(folder).ledger().grant(stranger, "auditor")
