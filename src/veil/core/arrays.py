"""Short names of array types."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Places = NDArray[np.int64]
Booleans = NDArray[np.bool_]
