"""Compares results of kernels on the emulated device with the interpreter's.

The interpreter computes each op in f64 from the same inputs and rounds its result
to its type. The bounds are those of the relative L2 distance of a result: 1e-5, for
f16 and bf16 2e-2; a result of integers or truth values is the same, and elements
that are not finite are the same ones.
"""
import json
import os
import re
import struct
import subprocess
import sys

import numpy as np

# Types of elements: in safetensors, and as numpy reads their bytes.
TYPES = {"f64": ("F64", "<f8"), "f32": ("F32", "<f4"), "f16": ("F16", "<f2"), "bf16": ("BF16", "<u2"),
         "i64": ("I64", "<i8"), "i32": ("I32", "<i4"), "i1": ("BOOL", "u1")}
BOUNDS = {"f64": 1e-5, "f32": 1e-5, "f16": 2e-2, "bf16": 2e-2}


def tensors_in(text):
    """Shape and element type of each tensor type in a list."""
    for inside in re.findall(r"tensor<([^>]*)>", text):
        *shape, element = inside.split("x")
        yield [int(size) for size in shape], element


def kernels_in(text):
    """Name, arguments and results of each kernel."""
    for name, arguments, results in re.findall(
            r"weft\.kernel @(\w+)\((.*?)\) -> (.*?) (?:elementwise|rows|columns) ", text):
        yield name, list(tensors_in(arguments)), list(tensors_in(results))


def spelled(tensor):
    shape, element = tensor
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def program_of(name, arguments, results):
    """A program that calls the kernel, with inputs NAME.0, ... and outputs behind them."""
    takes = ", ".join(f'%a{i}: {spelled(t)} {{weft.input = "{name}.{i}"}}' for i, t in enumerate(arguments))
    gives = ", ".join(f'{spelled(t)} {{weft.output = "{name}.{i}"}}' for i, t in enumerate(results, len(arguments)))
    values = ", ".join(f"%r#{i}" if len(results) > 1 else "%r" for i in range(len(results)))
    count = f":{len(results)}" if len(results) > 1 else ""
    types = ", ".join(map(spelled, results))
    return f"""weft.program @run_{name}({takes}) -> ({gives}) attributes {{kind = #weft.kind<eval>}} {{
  %r{count} = weft.call @{name}({", ".join(f"%a{i}" for i in range(len(arguments)))}) : ({", ".join(map(spelled, arguments))}) -> ({types})
  weft.return {values} : {types}
}}
"""


def read_raw(folder, name, tensor):
    shape, element = tensor
    return np.fromfile(os.path.join(folder, name), TYPES[element][1]).reshape(shape)


def write_tensors(path, tensors):
    """Of elements as they are in memory: name -> (array, element type)."""
    header, position = {}, 0
    for name, (array, element) in tensors.items():
        header[name] = {"dtype": TYPES[element][0], "shape": array.shape,
                        "data_offsets": [position, position + array.nbytes]}
        position += array.nbytes
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array, _ in tensors.values():
            file.write(array.tobytes())


def as_numbers(array, element):
    if element == "bf16":
        return (array.astype("<u4") << 16).view("<f4").astype(np.float64)
    return array.astype(np.float64)


def read_tensors(path):
    """As f64, by name."""
    elements = {dtype: element for element, (dtype, _) in TYPES.items()}
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, info in header.items():
        begin, end = (8 + length + offset for offset in info["data_offsets"])
        element = elements[info["dtype"]]
        array = np.frombuffer(data[begin:end], TYPES[element][1]).reshape(info["shape"])
        tensors[name] = as_numbers(array, element)
    return tensors


def difference(expected, got, element):
    """Why two results differ, or None."""
    if element not in BOUNDS:
        return None if np.array_equal(expected, got) else "differs"
    finite = np.isfinite(expected)
    if not np.array_equal(finite, np.isfinite(got)) or not np.array_equal(
            expected[~finite], got[~finite], equal_nan=True):
        return "is finite at other places: it differs"
    distance = np.linalg.norm(got[finite] - expected[finite])
    distance /= max(np.linalg.norm(expected[finite]), 1e-30)
    return f"is {distance:.1e} away" if distance > BOUNDS[element] else None


def read_unsealed(path):
    """The text of a module that a tool of weft wrote, without its seal."""
    with open(path) as file:
        return "".join(line for line in file if not line.startswith("// weft: xxh3")).rstrip()


def compare(source, folder):
    """Compares the files NAME.NUMBER in `folder`; the number of wrong results."""
    text = read_unsealed(source)
    kernels = list(kernels_in(text))
    module, inputs = os.path.join(folder, "called.mlir"), os.path.join(folder, "inputs.safetensors")
    with open(module, "w") as file:
        file.write(text.removesuffix("}") + "".join(program_of(*kernel) for kernel in kernels) + "}\n")
    write_tensors(inputs, {f"{name}.{i}": (read_raw(folder, f"{name}.{i}", tensor), tensor[1])
                           for name, arguments, _ in kernels for i, tensor in enumerate(arguments)})
    outputs = os.path.join(folder, "outputs.safetensors")
    subprocess.run(["weft-interp", module, "--mode=f32", "--inputs", inputs, "--outputs", outputs],
                   check=True, stdout=subprocess.DEVNULL)
    expected, wrong, results = read_tensors(outputs), 0, 0
    for name, arguments, types in kernels:
        for i, tensor in enumerate(types, len(arguments)):
            got = as_numbers(read_raw(folder, f"{name}.{i}", tensor), tensor[1])
            words = difference(expected[f"run_{name}/{name}.{i}"].reshape(tensor[0]), got, tensor[1])
            results += 1
            wrong += words is not None
            if words:
                print(f"{name}: argument {i} {words} from the interpreter's")
    if not wrong:
        print(f"{results} results of {len(kernels)} kernels as the interpreter computes them")
    return wrong


if __name__ == "__main__":
    sys.exit(compare(*sys.argv[1:]) != 0)
