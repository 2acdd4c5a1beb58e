"""six-units.py ROWS WIDTH: a model of six square layers, h.0 to h.5, and a file of rows.

Writes units.mlir and rows.safetensors to the current folder. Each unit is gathered and reduced as one.
"""
import json
import random
import struct
import sys

UNITS = 6


def model(rows, width):
    square, batch = f"tensor<{width}x{width}xf32>", f"tensor<{rows}x{width}xf32>"
    bound = (3.0 / width) ** 0.5
    lines = ["module @units {"]
    for unit in range(UNITS):
        lines.append(f'  weft.param @h.{unit}.w : {square} {{scope = "h.{unit}", init = #weft.init<uniform, {-bound}, {bound}>}}')
    lines.append(f'  weft.program @model(%x: {batch} {{weft.input = "x"}}, %y: {batch} {{weft.input = "y"}})'
                 ' -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {')
    last = "%x"
    for unit in range(UNITS):
        scope = f'{{transpose_rhs, weft.scope = "h.{unit}"}}'
        lines.append(f"    %w{unit} = weft.read @h.{unit}.w : {square}")
        lines.append(f"    %m{unit} = weft.matmul {last}, %w{unit} {scope} : {batch}, {square}")
        lines.append(f'    %a{unit} = weft.relu %m{unit} {{weft.scope = "h.{unit}"}} : {batch}')
        last = f"%a{unit}"
    lines += [f"    %d = weft.sub {last}, %y : {batch}, {batch}", f"    %s = weft.mul %d, %d : {batch}, {batch}",
              f"    %l = weft.reduce mean %s dims [0, 1] : {batch}", "    weft.return %l : tensor<f32>", "  }", "}"]
    return "\n".join(lines) + "\n"


def rows_file(path, count, width):
    """The same few rows again and again: their values decide nothing here."""
    dice = random.Random(1)
    row = struct.pack(f"<{width}f", *(dice.uniform(-1, 1) for _ in range(width)))
    size = count * width * 4
    header = json.dumps({name: {"dtype": "F32", "shape": [count, width], "data_offsets": [i * size, (i + 1) * size]}
                         for i, name in enumerate("xy")}).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + 2 * count * row)


rows, width = int(sys.argv[1]), int(sys.argv[2])
with open("units.mlir", "w") as file:
    file.write(model(rows, width))
rows_file("rows.safetensors", 2 * rows, width)
