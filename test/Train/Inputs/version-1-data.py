"""Writes the data of the checkpoints in version-1 to the current folder: tokens.bin and rows.safetensors."""
import json
import struct

with open("tokens.bin", "wb") as file:
    file.write(struct.pack("<65H", *((i * 7 + i // 5) % 16 for i in range(65))))
header = json.dumps({"x": {"dtype": "F32", "shape": [8, 4], "data_offsets": [0, 128]}}).encode()
header += b" " * (-len(header) % 8)
with open("rows.safetensors", "wb") as file:
    file.write(struct.pack("<Q", len(header)) + header)
    file.write(struct.pack("<32f", *(((i * 5) % 7 - 3) / 2 for i in range(32))))
