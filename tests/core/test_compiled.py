"""Compiled functions: they call one another, and do without a folder for their machine code."""

from collections.abc import Callable

from veil.core.numerics.compiled import compiled


@compiled
def _square(x: float) -> float:
    return x * x


@compiled
def _sum_of_squares(numbers: int) -> float:
    """Add them up."""
    total = 0.0
    for x in range(numbers):
        total += _square(float(x))
    return total


def test_compiled_functions_call_one_another() -> None:
    assert _sum_of_squares(4) == 14.0
    assert _sum_of_squares.__doc__ == "Add them up."


def test_without_a_folder_for_the_cache() -> None:
    # Numba finds no place for the machine code of a function that is in no file.
    namespace: dict[str, Callable[[int], int]] = {}
    exec("def double(x):\n    return 2 * x", namespace)
    assert compiled(namespace["double"])(21) == 42
