"""The types of the arrays of this method."""

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
Indices = npt.NDArray[np.int64]
Places = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]
