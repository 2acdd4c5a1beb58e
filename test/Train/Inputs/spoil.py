#!/usr/bin/env python3
"""Copies a safetensors file with a NaN in one element of an F32 tensor.

usage: spoil.py IN OUT TENSOR ELEMENT
"""
import json
import struct
import sys

source, target, tensor, element = sys.argv[1:]
with open(source, "rb") as file:
    data = bytearray(file.read())
(length,) = struct.unpack("<Q", data[:8])
info = json.loads(data[8:8 + length])[tensor]
assert info["dtype"] == "F32", info
struct.pack_into("<f", data, 8 + length + info["data_offsets"][0] + 4 * int(element), float("nan"))
with open(target, "wb") as file:
    file.write(data)
