"""How many threads linear algebra takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_thread() -> Iterator[None]:
    """Many small products: threads would wait for one another longer than they work.

    On a busy machine that made a decoding of 300 nodes take seven times as long.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield
