"""Kernels that weft makes of linalg forms, beside the plain loops of their ops, one op after the other.

Usage: form_loops.py FOLDER [--draw SEED]

FOLDER holds the modules that `build` has written there, and what it knows of their functions. A kernel runs in two
parts of its range, the last one first, with results of their own, and with each in the buffer of an argument that its
form lists. The loops see the same numbers, or those of another seed.
"""
import argparse
import array
import ctypes
import json
import math
import pathlib
import random
import re
import subprocess

from mlir_text import split

LOOPS = ["convert-linalg-to-loops", "convert-scf-to-cf", "expand-strided-metadata", "lower-affine",
         "convert-math-to-llvm", "convert-math-to-libm", "convert-arith-to-llvm", "convert-index-to-llvm",
         "finalize-memref-to-llvm", "convert-func-to-llvm=use-bare-ptr-memref-call-conv=1", "convert-cf-to-llvm",
         "reconcile-unrealized-casts"]
CODES = {"f64": "d", "f32": "f", "i64": "q", "i32": "i", "i1": "b"}
# Bytes before and behind each buffer that nobody may touch.
BORDER = 64
# Of the largest element: sums are added up in another order, and functions are not libm's.
BOUND = 1e-4


# --- Building -------------------------------------------------------------------------------------


def need(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, errors="replace",
                            timeout=600)
    if result.returncode != 0:
        raise RuntimeError(f"expects exit 0 of {' '.join(map(str, command))}, but got {result.returncode}:\n"
                           f"{(result.stdout + result.stderr)[-3000:]}")


def link(folder, name):
    """A library of a module in the llvm dialect."""
    need("mlir-translate", "--mlir-to-llvmir", "--allow-unregistered-dialect", folder / f"{name}.mlir", "-o",
         folder / f"{name}.ll")
    need("llc", "-O1", "-mattr=+avx2,+f16c,+fma", "-relocation-model=pic", "-filetype=obj", folder / f"{name}.ll",
         "-o", folder / f"{name}.o")
    need("clang", "-shared", folder / f"{name}.o", "-lm", "-o", folder / f"{name}.so")


def describe(form, lowered):
    """The description of a function that a call needs."""
    name, arguments = re.search(r"func\.func @(\w+)\((.*?)\) attributes", form).groups()
    types = [re.search(r"memref<((?:\d+x)*)(\w+)>", argument) for argument in split(arguments)]
    lists = re.search(r"weft\.inplace = \[(.*?)\], weft", form)[1]
    extent, grain = (int(re.search(rf"llvm\.func @{name}\(.*weft\.{fact} = (\d+)", lowered)[1])
                     for fact in ("extent", "grain"))
    return {"name": name, "extent": extent, "grain": grain,
            "types": [(kind[2], math.prod(map(int, kind[1].split("x")[:-1]))) for kind in types],
            "inplace": [[int(n) for n in re.findall(r"\d+", part.replace("i64", ""))] for part in split(lists)]}


def build(folder, forms):
    """Both libraries of the forms, whose functions have names of their own."""
    (folder / "forms.mlir").write_text("\n".join(forms))
    need("weft-opt", folder / "forms.mlir", "--weft-lower-to-cpu", "-o", folder / "kernels.mlir")
    need("mlir-opt", "--allow-unregistered-dialect", *(f"--{step}" for step in LOOPS), folder / "forms.mlir", "-o",
         folder / "loops.mlir")
    for name in ("kernels", "loops"):
        link(folder, name)
    lowered = (folder / "kernels.mlir").read_text()
    (folder / "calls.json").write_text(json.dumps([describe(form, lowered) for form in forms]))


# --- Running --------------------------------------------------------------------------------------


