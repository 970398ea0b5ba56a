"""From a file to a release, for every kind, by the pages alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import veil
from tests.studio.conftest import Workbench
from tests.studio.visitor import Visitor
from veil.core.kind import register, unregister
from veil.samples.examples import EXAMPLES


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(one, id=one.kind, marks=() if one.kind == "vector" else pytest.mark.slow)
        for one in EXAMPLES
    ],
)
def test_from_a_file_to_a_release(
    workbench: Workbench, visitor: Visitor, tmp_path: Path, example: object
) -> None:
    assert isinstance(example, type(EXAMPLES[0]))
    draft = visitor.start(example.words)
    visitor.open_budget("people", "20")
    before = visitor.fill_in(draft, "people")
    assert "disabled" not in before.text.partition(">Release</button>")[0].rpartition("<button")[2]
    release = visitor.release(draft)
    done = visitor.wait(release)
    assert "state done" in done.text, done.text
    record = visitor.get(f"/release/{release}/get/record")
    path = tmp_path / "record.json"
    path.write_bytes(record.content)
    out = veil.load(path)
    assert out.kind.name == example.kind
    assert not out.reproducible
    assert out.entry is not None
    assert out.entry.dataset == "people"
    # What the command line says of the same file.
    ledger = veil.Ledger(workbench.workspace.ledger)
    assert ledger.result(out.entry) is not None
    report = visitor.get(f"/release/{release}/report")
    assert report.status == 200
    assert "sandbox" in report.headers["content-security-policy"]
    table = visitor.get(f"/release/{release}/get/table")
    assert table.status == 200
    assert table.text.count("\n") > 1
    # The page of the result names the privacy loss that was asked for, and the command that makes it again.
    page = visitor.get(f"/release/{release}")
    assert f"veil release {example.kind} {example.file}" in page.text
    assert "veil.Ledger(&#34;budget.db&#34;)" in page.text


def test_every_field_of_a_kind_is_on_one_page(workbench: Workbench, visitor: Visitor) -> None:
    """No option is left out, and none is asked for twice."""
    from veil.core.kind import every_kind
    from veil.studio.forms import fields_of
    from veil.studio.journey import STEPS, step_fields

    for kind in (kind for kind in every_kind() if kind.requests("release")):
        read, release = kind.requests("release")
        wanted = [field.key for field in (*fields_of("read", read), *fields_of("release", release))]
        found = [
            field.key for step in STEPS for field in step_fields(kind, step.name) if field.part != "plan"
        ]
        aside = {"read.source", "read.table", "read.header"}
        assert sorted(found) == sorted(set(wanted) - aside), kind.name


def test_nothing_is_chosen_for_the_user(workbench: Workbench, visitor: Visitor) -> None:
    """Whose secret is kept starts empty, and the way on is closed until it is chosen."""
    page = visitor.send(next(form for form in visitor.get("/new").forms if ("kind", "chain") in form.fields))
    draft = page.path.split("/")[2]
    form = visitor.get(f"/draft/{draft}/hidden").form("/hidden")
    assert "release.unit" not in dict(form.fields)
    refused = visitor.send(form, go="on")
    assert refused.status == 422
    assert "Please choose." in refused.text
    chosen = visitor.send(form, go="on", release__unit="user", release__change="add-remove")
    assert chosen.path == f"/draft/{draft}/choices"


def test_what_was_typed_in_is_kept(workbench: Workbench, visitor: Visitor) -> None:
    """Back and forth, with errors in between, and from another window."""
    draft = visitor.start("Grades of a course")
    form = visitor.get(f"/draft/{draft}/plan").form("/plan")
    wrong = visitor.send(form, go="on", release__epsilon="a lot", plan__size="5")
    assert wrong.status == 422
    assert "Expected a number" in wrong.text
    assert 'value="a lot"' in wrong.text
    back = visitor.send(form, go="back", release__epsilon="a lot", plan__size="7")
    assert back.path == f"/draft/{draft}/choices"
    again = visitor.get(f"/draft/{draft}/plan")
    assert dict(again.form("/plan").fields)["release.epsilon"] == "a lot"
    assert dict(again.form("/plan").fields)["plan.size"] == "7"
    assert workbench.visitor().get(f"/draft/{draft}/plan").status == 200


def test_the_command_is_what_is_run(workbench: Workbench, visitor: Visitor) -> None:
    """The command beside a page, and the order that a release is given, hold the same options."""
    import shlex

    from veil.studio import commands

    draft = visitor.start("Taxi trips")
    kept = workbench.studio.drafts.get(draft)
    order = commands.arguments(kept, kept.source)
    shown = shlex.split(commands.command_line(kept, dataset="city"))
    assert order[:2] == ["release", "chain"]
    assert shown[1:3] == order[:2]
    assert shown[4 : 4 + len(order) - 3] == order[3:]
    assert order[3:7] == ["--from", "pickup", "--to", "dropoff"]
    # And the script compiles.
    compile(commands.python(kept, dataset="city"), "shown", "exec")


def test_the_page_of_a_new_kind_appears_by_itself(workbench: Workbench, visitor: Visitor) -> None:
    register("tally", "tests.toy.kind:TallyKind")
    try:
        page = visitor.get("/new")
        forms = [form for form in page.forms if ("kind", "tally") in form.fields]
        assert len(forms) == 1
        first = visitor.send(forms[0])
        assert first.path.endswith("/data")
        draft = first.path.split("/")[2]
        for step in ("hidden", "choices", "plan", "budget", "release"):
            assert visitor.get(f"/draft/{draft}/{step}").status == 200
    finally:
        unregister("tally")


def test_a_note_of_a_draft_has_no_address(workbench: Workbench) -> None:
    """A database's address may hold a password: it is kept in memory only."""
    draft = workbench.studio.drafts.new("chain", source="postgresql://me:secret@localhost/db")
    text = (workbench.workspace.folder / "drafts" / draft.id / "draft.json").read_text()
    assert "secret" not in text
    assert json.loads(text)["source"] == ""
    assert workbench.studio.drafts.get(draft.id).source.endswith("/db")
    page = workbench.visitor().get(f"/draft/{draft.id}/data")
    assert "secret" not in page.text
