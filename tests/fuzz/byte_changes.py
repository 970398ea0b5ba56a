"""Files as bytes, a little broken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

PIECES: tuple[bytes, ...] = (
    b"",
    b"\x00",
    b"\xff",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\x1a",
    b"\x85",
    b"\xe2\x80\xa8",
    b'"',
    b"'",
    b",",
    b";",
    b"\t",
    b" ",
    b"\n",
    b"\r",
    b"\r\n",
    b"\n\n\n",
    b"#",
    b"%",
    b"{",
    b"}",
    b"[",
    b"]",
    b"[" * 3000,
    b'{"a":' * 1500,
    b"nan",
    b"NaN",
    b"inf",
    b"-inf",
    b"1e999",
    b"-1",
    b"0",
    b"0.5",
    b"1_000",
    b"0x10",
    b"9" * 25,
    b"9" * 5000,
    b"1" * 400,
    b"1,000",
    b"50%",
    b"NULL",
    b"null",
    b"true",
    b"?",
    b"NA",
    b"2020-02-30",
    b"x" * 70_000,
    "٣".encode(),
    "é".encode("latin-1"),
    "a,b\n".encode("utf-16"),
    b"a,a\n",
    b"-- ; DROP TABLE x",
    b"'); --",
    b"../..",
)

pieces = st.sampled_from(PIECES) | st.binary(max_size=6)


@st.composite
def changed(draw: Any, files: Callable[[], list[bytes]]) -> bytes:
    """One of the files with one to four changes of its bytes. files: makes them when the first is drawn."""
    content: bytes = draw(st.sampled_from(files()))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.sampled_from((0, 0, 1, 2, 8, 40, 10**9))))
        how = draw(st.sampled_from(("put", "put", "cut", "twice", "flip")))
        if how == "put":
            content = content[:start] + draw(pieces) + content[end:]
        elif how == "cut":
            content = content[:start] + content[end:]
        elif how == "twice":
            content = (
                content[:end] + content[start:end][:2000] * draw(st.sampled_from((1, 3, 50))) + content[end:]
            )
        elif start < len(content):
            content = (
                content[:start]
                + bytes([content[start] ^ 1 << draw(st.integers(0, 7))])
                + content[start + 1 :]
            )
    return content
