"""What is printed for people never steers their terminal, whoever wrote the text."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.table import Table
from rich.text import Text

from tests.cli.conftest import Run
from veil.cli.output import working
from veil.core.text import visible
from veil.report.console import TerminalConsole
from veil.report.terminal import say

EVIL = "x\x1b[2J\x9b31m\u202ey"


def _is_harmless(text: str) -> bool:
    return all(visible(line) == line for line in text.split("\n"))


@pytest.mark.parametrize(
    "arguments",
    [
        ("inspect", EVIL),
        ("inspect", f"{EVIL}.json", "--rigorous"),
        ("release", "vector", f"{EVIL}.csv", "-e", "1"),
        ("release", "vector", "roads.csv", "-e", EVIL),
        ("release", "vector", "roads.csv", "-e", "1", "-o", f"{EVIL}/out.json"),
        ("release", "vector", "roads.csv", "-e", "1", "-m", EVIL),
        ("release", EVIL),
        ("plan", "vector", f"--{EVIL}"),
        (EVIL,),
        ("ledger", "show", f"{EVIL}.db", EVIL),
        ("ledger", "show", f"sqlite:///{EVIL}.db"),
        ("chain", EVIL),
        ("audit", EVIL),
    ],
    ids=ascii,
)
def test_errors_show_control_characters_by_number(run: Run, arguments: tuple[str, ...]) -> None:
    for extra in ((), ("--json",)):
        done = run(*arguments, *extra)
        assert done.code in (2, 4, 6)
        assert _is_harmless(done.out)
        assert _is_harmless(done.err)


@pytest.mark.slow
def test_a_crafted_record_cannot_steer_the_terminal(run: Run) -> None:
    assert run("release", "matrix", "roads.csv", "-e", "1", "--transfer", "0.1", "-o", "out.json").code == 0
    content = json.loads(Path("out.json").read_text())

    def places(at: Any) -> list[tuple[Any, Any]]:
        pairs = list(at.items() if isinstance(at, dict) else enumerate(at) if isinstance(at, list) else ())
        found = [(at, key) for key, item in pairs if isinstance(item, str)]
        return found + [place for _, item in pairs for place in places(item)]

    for holder, key in places(content):
        before = holder[key]
        holder[key] = before + EVIL
        Path("changed.json").write_text(json.dumps(content))
        for more in ((), ("--json",)):
            done = run("inspect", "changed.json", *more)
            assert _is_harmless(done.out)
            assert _is_harmless(done.err)
        holder[key] = before


@pytest.mark.slow
def test_labels_are_text_and_no_markup(run: Run) -> None:
    Path("labels.csv").write_text(
        "label,count\n[red]a[/red],300\n\u200f\u05d0,200\n\u0645\u06cc\u200c\u062e,100\n"
    )
    done = run("release", "vector", "labels.csv", "-e", "1", "-o", "out.json")
    assert done.code == 0
    assert "[red]a[/red]" in done.out
    assert "\\u200f\u05d0" in done.out
    assert "\u0645\u06cc\u200c\u062e" in done.out
    shown = run("release", "vector", "labels.csv", "-e", "1", "--json").out
    assert "\\u200f" in shown
    assert "\u200f" not in shown
    assert json.loads(shown)["value"]["labels"][1] == "\u200f\u05d0"


def test_names_of_files_are_shown_in_one_line(run: Run) -> None:
    Path("labels.csv").write_text("label,count\na,300\nb,200\n")
    done = run("release", "vector", "labels.csv", "-e", "1", "-o", "a\nCharged to nobody.json")
    assert done.code == 0
    assert "a\\x0aCharged to nobody.json" in done.out


def test_tables_and_texts_of_the_console_pass_the_same_place() -> None:
    stream = io.StringIO()
    console = TerminalConsole(file=stream, markup=False, highlight=False, force_terminal=True, width=80)
    table = Table(box=None)
    table.add_column("\x1b]0;title\x07")
    table.add_row(EVIL)
    table.add_row(Text(EVIL, style="red"))
    console.print(table)
    console.print(Text(EVIL), EVIL)
    shown = stream.getvalue()
    assert "\x1b[2J" not in shown
    assert "\x1b]0" not in shown
    assert not {"\x9b", "\u202e", "\x07"} & set(shown)
    assert shown.count("\\x1b[2J\\x9b31m\\u202e") == 4


def test_the_spinner_takes_no_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    with working("Reading", quiet=False) as progress:
        progress(f"[bold]{EVIL}")
    assert "\x1b[2J" not in screen.getvalue()


def test_nothing_is_printed_where_a_stream_is_closed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as closed:
        closed.setattr("sys.stderr", None)
        say("to nobody", error=True)
    # Nor does it come out elsewhere.
    assert capsys.readouterr() == ("", "")
