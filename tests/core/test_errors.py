"""Errors carry their parts, and survive the way between processes."""

import pickle

import pytest

from veil.errors import (
    BudgetExceeded,
    CannotCalibrate,
    InvalidArgument,
    InvalidData,
    InvalidField,
    MissingExtra,
    NoGuarantee,
    OutputExists,
    UnreadableFile,
    VeilError,
)


@pytest.mark.parametrize("kind", [InvalidField, InvalidArgument, InvalidData, UnreadableFile, OutputExists])
@pytest.mark.parametrize("hint", ["", "Divide first."])
def test_a_field_error(kind: type[InvalidField], hint: str) -> None:
    error = kind("floor", expected="less", found="more", hint=hint)
    assert str(error) == "floor: expected less, found more." + (" Divide first." if hint else "")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert (again.field, again.expected, again.found, again.hint) == ("floor", "less", "more", hint)
    assert str(again) == str(error)
    assert isinstance(error, VeilError)
    assert isinstance(error, ValueError)


def test_other_fields_have_the_names_of_the_interface() -> None:
    """Arguments in Python, options on the command line; braces that name no field stay as they are."""
    error = InvalidArgument(
        "cap",
        expected="{unit=user} with it, or {cap=10}",
        found="{unit=event} of {whom}",
        hint="See {by} and {sequences=True}.",
        names=("unit", "cap", "by", "sequences"),
    )
    rest = 'unit="user" with it, or cap=10, found unit="event" of {whom}. See by= and sequences=True.'
    assert str(error) == f"cap: expected {rest}"
    flags = {name: f"--{name}" for name in ("cap", "unit", "by", "sequences", "whom")}
    assert error.sentence(flags) == (
        "--cap: expected --unit user with it, or --cap 10, found --unit event of {whom}. "
        "See --by and --sequences."
    )
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_budget_error() -> None:
    error = BudgetExceeded(spent="1", asked="2", remaining="0.5")
    again = pickle.loads(pickle.dumps(error))
    assert (again.spent, again.asked, again.remaining) == ("1", "2", "0.5")
    assert all(part in str(error) for part in ("2 asked", "0.5 remaining", "1 spent"))


def test_a_missing_library() -> None:
    again = pickle.loads(pickle.dumps(MissingExtra("pandas", "pandas")))
    assert "veil[pandas]" in str(again)


def test_what_the_command_line_returns() -> None:
    codes = {kind: kind.exit_code for kind in (VeilError, InvalidArgument, BudgetExceeded, InvalidData)}
    assert list(codes.values()) == [1, 2, 3, 4]
    assert issubclass(CannotCalibrate, NoGuarantee)
