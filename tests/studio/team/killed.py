"""A process of a team's workbench, and its release, that are killed at a point on the way.

`python -m tests.studio.team.killed URL FOLDER RELEASE POINT` makes what waits, and is killed there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from tests.studio.killed import WORKER, passing
from tests.studio.team.conftest import Site

BY_THE_SERVER = ("claimed", "started", "ordered", "ended")


def main(url: str, folder: Path, release: str, point: str) -> None:
    """Make the release that waits."""
    from veil.studio import jobs
    from veil.studio.team.database import Database
    from veil.studio.team.runner import Runner
    from veil.studio.team.sealing import Sealing
    from veil.studio.team.settings import Settings
    from veil.studio.team.team import Team

    os.environ |= {"VEIL_TEST_POINT": point, "VEIL_TEST_SERVER": str(os.getpid())}
    # The worker is looked for where this module is.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    jobs.WORKER = WORKER
    passing(Runner, "_make", before="claimed")
    passing(subprocess.Popen, "wait", before="ordered")
    passing(subprocess, "Popen", after="started")
    passing(Runner, "_end", before="ended")
    site = Site(url, folder)
    settings = Settings("http://127.0.0.1:1", folder / "work", url, data=site.data)
    team = Team.opened(settings, Database(url), Sealing.of(f"file:{site.key}"))
    team.runner.start()
    while True:
        with team.database.begin() as rows:
            found = rows.one("SELECT state FROM veil_studio_releases WHERE id = :id", id=release)
        assert found is not None
        if found["state"] not in ("waiting", "running"):
            raise SystemExit(f"not killed: {found['state']}")
        time.sleep(0.05)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], sys.argv[4])
