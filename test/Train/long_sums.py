#!/usr/bin/env python3
"""Products of more than 1536 terms, which run in stages, against the interpreter.

usage: long_sums.py WORK        (weft and weft-interp in PATH)

One model adds 2^24, 0, ..., -2^24 and a bias of 1: exactly 1 if the bias comes
last, 0 if it is added to the first stage. The other is a net of two layers that
trains three steps. Both have a bias behind the product, as an op of its own.
"""
import os
import random
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "campaigns", "random-graphs"))
sys.dont_write_bytecode = True
from graph import read_tensors, write_tensors  # noqa: E402

K, ROWS, WIDTH = 1600, 4, 16
LARGE = 2.0 ** 24
STEPS, LR = 3, 0.125

HEAD = f"""
weft.param @w : tensor<{WIDTH}x{K}xf32> {{init = #weft.init<zeros>}}
weft.param @b : tensor<{WIDTH}xf32> {{init = #weft.init<zeros>}}
weft.param @v : tensor<{WIDTH}x{WIDTH}xf32> {{init = #weft.init<zeros>}}
weft.program @model(%x: tensor<{ROWS}x{K}xf32> {{weft.input = "x"}}) -> (tensor<f32> {{weft.output = "loss"}})
    attributes {{kind = #weft.kind<model>}} {{
  %w = weft.read @w : tensor<{WIDTH}x{K}xf32>
  %b = weft.read @b : tensor<{WIDTH}xf32>
  %v = weft.read @v : tensor<{WIDTH}x{WIDTH}xf32>
  %p = weft.matmul %x, %w {{transpose_rhs}} : tensor<{ROWS}x{K}xf32>, tensor<{WIDTH}x{K}xf32>
  %h = weft.add %p, %b : tensor<{ROWS}x{WIDTH}xf32>, tensor<{WIDTH}xf32>
"""
TAIL = f"""
  %loss = weft.reduce mean %y dims [0, 1] : tensor<{ROWS}x{WIDTH}xf32>
  weft.return %loss : tensor<f32>
}}
"""
H, V = f"tensor<{ROWS}x{WIDTH}xf32>", f"tensor<{WIDTH}x{WIDTH}xf32>"
# The gradient of v is h in one, so that a weight shows it.
MODELS = {
    "order": f"  %y = weft.matmul %h, %v : {H}, {V}",
    "net": f"  %t = weft.tanh %h : {H}\n  %y = weft.matmul %t, %v : {H}, {V}",
}


def draw(shape, bound, seed):
    random.seed(seed)
    count = shape[0] * (shape[1] if len(shape) > 1 else 1)
    return "f32", shape, [random.uniform(-bound, bound) for _ in range(count)]


def tensors(name):
    """The rows and the first weights."""
    x, w, b, v = (ROWS, K), (WIDTH, K), (WIDTH,), (WIDTH, WIDTH)
    if name == "net":
        return {"x": draw(x, 1, 1)}, {"w": draw(w, 0.05, 2), "b": draw(b, 0.5, 3),
                                      "v": draw(v, 0.5, 4)}
    ends = [LARGE] + [0.0] * (K - 2) + [-LARGE]
    return {"x": ("f32", x, ends * ROWS)}, {
        "w": ("f32", w, [1.0] * (WIDTH * K)), "b": ("f32", b, [1.0] * WIDTH),
        "v": ("f32", v, [0.0] * (WIDTH * WIDTH))}


def call(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"long_sums.py: exit {result.returncode} of {' '.join(command)}\n"
                 + result.stderr)
    return result.stdout


def train(work, name, steps):
    """The weights after the steps: of the program and of the interpreter."""
    path = lambda file: os.path.join(work, name + "." + file)  # noqa: E731
    rows, start = tensors(name)
    with open(path("mlir"), "w") as file:
        file.write(HEAD + MODELS[name] + TAIL)
    write_tensors(path("rows.safetensors"), rows)
    write_tensors(path("start.safetensors"), start)
    call("weft", "compile", path("mlir"), "-o", path("exe"), "--optimizer=sgd")
    call("weft", "compile", path("mlir"), "-o", path("fused.mlir"), "--optimizer=sgd",
         "--to=fuse")
    call(path("exe"), "--data", path("rows.safetensors"), "--no-shuffle", "--init-from",
         path("start.safetensors"), f"--steps={steps}", f"--lr={LR}", "--progress=none",
         "--save-dir", path("save"))
    call("weft", "ckpt", "export", path("save"), path("out"))
    call("weft-interp", path("fused.mlir"), f"--steps={steps}", "--print=off", "--mode=f32",
         "--inputs=" + path("rows.safetensors"), "--state=" + path("start.safetensors"),
         f"--set=lr={LR}", "--set=momentum=0", "--set=weight_decay=0", "--set=max_norm=0",
         "--save-state=" + path("state.safetensors"))
    return (read_tensors(os.path.join(path("out"), "model.safetensors")),
            read_tensors(path("state.safetensors")))


def compare(name, found, expected, bound):
    for weight in ("w", "b", "v"):
        largest = max(map(abs, expected[weight]))
        error = max(abs(a - b) for a, b in zip(found[weight], expected[weight]))
        if not error <= bound * largest:
            sys.exit(f"long_sums.py: {name}: {weight} is off by {error:.3g}, "
                     f"allowed {bound * largest:.3g}")


def main():
    work = sys.argv[1]
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    compare("order", *train(work, "order", 1), 0)
    compare("net", *train(work, "net", STEPS), 1e-5)


if __name__ == "__main__":
    main()
