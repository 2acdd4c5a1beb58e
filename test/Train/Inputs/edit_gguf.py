"""Changes a number of a GGUF file in place, or its last 64 bytes, and restores the time of change.

Usage: edit_gguf.py FILE [KEY NUMBER]
"""
import os
import struct
import sys

path = sys.argv[1]
info = os.stat(path)
with open(path, "r+b") as file:
    if len(sys.argv) == 2:
        file.seek(-64, os.SEEK_END)
        file.write(struct.pack("<16f", *[0.5] * 16))
    else:
        key = sys.argv[2].encode()
        # The type of an f32 stands between the key and its value.
        file.seek(file.read().index(struct.pack("<Q", len(key)) + key) + 8 + len(key))
        assert file.read(4) == struct.pack("<I", 6)
        file.seek(file.tell())
        file.write(struct.pack("<f", float(sys.argv[3])))
os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
