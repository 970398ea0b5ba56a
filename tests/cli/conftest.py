"""The command line in this process, in a folder with matrices, good and bad ones."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from veil.cli.app import run as run_veil

FILES = {
    "roads.csv": "from,a,b,c\na,0.5,0.3,0.2\nb,0.1,0.6,0.3\nc,0.25,0.25,0.5\n",
    "turned.csv": "from,c,a,b\na,0.2,0.5,0.3\nb,0.3,0.1,0.6\nc,0.5,0.25,0.25\n",
    "zeros.csv": "from,a,b,c\na,0.5,0.5,0\nb,0,0.6,0.4\nc,1,0,0\n",
    "support.csv": "from,a,b,c\na,1,1,0\nb,0,1,1\nc,1,0,0\n",
    "policy.csv": "state,left,right\ns1,0.5,0.5\ns2,0.1,0.9\ns3,0.7,0.3\n",
    "square.csv": "state,left,right\ns1,0.5,0.5\ns2,0.1,0.9\n",
    "counts.csv": "from,a,b,c\na,5,3,2\nb,10,60,30\nc,1,1,2\n",
    "plain.csv": "0.5,0.5\n0.2,0.8\n",
    "list.csv": "from,to,probability\na,a,0.5\na,b,0.3\na,c,0.2\nb,a,0.1\nb,b,0.6\nb,c,0.3\n"
    "c,a,0.25\nc,b,0.25\nc,c,0.5\n",
    "chain.json": '{"a": {"a": 0.5, "b": 0.3, "c": 0.2}, "b": {"a": 0.1, "b": 0.6, "c": 0.3}, '
    '"c": {"a": 0.25, "b": 0.25, "c": 0.5}}',
    "cycle.csv": "from,to,probability\na,b,1\nb,c,1\nc,a,1\n",
    "apart.csv": "from,to,probability\na,a,0.5\na,b,0.5\nb,b,1\nc,c,1\n",
    "stuck.csv": "from,to,probability\na,b,1\n",
    "text.csv": "from,a,b\na,0.5,much\nb,0.5,0.5\n",
    "uneven.csv": "a,b\n0.5,0.5\n0.5\n",
    "commas.csv": ",,\n,,\n",
}


@dataclass
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Done]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages without their pictures, which take most of the time, where nobody looks at these."""
    monkeypatch.setattr("veil.report.figures.svg", lambda figure: "<svg></svg>")


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.slow)], ids=["no pictures", "pictures"])
def some_pictures(request: pytest.FixtureRequest) -> None:
    """Pages with their pictures in the slow run only."""
    if not request.param:
        request.getfixturevalue("no_pictures")


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The whole command in this process: its exit code, and what it printed where."""

    def call(*arguments: str, stdin: str = "") -> Done:
        monkeypatch.setattr(sys, "argv", ["veil", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        with pytest.raises(SystemExit) as left:
            run_veil()
        code = left.value.code or 0
        assert isinstance(code, int)
        printed = capsys.readouterr()
        return Done(code, printed.out, printed.err)

    return call
