"""Who is told what is being done: slow steps say it, and whoever waits may listen.

Code deep inside says `tell("pair 3 of 8")`, and knows nothing of terminals. What is told depends on what was
asked for and on public numbers alone, never on a sensitive value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context

from veil.core.errors import InvalidArgument

Listener = Callable[[str], None]

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def tell(step: str) -> None:
    """Say what is being done to whoever listens; quick where nobody does."""
    listener = _listener.get()
    if listener is not None:
        listener(step)


@contextmanager
def progress(listener: Listener) -> Iterator[None]:
    """Be told what slow steps are doing: the function is called with a short text at each of them.

    It holds for all that is called inside the `with`, in this thread. An error that the function raises ends
    the step.

    >>> import veil
    >>> told = []
    >>> with veil.progress(told.append):
    ...     plan = veil.vectors.plan(size=4, records=100, epsilon=1.0)
    >>> told[0]
    'dirichlet'
    """
    if not callable(listener):
        raise InvalidArgument(
            "listener", expected="a function that takes text", found=type(listener).__name__
        )
    with telling(listener):
        yield


@contextmanager
def telling(listener: Listener | None) -> Iterator[None]:
    """Tell this function; None for whoever listens already."""
    if listener is None or listener is tell:
        yield
        return
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def part(name: str) -> Iterator[None]:
    """Say what is begun; what is told inside is told as a part of it, after its name."""
    listener = _listener.get()
    if listener is None:
        yield
        return
    listener(name)
    with telling(lambda step: listener(f"{name}: {step}")):
        yield


def same_listener() -> Context:
    """A context for work in another thread, which is to tell the same function: `same_listener().run(f)`."""
    return copy_context()
