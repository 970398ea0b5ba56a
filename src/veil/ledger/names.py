"""Names of datasets: two that look alike would be two budgets for the same data."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Any

from veil.core.checks import shown
from veil.core.errors import InvalidArgument
from veil.core.text import is_plain_text

# What looks like the Latin letter before it in usual fonts: of Cyrillic, of Greek, digits and others.
_LOOK_ALIKE = {
    "a": "аαɑ", "b": "вβ", "c": "с", "d": "ԁ", "e": "еε", "g": "ɡ", "h": "һн", "j": "ј", "k": "кκ",
    "l": "ӏ1|iıіιℓ", "m": "м", "n": "η", "o": "оο0", "p": "рρ", "q": "ԛ", "r": "г", "s": "ѕ",
    "t": "тτ", "u": "υ", "v": "ν", "w": "ԝω", "x": "хχ", "y": "уγ",
}  # fmt: skip
_ALIKE = str.maketrans({other: letter for letter, others in _LOOK_ALIKE.items() for other in others})


def check_name(name: Any) -> None:
    """Whether it can be the name of a dataset."""
    if not isinstance(name, str) or not is_plain_text(name) or not name.strip() or len(name) > 200:
        raise InvalidArgument("name", expected="one line of at most 200 characters", found=shown(name))
    if name != unicodedata.normalize("NFC", name.strip()):
        expected = "a name without spaces around it, in composed letters (NFC)"
        raise InvalidArgument("name", expected=expected, found=ascii(name)[:60])


def check_new_name(name: str, taken: Iterable[str]) -> None:
    """Whether a new name looks like one that is taken. Older ones that do can still be used."""
    looks = look_of(name)
    for other in set(taken) - {name}:
        if look_of(other) == looks:
            raise InvalidArgument(
                "name",
                expected="a name that does not look like another",
                found=f"{name!r}, beside {other!r}",
                hint="Two names for the same data would be two budgets.",
            )


def look_of(name: str) -> str:
    """The same text for names that people may take for each other: case, width, look-alikes."""
    folded = unicodedata.normalize("NFKC", name).casefold().translate(_ALIKE)
    # Of dashes and of blanks there are many; marks without a width are not seen at all.
    classes = {"Pd": "-", "Zs": " ", "Cf": ""}
    return "".join(classes.get(unicodedata.category(mark), mark) for mark in folded)
