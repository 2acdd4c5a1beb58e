"""Adds an array of bools to the metadata of a GGUF file.

Usage: add_gguf_flags.py FILE OUT KEY FLAGS
FLAGS: a 0 or 1 for each element, such as 0110.
"""
import struct
import sys

path, out, key, flags = sys.argv[1:]
ALIGNMENT = 32
with open(path, "rb") as file:
    data = file.read()
magic, version, tensors, values = struct.unpack_from("<4sIQQ", data)
# The last tensor has the largest offset; its description ends the head, which zeros fill up.
name = b"output_norm.weight"
end = data.index(struct.pack("<Q", len(name)) + name) + 8 + len(name)
dimensions = struct.unpack_from("<I", data, end)[0]
end += 4 + 8 * dimensions + 4 + 8
head = end + -end % ALIGNMENT
assert not any(data[end:head]), "expects output_norm.weight as the last tensor"
added = struct.pack("<Q", len(key)) + key.encode() + struct.pack("<IIQ", 9, 7, len(flags))
added += bytes(int(flag) for flag in flags)
made = struct.pack("<4sIQQ", magic, version, tensors, values + 1) + added + data[24:end]
with open(out, "wb") as file:
    file.write(made + bytes(-len(made) % ALIGNMENT) + data[head:])
