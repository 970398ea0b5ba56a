"""Languages and public words as users give them: as objects, or as files."""

from __future__ import annotations

import os
from typing import Any

from veil.core.errors import InvalidArgument, UnreadableFile, VeilError
from veil.core.kinds import kind_named
from veil.core.registry import domain_from
from veil.tables.files import file_of, name_of, text_bytes
from veil.tables.json_texts import parse_json
from veil.tables.sequences import SequenceFile
from veil.words.language import Language
from veil.words.reading import read_words


def given_language(value: Any) -> Language | None:
    """A language: as it is, or from a JSON file with its description, or with a release of such words."""
    if value is None or isinstance(value, Language):
        return value
    if not isinstance(value, (str, os.PathLike)):
        expected = "a language such as words.FreeWords, or a file that describes one"
        raise InvalidArgument("language", expected=expected, found=type(value).__name__)
    file = file_of(value)
    raw, name = text_bytes(file), name_of(file)
    try:
        content = parse_json(raw, name)
        fields = dict(content.get("domain", content))
        # A record describes its domain in words as well.
        fields.pop("words", None)
        found = domain_from(fields, kind_named("words"))
    except (VeilError, ValueError, TypeError, AttributeError, RecursionError) as error:
        expected = "the description of a language, as in the record of released words"
        what = str(error).rstrip(".") if isinstance(error, VeilError) else "something else"
        raise UnreadableFile(name, expected=expected, found=what) from None
    assert isinstance(found, Language)
    return found


def given_words(value: Any, language: Language) -> Any:
    """Public words: as they are, or from a text file with one per line."""
    if not isinstance(value, (str, os.PathLike)):
        return value
    return read_words(SequenceFile(os.fspath(value)), states=list(language.labels)).batch
