"""First weights of the campaign families.py, by the names of the tensors."""
import zlib

import numpy as np


def random_weight(name, shape):
    """f32 values that are nowhere all 0 or 1."""
    rng = np.random.RandomState(zlib.crc32(name.encode()))
    value = rng.standard_normal(shape)
    if len(shape) > 1:
        value *= 0.06
    elif "norm" in name or "ln_" in name:
        value = (1.0 if name.endswith("weight") else 0.0) + 0.1 * value
    else:
        value *= 0.05
    return value.astype(np.float32)
