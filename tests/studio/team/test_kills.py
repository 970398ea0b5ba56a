"""A process that is killed in the midst of a release: never drawn again, never charged twice."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

import veil
from tests.studio import killed
from tests.studio.team.conftest import Site, serving
from tests.studio.team.killed import BY_THE_SERVER
from veil.studio import jobs

# They share one server.
pytestmark = pytest.mark.xdist_group("postgres")

_FREE, _MADE = ("failed", "0"), ("done", "0.5")
_LOST = ("charged, no result", "0.5")
_EXPECTED = {
    "claimed": _FREE,
    "started": _FREE,
    # The worker has its order, and goes on without the server.
    "ordered": _MADE,
    "running": _FREE,
    "reading": _FREE,
    "charging": _FREE,
    "reserved": _LOST,
    "charged": _LOST,
    "drawn": _LOST,
    "kept": _MADE,
    "confirmed": _MADE,
    "reported": _MADE,
    "ended": _MADE,
}


def test_every_point_is_expected() -> None:
    assert set(_EXPECTED) == {*BY_THE_SERVER, *killed.BY_THE_WORKER}


# One that is charged and lost, and one that goes on without the server; all of them take minutes.
_SLOW = ("ordered", "drawn")


@pytest.mark.parametrize(
    "point",
    [
        pytest.param(point, marks=pytest.mark.slow if point in _SLOW else pytest.mark.evidence)
        for point in _EXPECTED
    ],
)
def test_killed_at(point: str, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    # By this name the restarted workbench knows the worker that still runs.
    monkeypatch.setattr(jobs, "WORKER", killed.WORKER)
    with serving(site) as served:
        served.team.runner.close()
        ada = served.person("ada")
        project = ada.found_project("Grades", "cid")
        ada.grant()
        ada.add_source()
        cid = served.person("cid", project)
        proposal = cid.proposed()
        ada.approve(proposal)
        release = cid.release(proposal)
    order = [sys.executable, "-m", "tests.studio.team.killed", site.url, str(site.folder), release, point]
    done = subprocess.run(order, check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    state, spent = _EXPECTED[point]
    for _ in range(2):
        with serving(site) as served:
            cid, ada = served.person("cid", project), served.person("ada", project)
            page = cid.wait(release)
            assert f"state {state}" in page.text, page.text
            # A result that is there can be had whole; of others there is none.
            for what in ("record", "table", "report"):
                assert (cid.look(f"/release/{release}/get/{what}").status == 200) == (state == "done")
            if state == "failed":
                assert "The release was not made." in page.text
                assert "Nothing was charged." in ada.look(f"/release/{release}/state").text
            # Pressing again leads to the same release.
            proof = dict(cid.look("/").forms[0].fields)["proof"]
            again = cid.post(cid.at(f"/proposal/{proposal}/release"), {"proof": proof})
            assert again.path.endswith(f"/release/{release}")
            assert cid.wait(release).text == page.text
        dataset = veil.Ledger(site.url).dataset("people")
        kinds = [entry.kind for entry in dataset.entries()]
        assert kinds.count("reserve") == (0 if spent == "0" else 1)
        assert kinds.count("confirm") == (1 if state == "done" else 0)
        assert str(dataset.spent.epsilon) == spent
