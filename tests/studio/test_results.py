"""A finished release is explored, taken along, and used for more without a further cost."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

import veil
from tests.studio.conftest import Workbench
from tests.studio.made import made_release, release_of
from tests.studio.visitor import Visitor
from veil.core.kind import every_kind
from veil.samples.examples import EXAMPLES, Example
from veil.studio.followups import followups
from veil.studio.results import largest_differences

# The beginnings of files, by what they are called in an address.
_BEGIN = {
    "record": b"{",
    "parquet": b"PAR1",
    "report": b"<!doctype html",
    "picture": b"<svg",
    "points": b"\x89PNG",
}


@pytest.mark.slow_for("words", "graph", "bits", "trips")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: one.kind)
def test_every_kind_can_be_explored(
    workbench: Workbench, visitor: Visitor, made_up: Path, example: Example
) -> None:
    out = release_of(example, made_up)
    name = made_release(workbench, example.words, out, has_report=False)
    page = visitor.get(f"/release/{name}")
    views = page.text.count('name="view"')
    # More than the table alone.
    assert views > 1
    for number in range(views):
        shown = visitor.get(f"/release/{name}/view?view={number}")
        assert shown.status == 200
        drawn = shown.text.partition('<div class="shown">')[2]
        assert "<svg" in drawn or "<table" in drawn or "<ol" in drawn
        assert " style=" not in drawn
        none = visitor.get(f"/release/{name}/view?view={number}&search=no-such-label")
        assert "Nothing here is called" in none.text


def test_a_view_is_searched_and_ordered(workbench: Workbench, visitor: Visitor) -> None:
    name = made_release(workbench, "Grades")
    found = visitor.get(f"/release/{name}/view?search=b").text.partition('<div class="shown">')[2]
    assert ">B</text>" in found
    assert ">A</text>" not in found
    listed = visitor.get(f"/release/{name}/view?order=by+name&view=0").text
    assert listed.index(">A</text>") < listed.index(">B</text>") < listed.index(">C</text>")
    for query in ("view=99&most=7&order=none", "view=-1", "view=1e9&most=99999999999", "search=" + "x" * 999):
        assert visitor.get(f"/release/{name}/view?{query}").status == 200
    script = visitor.get(f"/release/{name}/view?search=%3Cscript%3E").text
    assert "<script>" not in script


def test_a_release_is_taken_along_in_every_form(workbench: Workbench, visitor: Visitor) -> None:
    import pyarrow.parquet as pq

    name = made_release(workbench, "Grades / of May")
    for what, begin in _BEGIN.items():
        taken = visitor.get(f"/release/{name}/get/{what}")
        assert taken.status == 200, what
        assert taken.content.lower().lstrip().startswith(begin.lower()), what
        assert "grades---of-may" in taken.headers["content-disposition"]
    table = pq.read_table(io.BytesIO(visitor.get(f"/release/{name}/get/parquet").content))
    assert table.num_rows == 3
    assert [str(kind) for kind in table.schema.types] == ["string", "double", "int64"]
    assert visitor.get(f"/release/{name}/get/about").status == 404


def test_two_releases_are_set_against_each_other(workbench: Workbench, visitor: Visitor) -> None:
    def grades(seed: int, labels: str = "ABC") -> veil.Release[Any]:
        return veil.vectors.release(dict(zip(labels, (31, 28, 21), strict=True)), epsilon=1.0, rng=seed)

    first, second = (made_release(workbench, f"Grades {seed}", grades(seed)) for seed in (1, 2))
    other = made_release(workbench, "Others", grades(1, "XYZ"))
    page = visitor.get(f"/compare?a={first}&b={second}").text
    shown = page.partition("Where they differ most")[2].partition("</table>")[0]
    assert shown.count("<tr>") == 1 + 2 * 3
    found = largest_differences(grades(1), grades(2))
    assert found is not None
    gaps = [abs(one.first - one.second) for one in found]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[0] > 0
    assert "not of the same things" in visitor.get(f"/compare?a={first}&b={other}").text
    assert visitor.get(f"/compare?a={first}").status == 400


def test_commands_on_a_release_come_from_its_kind() -> None:
    """Each has a form, from which files of this machine cannot be named, and a command."""
    found = {kind.name: {one.name: one for one in followups(kind)} for kind in every_kind()}
    assert set(found["chain"]) == {"chain", "synth", "groups"}
    assert set(found["graph"]) == {"decode"}
    assert not found["vector"]
    for commands in found.values():
        for one in commands.values():
            names = {field.name for field in one.fields}
            assert not names & {one.source, "output", "report", "against", "csv_safe"}
            texts = {field.key: "7" for field in one.fields if field.takes is int}
            words = one.command("release.json", texts, "out.csv" if one.endings else "")
            assert words[:2] == [one.name, "release.json"]
            # Labels are no formulas in what is written.
            assert ("--csv-safe" in words) == ("csv_safe" in one.request.options() and bool(one.endings))


@pytest.mark.slow
def test_synthesis_reads_the_release_alone(workbench: Workbench, visitor: Visitor, made_up: Path) -> None:
    example = next(one for one in EXAMPLES if one.kind == "chain")
    name = made_release(workbench, "City", release_of(example, made_up), has_report=False)
    page = visitor.get(f"/release/{name}/after/synth")
    done = visitor.send(page.form("/after/synth"), after__number="50", after__seed="1", ending=".csv")
    assert "50 sequences" in done.text
    assert str(workbench.workspace.folder) not in done.text
    taken = visitor.get(f"/release/{name}/after/synth/file?ending=.csv")
    assert taken.status == 200
    assert taken.text.splitlines()[0] == '"sequence","place","state"'
    wrong = visitor.send(page.form("/after/synth"), after__number="none")
    assert wrong.status == 422
    assert "Expected a whole number" in wrong.text
    for path in ("after/groups/file?ending=.csv", "after/synth/file?ending=/../../about.json"):
        assert visitor.get(f"/release/{name}/{path}").status == 404
    assert visitor.get(f"/release/{name}/after/release").status == 400
    assert json.loads(visitor.get(f"/release/{name}/get/record").content)
