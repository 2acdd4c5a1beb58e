"""Safetensors files and sketches of tensors; needs numpy only.

A sketch stands for a tensor that is too large to store: its L2 norm and its
products with K = 256 vectors of random signs. For the difference d of two
tensors the mean of the squared differences of their products has expectation
|d|^2 (Alon, Matias and Szegedy), with a standard deviation of sqrt(2 / K) = 9 %.
The signs come from an integer hash of the element's index, so they are the same
everywhere.
"""
import json
import struct

import numpy as np

SKETCH = 256
DTYPES = {"BOOL": np.bool_, "F32": np.float32, "F64": np.float64,
          "I32": np.int32, "I64": np.int64}


def read_tensors(path):
    """All tensors of a file by name."""
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, info in header.items():
        begin, end = (8 + length + offset for offset in info["data_offsets"])
        flat = np.frombuffer(data[begin:end], DTYPES[info["dtype"]])
        tensors[name] = flat.reshape(info["shape"])
    return tensors


def write_tensors(path, tensors):
    """Writes numpy arrays in the order of the dictionary."""
    names = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
    header, position = {}, 0
    for name, value in tensors.items():
        header[name] = {
            "dtype": names[value.dtype],
            "shape": list(value.shape),
            "data_offsets": [position, position + value.nbytes],
        }
        position += value.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for value in tensors.values():
            file.write(np.ascontiguousarray(value).tobytes())


def _mix(values):
    """splitmix64's finalizer, element by element."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _signs(begin, end, group):
    """Signs of elements [begin, end) for projections 64 group .. 64 group + 63."""
    index = np.arange(begin, end, dtype=np.uint64)
    key = index * np.uint64(4) + np.uint64(group + 1)
    bits = _mix(key * np.uint64(0x9E3779B97F4A7C15))
    bytes_ = bits.astype("<u8").view(np.uint8).reshape(-1, 8)
    return np.unpackbits(bytes_, axis=1, bitorder="little")


def sketch(tensor):
    """The SKETCH products of a tensor with random signs, in float64."""
    flat = np.asarray(tensor, np.float64).reshape(-1)
    products = np.zeros(SKETCH)
    for begin in range(0, flat.size, 8192):
        part = flat[begin:begin + 8192]
        total = part.sum()
        for group in range(SKETCH // 64):
            signs = _signs(begin, begin + part.size, group)
            products[64 * group:64 * group + 64] += 2.0 * (part @ signs) - total
    return products


def sketch_distance(a, b):
    """Estimate of the L2 norm of the difference from two sketches."""
    return float(np.sqrt(np.mean((np.asarray(a) - np.asarray(b)) ** 2)))
