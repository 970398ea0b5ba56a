"""Slow steps say what they do, to whoever listens."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from io import StringIO
from typing import Any

import pytest

import veil
from veil import graphs, words
from veil.cli.output import working
from veil.core.checks import on_progress
from veil.core.errors import InvalidArgument
from veil.core.progress import part, same_listener, tell, telling

PATH = {"a": ["a", "b"], "b": ["a", "b", "c"], "c": ["b", "c"]}


def test_nobody_is_told_unless_somebody_listens() -> None:
    told: list[str] = []
    tell("before")
    with veil.progress(told.append):
        tell("inside")
        with part("a part"):
            tell("1 of 2")
            with part("deeper"):
                tell("2 of 2")
        tell("again")
    tell("after")
    deeper = ["a part: 1 of 2", "a part: deeper", "a part: deeper: 2 of 2"]
    assert told == ["inside", "a part", *deeper, "again"]


def test_the_inner_listener_is_told_and_the_outer_one_again_after_an_error() -> None:
    outer: list[str] = []
    inner: list[str] = []
    with veil.progress(outer.append):
        with suppress(RuntimeError), veil.progress(inner.append):
            tell("one")
            raise RuntimeError
        with telling(None):
            tell("two")
    assert (inner, outer) == (["one"], ["two"])


def test_another_thread_tells_the_same_listener() -> None:
    told: list[str] = []
    with veil.progress(told.append), ThreadPoolExecutor(1) as other:
        other.submit(tell, "nobody hears this").result()
        other.submit(same_listener().run, tell, "this").result()
    assert told == ["this"]


def test_a_listener_is_a_function() -> None:
    wrong = r"listener: expected a function that takes text, found int"
    with pytest.raises(InvalidArgument, match=wrong), veil.progress(3):  # type: ignore[arg-type]
        tell("never")
    assert on_progress("progress", None) is tell


@pytest.mark.slow
def test_the_certificates_of_words_tell_how_far_they_are() -> None:
    told: list[str] = []
    with veil.progress(told.append):
        words.plan(chain=PATH, length=3, epsilon=1.375)
    starts = {step.split(":")[0] for step in told}
    assert {"balanced", "exponential", "sequential"} <= starts
    assert "exponential: certificate 1 of at most 12" in told
    assert any(step.startswith("exponential: certificate 1 of at most 12: position ") for step in told)
    assert any("weights 1 of at most" in step for step in told)
    # No step of the search for one mechanism is told as one of another.
    assert not any(step.startswith("sequential: certificate") for step in told)


@pytest.mark.slow
def test_a_function_given_to_one_call_hears_the_same() -> None:
    told: list[str] = []
    mechanism = veil.bits.RandomizedResponse(1.0)
    pairs = veil.audit_pairs(mechanism)[:1]
    veil.audit_suite(mechanism, pairs=pairs, samples=1_000, rng=1, progress=told.append)
    heard: list[str] = []
    with veil.progress(heard.append):
        veil.audit_suite(mechanism, pairs=pairs, samples=1_000, rng=1)
    assert told == heard
    assert "pair 1 of" in told[0]


def test_decoding_a_graph_tells_its_rounds() -> None:
    told: list[str] = []
    edges = [(i, j) for i in range(40) for j in range(i + 1, 40) if (i < 20) == (j < 20)]
    out = graphs.release(graphs.read(edges, nodes=40), epsilon=2.0, rng=1)
    with veil.progress(told.append):
        graphs.decode(out)
    assert any(step.startswith("structure of the graph, round 1 of") for step in told)


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("stream", "quiet"), [(StringIO, False), (Terminal, True)])
def test_pipes_and_json_stay_silent(stream: Any, quiet: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    screen = stream()
    monkeypatch.setattr(sys, "stderr", screen)
    with veil.progress(told.append), working("Measuring", quiet=quiet) as say:
        say("a step")
        tell("another")
    assert screen.getvalue() == ""
    # A program that runs a command hears all of its steps.
    assert told == ["Measuring", "a step", "another"]


def test_a_terminal_shows_what_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.status import Status

    shown: list[str] = []
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(Status, "update", lambda self, text: shown.append(str(text)))
    with working("Measuring", quiet=False):
        tell("pair 3 of 8")
        tell("steering \x1b[2J the terminal")
    assert shown == ["Measuring: pair 3 of 8", r"Measuring: steering \x1b[2J the terminal"]
    tell("nobody listens")
    assert len(shown) == 2
