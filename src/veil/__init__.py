"""Veil releases structured data under differential privacy, with guarantees that anyone can check.

Each kind of data is a module with `read`, `plan` and `release`: `vectors`, `matrices`, `chains`, `words`,
`bits`, `graphs` and `trips`. What is behind a name is imported when it is first used, so that ``import veil``
costs little.
The names are listed in one place, the stub file beside this one.
"""

import lazy_loader

import veil.kinds as _kinds  # noqa: F401
from veil.version import __version__ as __version__

__getattr__, _, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ = sorted((*__all__, "__version__"))


def __dir__() -> list[str]:
    return list(__all__)
