#!/usr/bin/env python3
"""usage: edit_checkpoint.py STEP TENSOR [NUMBER] -- COMMAND...

Writes NaN into the first element of an f32 tensor of a checkpoint, or NUMBER into
that of an i64 one, and the digests that COMMAND, which resumes from it, expects
instead of the old ones, one after the other. Prints what COMMAND says at last.
"""
import json
import os
import re
import struct
import subprocess
import sys

end = sys.argv.index("--")
(step, tensor, *number), command = sys.argv[1:end], sys.argv[end + 1:]
path = os.path.join(step, "rank_00000.safetensors")
with open(path, "rb") as file:
    data = bytearray(file.read())
(length,) = struct.unpack("<Q", data[:8])
header = json.loads(data[8:8 + length])
at = 8 + length + header[tensor]["data_offsets"][0]
value = struct.pack("<q", int(number[0])) if number else struct.pack("<f", float("nan"))
data[at:at + len(value)] = value
with open(path, "wb") as file:
    file.write(data)

manifest = os.path.join(step, "MANIFEST.json")
for _ in range(8):
    result = subprocess.run(command, capture_output=True, text=True)
    found = re.search(r"expects digest (\w+) .* but got '?(\w+)", result.stderr)
    if not found:
        break
    with open(manifest) as file:
        text = file.read()
    old, new = found.groups() if found[1] in text else reversed(found.groups())
    with open(manifest, "w") as file:
        file.write(text.replace(old, new))
print(result.stderr, end="")