class Buffer:
    """Elements between bytes that are checked."""

    def __init__(self, kind, count, numbers=None):
        self.kind, self.numbers = kind, array.array(CODES[kind], numbers or [])
        size = count * self.numbers.itemsize
        inner = self.numbers.tobytes() if numbers else b"\xff" * size
        border = b"\xa5" * BORDER
        self.memory = ctypes.create_string_buffer(border + inner + border, size + 2 * BORDER)
        self.address = ctypes.addressof(self.memory) + BORDER

    def read(self):
        """The elements, or None where a byte around them has changed."""
        raw = self.memory.raw
        if raw[:BORDER] + raw[-BORDER:] != b"\xa5" * (2 * BORDER):
            return None
        return array.array(CODES[self.kind], raw[BORDER:-BORDER])


def draw(kind, count, dice):
    if kind == "i1":
        return [dice.randrange(2) for _ in range(count)]
    if kind.startswith("i"):
        return [dice.randrange(6) for _ in range(count)]
    return [dice.gauss(0, 1) for _ in range(count)]


def buffers_of(call, seed):
    """New arguments and results."""
    dice, first = random.Random(f"{call['name']} {seed}"), len(call["types"]) - len(call["inplace"])
    return [Buffer(kind, count, draw(kind, count, dice) if i < first else None)
            for i, (kind, count) in enumerate(call["types"])]


def pointers(buffers):
    return (ctypes.c_void_p * len(buffers))(*(buffer.address for buffer in buffers))


def run_kernel(library, call, buffers):
    """The last parts of the range first."""
    function, arguments = getattr(library, call["name"]), pointers(buffers)
    grains = -(-call["extent"] // call["grain"])
    cut = grains // 2 * call["grain"]
    for begin, end in ((cut, call["extent"]), (0, cut)):
        if begin < end:
            function(arguments, ctypes.c_int64(begin), ctypes.c_int64(end))


def difference(kind, expected, got):
    """Why two results differ, or None."""
    if not kind.startswith("f"):
        return None if expected == got else "has other numbers"
    pairs = list(zip(expected, got))
    if any(math.isfinite(x) != math.isfinite(y) for x, y in pairs):
        return "is finite at other places"
    finite = [(x, y) for x, y in pairs if math.isfinite(x)]
    if any(x != y and not (math.isnan(x) and math.isnan(y)) for x, y in pairs if not math.isfinite(x)):
        return "has other infinities"
    largest = max((abs(x) for x, _ in finite), default=0)
    error = max((abs(x - y) for x, y in finite), default=0)
    return f"is {error / largest if largest else error:.1e} away" if error > BOUND * largest else None


def places(call):
    """Which results lie in which arguments: in none, each in one, and as many as can be."""
    first, types = len(call["types"]) - len(call["inplace"]), call["types"]
    single = [(first + result, argument) for result, inputs in enumerate(call["inplace"]) for argument in inputs
              if types[first + result] == types[argument]]
    joined = {}
    for result, argument in single:
        if result not in joined and argument not in joined.values():
            joined[result] = argument
    return [{}, *({result: argument} for result, argument in single), joined]


def compare(kernels, loops, call, seed):
    """The problem of a kernel, or None."""
    expected = buffers_of(call, seed)
    getattr(loops, call["name"])(*(ctypes.c_void_p(buffer.address) for buffer in expected))
    for place in places(call):
        buffers = buffers_of(call, 0)
        for result, argument in place.items():
            buffers[result] = buffers[argument]
        run_kernel(kernels, call, buffers)
        for i, (kind, _) in enumerate(call["types"]):
            if i in place.values():
                continue
            got = buffers[i].read()
            wrong = "has bytes around it that are written" if got is None else difference(
                kind, expected[i].read(), got)
            if wrong:
                return f"argument {i} {wrong}, with {place or 'nothing'} in place"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--draw", type=int, default=0, help="the seed of the numbers that the loops see")
    args = parser.parse_args()
    kernels, loops = (ctypes.CDLL(args.folder / f"{name}.so") for name in ("kernels", "loops"))
    for call in json.loads((args.folder / "calls.json").read_text()):
        print(f"{call['name']}: {compare(kernels, loops, call, args.draw) or 'equal'}", flush=True)


if __name__ == "__main__":
    main()
