"""usage: same-predictions.py FILE FILE...

Files of predictions have the same tensors: integers are equal, floating-point
numbers within 1e-6 of the largest.
"""
import array
import json
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    assert header.pop("__metadata__")["weft"] == "predictions"
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + at for at in entry["data_offsets"])
        tensors[name] = array.array({"F32": "f", "I32": "i"}[entry["dtype"]], data[begin:end])
    return tensors


files = [read(path) for path in sys.argv[1:]]
for path, file in zip(sys.argv[1:], files):
    if file.keys() != files[0].keys():
        sys.exit(f"{path}: has {list(file)}")
    for name, first in files[0].items():
        bound = 1e-6 * max(map(abs, first)) if first.typecode == "f" else 0
        if len(file[name]) != len(first) or any(not abs(a - b) <= bound for a, b in zip(file[name], first)):
            sys.exit(f"{path}: {name} is {list(file[name])}, not {list(first)}")
print(f"{len(files)} files, {len(next(iter(files[0].values())))} rows")
