"""Wrong use of the command line, in the words of other errors: which option, what was expected and found."""

from __future__ import annotations

import difflib
import sys
from typing import Any, Literal, get_args, get_origin

from cyclopts import CoercionError, CycloptsError, MissingArgumentError, ValidationError

from veil.cli.output import print_error, print_json
from veil.core.checks import shown
from veil.core.errors import InvalidArgument

_NUMBERS = {int: "a whole number", float: "a number"}


def print_misuse(error: CycloptsError, *, as_json: bool) -> int:
    """Say what is wrong with the arguments. Returns the exit code."""
    found = _invalid_argument(error)
    if found is not None:
        assert error.argument is not None
        print_error(found, as_json=as_json, flags={found.field: error.argument.name})
    elif as_json:
        print_json({"error": {"kind": "Usage", "message": str(error)}})
    else:
        print(f"veil: {error}", file=sys.stderr)
    return InvalidArgument.exit_code


def _invalid_argument(error: CycloptsError) -> InvalidArgument | None:
    """The error that the library would raise; None where Cyclopts has the better words."""
    if error.argument is None:
        return None
    field = error.argument.field_info.name
    if isinstance(error, MissingArgumentError) and not error.unused_tokens:
        return InvalidArgument(field, expected="a value", found="none")
    if isinstance(error, ValidationError) and isinstance(error.__cause__, InvalidArgument):
        return error.__cause__
    if isinstance(error, CoercionError) and error.token is not None:
        expected, hint = _expected(error.target_type, error.token.value)
        if expected:
            return InvalidArgument(field, expected=expected, found=shown(error.token.value), hint=hint)
    return None


def _expected(kind: Any, text: str) -> tuple[str, str]:
    """What an option takes, and a hint where the text is nearly that."""
    kinds = (kind, *get_args(kind))
    words = [str(word) for one in kinds if get_origin(one) is Literal for word in get_args(one)]
    if words:
        near = difflib.get_close_matches(text, words, n=1)
        return " or ".join(map(repr, words)), f"Did you mean {near[0]!r}?" if near else ""
    return next((_NUMBERS[one] for one in kinds if one in _NUMBERS), ""), ""
