"""Text of others: which labels are plain, and how text is shown."""

from __future__ import annotations

import json
import unicodedata

import pytest

from veil.core.text import fault_in, is_plain_text, json_text, texts_in, visible


@pytest.mark.slow
def test_only_fixed_classes_of_characters_are_refused() -> None:
    refused = [code for code in range(0x110000) if not is_plain_text(chr(code))]
    kinds = {unicodedata.category(chr(code)) for code in refused}
    assert kinds <= {"Cc", "Cf", "Cn", "Cs", "Zl", "Zp"}
    assert all(not is_plain_text(chr(code)) for code in [*range(0x20), *range(0x7F, 0xA0)])
    # What has no meaning yet may have one in a newer Python, which must not make a file unreadable.
    assert is_plain_text("\u0378")
    assert len(refused) == 65 + 2 + 9 + 2048 + 1 + 32 + 34


@pytest.mark.parametrize("text", ["", "plain", "می‌خواهم", "👩‍💻", "a\u00a0b", "x\u200fy"])
def test_plain_text_has_no_fault(text: str) -> None:
    assert is_plain_text(text)
    assert fault_in([text]) is None


def test_a_fault_says_what_and_where_and_quotes_nothing() -> None:
    assert fault_in(["secret", "secret\tsecret"]) == "a control character at position 7 of label 2"


@pytest.mark.slow
def test_no_text_can_steer_a_terminal_or_turn_the_order_of_text() -> None:
    shown = visible("".join(map(chr, range(0x110000))))
    assert not any(unicodedata.category(mark) in ("Cc", "Cs", "Zl", "Zp") for mark in shown)
    turning = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    assert not any(unicodedata.bidirectional(mark) in turning for mark in shown)
    assert not {"\u200e", "\u200f", "\u061c"} & set(shown)
    assert {"\u200c", "\u200d"} <= set(shown)
    assert visible(shown) == shown


def test_json_is_read_as_the_same_text_and_steers_nothing() -> None:
    content = {"a\x1b": ["\x9b31m", "\u202e", "\u200f", "half\ud83d", "é👩‍💻", 1.5, None]}
    text = json_text(content)
    assert json.loads(text) == content
    assert visible(text) == text
    assert "é👩‍💻" in text


def test_all_texts_of_plain_data_are_found() -> None:
    assert texts_in({"a": [1, "b", {"c": ("d", 2.0)}], "e": None}) == ["a", "b", "c", "d", "e"]
