"""A workbench that is killed in the midst of a release: what was charged is said, and never drawn again."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import veil
from tests.studio.conftest import serving
from tests.studio.killed import BY_THE_SERVER, BY_THE_WORKER, WORKER
from veil.samples.examples import EXAMPLES
from veil.studio import jobs
from veil.studio.draft import Drafts
from veil.studio.workspace import Workspace

_LOST = "It was charged as people/2, and there is no result. It is not drawn again."
_UNKNOWN = "The ledger has people/2 from that time, charged and without a result. It is not drawn again."
# What is shown after the restart: the state, a sentence, and what is spent.
_FREE, _MADE = ("failed", "Nothing was charged.", "0"), ("done", "charged as people/2", "0.5")
_EXPECTED = {
    "asked for": ("cancelled", "Nothing was charged.", "0"),
    "begun": _FREE,
    "started": _FREE,
    # The worker has its order, and goes on without the server.
    "ordered": _MADE,
    "running": _FREE,
    "reading": _FREE,
    "charging": _FREE,
    "reserved": ("failed", _UNKNOWN, "0.5"),
    "charged": ("failed", _LOST, "0.5"),
    "drawn": ("failed", _LOST, "0.5"),
    "kept": _MADE,
    "confirmed": _MADE,
    "reported": _MADE,
}
# Beside the slow tests one in which the charge is lost.
_QUICK = ("charged",)


@pytest.mark.parametrize(
    "point",
    [
        pytest.param(point, marks=() if point in _QUICK else pytest.mark.slow)
        for point in (*BY_THE_SERVER, *BY_THE_WORKER)
    ],
)
def test_killed_at(point: str, made_up: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # By this name the restarted workbench knows the worker that still runs.
    monkeypatch.setattr(jobs, "WORKER", WORKER)
    workspace = Workspace.opened(tmp_path / "studio")
    example = next(one for one in EXAMPLES if one.kind == "vector")
    texts = {**example.texts, "release.epsilon": "0.5", "dataset": "people"}
    draft = Drafts(workspace).new(example.kind, source=str(made_up / example.file), texts=texts)
    veil.Ledger(workspace.ledger).open("people", epsilon=1)
    order = [sys.executable, "-m", "tests.studio.killed", str(workspace.folder), draft.id, point]
    killed = subprocess.run(order, check=False, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    state, sentence, spent = _EXPECTED[point]
    for _ in range(2):
        with serving(workspace) as workbench:
            visitor = workbench.visitor()
            (name,) = workspace.names("releases")
            if point == "ordered":
                while 'hx-trigger="load' in visitor.get(f"/release/{name}/state").text:
                    pass
            for path in (f"/release/{name}", "/releases", "/ledger", "/", f"/release/{name}/state"):
                page = visitor.get(path)
            assert f"state {state}" in page.text
            assert sentence in page.text
            # A result that is there can be had whole, and the ledger knows it.
            for what in ("record", "table", "report"):
                assert (visitor.get(f"/release/{name}/get/{what}").status == 200) == (state == "done")
        ledger = veil.Ledger(workspace.ledger)
        entries = ledger.dataset("people").entries()
        kinds = [entry.kind for entry in entries]
        assert str(ledger.dataset("people").spent.epsilon) == spent
        assert kinds == ["open", *["reserve"] * (spent != "0"), *["confirm"] * (state == "done")]
        assert ledger.verify().entries == {"people": len(kinds)}
