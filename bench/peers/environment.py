"""One environment for each peer, made once, and small scripts that run in it."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
PEERS = ("opendp", "diffprivlib", "dp-accounting", "quantecon", "networkx", "pandas")
# As many threads for the peers as for Veil.
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
ONE_THREAD = dict.fromkeys(_THREADS, "1")
_SECONDS = 900


class PeerMissing(Exception):
    """A peer that cannot be asked; the text says why."""


@dataclass(frozen=True)
class Answer:
    """What a script found: numbers under names, and arrays."""

    numbers: dict[str, Any]
    arrays: dict[str, Any] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        return float(self.numbers["seconds"])


@dataclass
class Environments:
    """The environments below a folder. wanted: the peers that may be installed and asked.

    versions: those of the peers that have answered.
    """

    folder: Path = ROOT / ".venv-peers"
    wanted: tuple[str, ...] = PEERS
    tell: Callable[[str], None] = print
    versions: dict[str, str] = field(default_factory=dict)
    _failed: dict[str, str] = field(default_factory=dict)

    def python(self, peer: str) -> Path:
        """The interpreter of a peer, whose environment is made if it is not there."""
        if peer not in self.wanted:
            raise PeerMissing("was left out of this run")
        if peer in self._failed:
            raise PeerMissing(self._failed[peer])
        try:
            return self._installed(peer)
        except (OSError, subprocess.SubprocessError) as error:
            self._failed[peer] = f"could not be installed: {_last_line(error)}"
            raise PeerMissing(self._failed[peer]) from None

    def _installed(self, peer: str) -> Path:
        place, listed = self.folder / peer, ROOT / "requirements" / "peers" / f"{peer}.txt"
        python = place / ("Scripts" if os.name == "nt" else "bin") / "python"
        # What is installed is known by the list it was installed from.
        marker, digest = place / ".ready", hashlib.sha256(listed.read_bytes()).hexdigest()
        if python.exists() and marker.is_file() and marker.read_text(encoding="utf-8") == digest:
            return python
        self.tell(f"installing {peer} into {self.folder.name}/{peer}")
        if not python.exists():
            _run([sys.executable, "-m", "venv", str(place)])
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run([*pip, "--require-hashes", "-r", str(listed)])
        marker.write_text(digest, encoding="utf-8")
        return python

    def ask(self, peer: str, task: str, arrays: Mapping[str, Any] | None = None, **settings: Any) -> Answer:
        """Run bench/peers/scripts/<task>_<peer>.py on arrays and settings."""
        python = self.python(peer)
        script = f"bench.peers.scripts.{task}_{peer.replace('-', '_')}"
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for key, array in (arrays or {}).items():
                np.save(folder / f"{key}.npy", np.asarray(array))
            (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
            try:
                done = _run([str(python), "-m", script, str(folder)])
            except subprocess.SubprocessError as error:
                raise PeerMissing(f"failed: {_last_line(error)}") from None
            numbers = json.loads(done)
            found = {path.stem: np.load(path) for path in (folder / "out").glob("*.npy")}
        self.versions[peer] = str(numbers["version"])
        return Answer(numbers, found)


def _run(command: list[str]) -> str:
    kept = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=kept | ONE_THREAD,
        check=True,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
    )
    return done.stdout


def _last_line(error: Exception) -> str:
    said = str(getattr(error, "stderr", "") or "").strip().splitlines()
    # No paths of this machine: they end up on a page.
    text = said[-1] if said else type(error).__name__
    return text.replace(str(ROOT), ".").replace(str(Path.home()), "~")[:200]
