"""The page of a released table of bits: from the record and public facts alone, in words for people."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import veil
from veil.bits.planning import plan_bits
from veil.bits.report.page import bit_page

TABLE = np.random.default_rng(2).random((300, 4)) < (0.2, 0.5, 0.7, 0.4)


def made(value: Any = TABLE, **options: Any) -> veil.Release[Any]:
    return veil.bits.release(value, **({"epsilon": 2.0, "rng": 4} | options))


def page(**options: Any) -> str:
    return bit_page(made(**options))


def plain(text: str) -> str:
    """What a reader sees, in one line."""
    text = re.sub(r"<style.*?</style>|<svg.*?</svg>", " ", text, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text)).replace("&nbsp;", " ")


@pytest.mark.slow
def test_what_the_page_says() -> None:
    text = plain(page())
    for part in (
        "300 rows of 4 bits, released by StaircaseXor",
        "ε = 2",
        "privacy loss of a whole row",
        "30.01 %",
        "50 % would be pure noise",
        "Not private.",
        "How many ones there are",
        "Which columns go together",
        "belief after, at most",
        "Other mechanisms at the same ε",
    ):
        assert part in text
    assert "A whole row is hidden less." not in text


@pytest.mark.slow
def test_single_bits() -> None:
    text = plain(page(unit="bit"))
    assert "privacy loss of a bit" in text
    assert (
        "A whole row is hidden less. For rows that differ in k bits the privacy loss can reach k times 2."
        in text
    )


@pytest.mark.slow
def test_some_bits_of_a_row() -> None:
    text = plain(page(flips=2))
    assert "privacy loss of 2 bits of a row" in text
    assert "Only 2 of its 4 bits are hidden at once." in text


@pytest.mark.slow
def test_mostly_noise_is_said() -> None:
    assert "Mostly noise." in plain(page(epsilon=0.01))
    assert "Mostly noise." not in plain(page())


def test_the_shares_are_those_of_the_estimates() -> None:
    out = made()
    share = veil.bits.estimates(out).shares[0]
    text = plain(bit_page(out))
    for value in share:
        assert f" {min(max(float(value), 0.0), 1.0):.3f} " in text


@pytest.mark.slow
def test_many_columns_are_cut_short() -> None:
    wide = np.zeros((5, 60), dtype=bool)
    assert "And 20 more columns." in plain(page(value=wide))


@pytest.mark.slow
def test_labels_cannot_break_the_page() -> None:
    import pandas as pd

    frame = pd.DataFrame(TABLE, columns=["<script>alert(1)</script>", "b", "$x^$", "d"])
    assert "<script>" not in page(value=frame)


def test_the_page_needs_nothing_else() -> None:
    text = page()
    assert not re.findall(r"""(?:src|href)=["']http""", text)
    assert "<script" not in text


@pytest.mark.slow
def test_a_record_has_the_same_page(tmp_path: Path) -> None:
    out = made()
    out.save(tmp_path / "bits.json")
    again = bit_page(veil.load(tmp_path / "bits.json"))
    assert plain(again) == plain(bit_page(out))


def test_what_is_said_to_be_proved_is_true() -> None:
    """Two rows of four bits, any two of which are hidden: a staircase of eight has fewer wrong bits."""
    asked = {"value": TABLE[:2], "unit": "bit", "flips": 2}
    best = plan_bits(4, 2.0, unit="bit", flips=2).best.flip_rate
    assert veil.bits.StaircaseXor(8, 2.0, flips=2).flip_rate < best
    assert "that is proved" not in plain(page(**asked))


def test_what_is_said_of_very_wide_tables_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("veil.bits.planning.MOST_BITS", 3)
    assert made().mechanism.name == "RandomizedResponse"
    assert "that is proved" not in plain(page())


def test_one_column() -> None:
    text = plain(page(value=TABLE[:, :1]))
    assert "rows of 1 bits" not in text
    assert "One column more or less changes that" not in text


def test_one_row() -> None:
    assert "nan" not in plain(page(value=TABLE[:1]))
