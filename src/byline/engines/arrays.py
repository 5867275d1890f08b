"""The array types that engines share; the shape is said where an array is used."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats64 = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Ints64 = NDArray[np.int64]
Ints32 = NDArray[np.int32]
Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]
