"""Queries that are put together by clicks: row by row, in every engine, whatever names and values hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.studio.conftest import Workbench
from tests.studio.visitor import Visitor
from veil import chains
from veil.core.errors import InvalidArgument
from veil.studio.queries import DUCKDB, NEW, POSTGRES, WHERE, Rule, composed, works_row_by_row

HOSTILE = ("a'b", 'a"b', "x; DROP TABLE t", "1) OR (1=1", "naïve café", "SELECT", "a.b", "'", '""')


@pytest.mark.parametrize("dialect", [DUCKDB, POSTGRES])
def test_every_rule_works_row_by_row(dialect: str) -> None:
    new = [Rule("when", name, "2" if one.takes else "", f"new {name}") for name, one in NEW.items()]
    where = [Rule("fare", name, "2" if one.takes else "") for name, one in WHERE.items()]
    query = composed(["when", "fare"], new, where, table="city.trips", dialect=dialect)
    assert works_row_by_row(query, dialect)
    assert 'FROM "city"."trips"' in query


@pytest.mark.parametrize("text", HOSTILE)
def test_names_and_values_stay_names_and_values(text: str) -> None:
    """Counted by DuckDB: the query keeps exactly the rows that hold the text."""
    data = {text: [text, "other", text], "o": ["b", "a", "a"], "to": ["a", "b", "b"]}
    query = composed(
        [text, "o", "to"],
        [Rule(text, "same", "", f"new {text}")],
        [Rule(text, "is", text)],
        table="input",
        dialect=DUCKDB,
    )
    counts = chains.read(data, query=query, origin="o", destination="to", states=["a", "b"])
    assert counts.total == 2
    assert not counts.provenance.unchecked


@pytest.mark.parametrize(
    ("rule", "field"),
    [
        (Rule("none", "hour", "", "h"), "column"),
        (Rule("when", "drop", "", "h"), "operation"),
        (Rule("when", "hour", "", ""), "name"),
        (Rule("when", "hour", "", "fare"), "name"),
        (Rule("when", "hour", "7", "h"), "value"),
        (Rule("when", "left", "1.5", "h"), "value"),
        (Rule("when", "left", "", "h"), "value"),
        (Rule("when", "steps", "1e3", "h"), "value"),
        (Rule("when", "steps", "1; SELECT 1", "h"), "value"),
        (Rule("when", "same", "", "a--b"), "value"),
        (Rule("when", "same", "", "a$b"), "value"),
        (Rule("when", "same", "", "a\\b"), "value"),
    ],
)
def test_what_cannot_be_meant_is_refused(rule: Rule, field: str) -> None:
    with pytest.raises(InvalidArgument) as error:
        composed(["when", "fare"], [rule], [], table="input", dialect=DUCKDB)
    assert error.value.field == field


def test_the_page_makes_an_hour_of_a_time(workbench: Workbench, visitor: Visitor, tmp_path: Path) -> None:
    path = tmp_path / "rides.csv"
    path.write_text("began,from,to,paid\n2026-01-01 08:10,a,b,yes\n2026-01-01 09:20,b,a,no\n")
    page = visitor.send(next(form for form in visitor.get("/new").forms if ("kind", "chain") in form.fields))
    draft = page.path.split("/")[2]
    visitor.send(page.form("/source"), source=str(path))
    unknown = visitor.get(f"/draft/{draft}/query")
    assert "not known yet" in unknown.text
    visitor.send(visitor.get(f"/draft/{draft}/data").form("/source"), header="yes")
    form = visitor.get(f"/draft/{draft}/query").form("/query")
    rules = {"query.new.0.column": "began", "query.new.0.operation": "hour", "query.new.0.name": "hour"}
    rules |= {"query.where.0.column": "paid", "query.where.0.operation": "is", "query.where.0.value": "yes"}
    page = visitor.post(form.action, dict(form.fields) | rules | {"go": "use"})
    assert page.path == f"/draft/{draft}/data"
    assert "<code>hour</code>" in page.text
    kept = workbench.studio.drafts.get(draft)
    query = kept.text("read.query")
    counts = chains.read(str(path), query=query, origin="from", destination="to", states=["a", "b"])
    assert counts.total == 1
    again = visitor.get(f"/draft/{draft}/query")
    assert "It works row by row" in again.text
    assert 'value="hour"' in again.text
    wrong = visitor.post(form.action, dict(form.fields) | rules | {"query.new.0.name": "paid"})
    assert wrong.status == 422
    assert "“Name”" in wrong.text
    visitor.send(again.form("/query"), go="without")
    kept = workbench.studio.drafts.get(draft)
    assert kept.text("read.query") == ""
    assert [name for name, _ in kept.columns] == ["began", "from", "to", "paid"]


def test_tables_of_a_database_are_offered(workbench: Workbench, visitor: Visitor, tmp_path: Path) -> None:
    import duckdb

    path = tmp_path / "city.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE trips AS SELECT 'canary' AS page")
        connection.execute("CREATE SCHEMA old")
        connection.execute("CREATE VIEW old.all_trips AS SELECT * FROM trips")
    page = visitor.send(next(form for form in visitor.get("/new").forms if ("kind", "chain") in form.fields))
    found = visitor.send(page.form("/source"), source=str(path))
    assert "<code>trips</code>" in found.text
    assert "<code>old.all_trips</code>" in found.text
    assert "canary" not in found.text
    draft = found.path.split("/")[2]
    chosen = visitor.send(found.form("/source"), read__table="trips")
    assert "<code>page</code>" in chosen.text
    read = visitor.get(f"/draft/{draft}/questions").text
    assert "information_schema.tables" in read
    assert "SELECT * FROM" not in read
    assert workbench.studio.drafts.get(draft).bytes_read > 0
    assert "at most" in read


def test_a_list_is_typed_in_or_handed_in(workbench: Workbench, visitor: Visitor) -> None:
    draft = visitor.start("Taxi trips")
    form = visitor.get(f"/draft/{draft}/choices").form("/choices")
    drafts = workbench.studio.drafts
    sent = dict(form.fields)
    visitor.post(form.action, sent | {"list:read.states": "home\nwork\n\n shop "})
    assert drafts.get(draft).text("read.states") == "home,work,shop"
    visitor.post(form.action, sent | {"list:read.merge": "shop=work\nclub=home"})
    assert drafts.get(draft).text("read.merge") == "shop=work,club=home"
    many = "\n".join(f"zone {number}" for number in range(900))
    visitor.post(form.action, sent | {"list:read.states": many})
    path = Path(drafts.get(draft).text("read.states"))
    assert path.parent.parent == workbench.workspace.folder / "uploads"
    counts = chains.read({"o": ["zone 0"], "d": ["zone 7"]}, origin="o", destination="d", states=str(path))
    assert len(counts) == 900
    # What is typed in again as text holds.
    visitor.post(form.action, sent | {"read.states": "a,b"})
    assert drafts.get(draft).text("read.states") == "a,b"


def test_what_is_hidden_is_said_in_words(visitor: Visitor) -> None:
    page = visitor.send(next(form for form in visitor.get("/new").forms if ("kind", "chain") in form.fields))
    draft = page.path.split("/")[2]
    text = visitor.get(f"/draft/{draft}/hidden").text
    assert "one person, with all that is counted of them" in text
    assert "one trip, or one step" in text
    assert text.count('class="unit"') == 3
