"""Random numbers and losses as generated kernels, against the interpreter.

Each seed draws a model with initial values, dropout and cross-entropy of random sizes, types and attributes. The
interpreter runs the ops of its graph, and their formulas, and the program a step with a learning rate of 0: initial
values are the same to the bit; loss and gradients, in which another mask would be seen, within bounds of rounding.

Usage: formulas.py --work DIR [--seeds A:B] [--draw SEED] [--keep]

--draw is the seed of the interpreter: another one than the program's has to be found.
"""
import argparse
import array
import json
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys

from seeds import seed_range

parser = argparse.ArgumentParser()
parser.add_argument("--work", type=pathlib.Path, required=True)
parser.add_argument("--seeds", default="0:1", type=seed_range)
parser.add_argument("--draw", type=int, default=11)
parser.add_argument("--keep", action="store_true", help="the programs, to look at a failure")
args = parser.parse_args()

# Of the largest element: what sums in another order and roundings in f32 make of a gradient.
BOUNDS = {"f32": 1e-5, "bf16": 3e-2, "f16": 4e-3}
LOSS_BOUND = 2e-6
# Where classes are all but certain their gradients are differences of numbers near 1, or of logits: rounded in f32.
ROUNDED_AWAY = 2 ** -19
SEED, PARAMETERS = 11, ("w", "scale")


def need(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=600)
    if result.returncode != 0:
        raise RuntimeError(f"expects exit 0 of {' '.join(map(str, command))}, but got {result.returncode}:\n"
                           f"{(result.stdout + result.stderr)[-3000:]}")


class Model:
    """Sizes and attributes of a seed."""

    def __init__(self, dice):
        self.batch, self.steps = dice.choice([1, 3, 8]), dice.choice([1, 1, 2, 5])
        self.width, self.classes = dice.choice([5, 16, 33, 64]), dice.choice([2, 7, 16, 65, 1003, 5000])
        self.targets = dice.choice(["i32", "i64"])
        self.drop = dice.choice([0.0, 1e-9, 0.1, 0.1, 0.5, 0.9, 0.999])
        self.smoothing = dice.choice([0.0, 0.0, 0.1, 1.0])
        self.ignored = dice.choice([-100, -100, 0, self.classes - 1, 2 ** 40])
        self.reduction, self.precision = dice.choice(["mean", "sum"]), dice.choice(["f32", "f32", "bf16", "f16"])
        self.weights = None
        if dice.random() < 0.4:
            self.weights = [round(0.25 + dice.random(), 3) for _ in range(self.classes)]
        self.normal = dice.random() < 0.5
        rows = self.batch * 2
        self.data = [dice.gauss(0, 1) for _ in range(rows * self.steps * self.width)]
        self.labels = [dice.randrange(self.classes) for _ in range(rows * self.steps)]
        for i in range(len(self.labels)):
            if self.ignored < 2 ** 31 and i % self.steps and dice.random() < 0.3:
                self.labels[i] = self.ignored
        if self.ignored in range(self.classes):  # a row of each batch counts
            for i in range(0, len(self.labels), self.steps):
                self.labels[i] = 1 if self.ignored == 0 else 0

    def text(self):
        x = f"{self.batch}x{self.steps}x{self.width}"
        y, t = f"{self.batch}x{self.steps}x{self.classes}", f"{self.batch}x{self.steps}x{self.targets}"
        w = f"{self.classes}x{self.width}"
        init = "normal, 0.125, 0.5" if self.normal else "uniform, -0.5, 0.75"
        weight = constant = ""
        if self.weights:
            constant = f"    %cw = weft.constant dense<{self.weights}> : tensor<{self.classes}xf32>\n"
            weight = f" weight %cw : tensor<{self.classes}xf32>"
        return f"""module @m {{
  weft.param @w : tensor<{w}xf32> {{init = #weft.init<{init}>}}
  weft.param @scale : tensor<{self.width}xf32> {{init = #weft.init<normal, 1.0, 0.1>}}
  weft.program @model(%x: tensor<{x}xf32> {{weft.input = "x"}}, %t: tensor<{t}> {{weft.input = "t"}})
      -> (tensor<f32> {{weft.output = "loss"}}) attributes {{kind = #weft.kind<model>}} {{
    %w = weft.read @w : tensor<{w}xf32>
    %s = weft.read @scale : tensor<{self.width}xf32>
{constant}    %a = weft.mul %x, %s : tensor<{x}xf32>, tensor<{self.width}xf32>
    %d = weft.dropout %a {{p = {self.drop:.12f} : f64, op_id = 0}} : tensor<{x}xf32>
    %m = weft.matmul %d, %w {{transpose_rhs}} : tensor<{x}xf32>, tensor<{w}xf32>
    %y = weft.dropout %m {{p = 0.2 : f64, op_id = 3}} : tensor<{y}xf32>
    %l, %lse, %n = weft.cross_entropy %y, %t{weight} {{ignore_index = {self.ignored}, label_smoothing = {self.smoothing!r} : f64,
        reduction = #weft.loss_reduction<{self.reduction}>}} : tensor<{y}xf32>, tensor<{t}>
    weft.return %l : tensor<f32>
  }}
}}
"""

    def write_data(self, path):
        self.write(path, self.batch * 2)

    def write_inputs(self, path):
        """Of the first step."""
        self.write(path, self.batch, {"rng": ("I64", [2], array.array("q", [SEED, 0]).tobytes())})

    def write(self, path, rows, more={}):
        labels = array.array("i" if self.targets == "i32" else "q", self.labels[:rows * self.steps]).tobytes()
        data = array.array("f", self.data[:rows * self.steps * self.width]).tobytes()
        parts = {"x": ("F32", [rows, self.steps, self.width], data),
                 "t": (self.targets.upper(), [rows, self.steps], labels), **more}
        header, at = {}, 0
        for name, (kind, shape, part) in parts.items():
            header[name] = {"dtype": kind, "shape": shape, "data_offsets": [at, at + len(part)]}
            at += len(part)
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(part for _, _, part in parts.values()))


def read_tensors(path):
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    for name, info in json.loads(data[8:8 + length]).items():
        if name != "__metadata__" and info["dtype"] in ("F32", "F64"):
            begin, end = info["data_offsets"]
            yield name, array.array("f" if info["dtype"] == "F32" else "d", data[8 + length + begin:8 + length + end])


def interpret(folder, model):
    """Initial values, loss and gradients of the first step."""
    graph, mode = folder / "graph.mlir", "--mode=f64" if model.precision == "f32" else "--mode=f32"
    need("weft-interp", graph, "--program=init", "--mode=f32", "--set", f"seed={args.draw}", "--print=off",
         "--save-state", folder / "start.safetensors")
    model.write_inputs(folder / "inputs.safetensors")
    begin, rows = folder / "start.safetensors", ["--inputs", folder / "inputs.safetensors", "--set", "accumulate=0"]
    if "@denominators" in graph.read_text():
        counted = folder / "counted.safetensors"
        need("weft-interp", graph, "--program=denominators", mode, "--state", begin, *rows, "--print=off",
             "--save-state", counted)
        begin = counted
    need("weft-interp", graph, "--program=micro", mode, "--state", begin, *rows, "--set", "loss_seed=1",
         "--print=off", "--outputs", folder / "outputs.safetensors", "--save-state", folder / "state.safetensors")
    start, state = (dict(read_tensors(folder / f"{name}.safetensors")) for name in ("start", "state"))
    loss = dict(read_tensors(folder / "outputs.safetensors"))["loss"][0]
    return {name: array.array("f", start[name]) for name in PARAMETERS}, loss, {name: state[f"{name}.grad"] for name in PARAMETERS}


def train(folder):
    need("weft", "compile", folder / "graph.mlir", "--from=select-kernels", "-o", folder / "program")
    need(folder / "program", "--data", folder / "data.safetensors", "--lr", "0", "--weight-decay", "0", "--no-shuffle",
         "--progress", "none", "--steps", "1", "--seed", SEED, "--threads", "1", "--save-dir", folder / "run", "--metrics",
         folder / "metrics.jsonl", "--dump-grads", folder / "grads.safetensors")
    need("weft", "ckpt", "export", folder / "run", folder / "out")
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    (loss,) = (line["loss"] for line in lines if "loss" in line)
    return (dict(read_tensors(folder / "out/model.safetensors")), loss,
            dict(read_tensors(folder / "grads.safetensors")))


def compare(got, want, precision):
    for name in PARAMETERS:
        if got[0][name].tobytes() != want[0][name].tobytes():
            raise RuntimeError(f"expects the initial values of {name} that the interpreter draws, but got others")
    bound = LOSS_BOUND if precision == "f32" else BOUNDS[precision]
    if not abs(got[1] - want[1]) <= bound * max(1, abs(want[1])):
        raise RuntimeError(f"expects a loss of {want[1]}, but got {got[1]}")
    for name, numbers in want[2].items():
        scale = max(map(abs, numbers))
        error = max(abs(a - b) for a, b in zip(numbers, got[2][name]))
        if not error <= max(BOUNDS[precision] * scale, ROUNDED_AWAY):
            raise RuntimeError(f"expects {name} within {BOUNDS[precision]} of {scale}, but got a difference of {error}")


def compare_formulas(folder):
    """In doubles, up to constants in f32."""
    graph, formulas = folder / "graph.mlir", folder / "formulas.mlir"
    need("weft-opt", graph, "--weft-decompose", "-o", formulas)
    if re.search(r"weft\.(dropout|random_\w+|cross_entropy\w*)[ (]", formulas.read_text()):
        raise RuntimeError("expects formulas of all random ops and losses")
    need("weft-interp", "--compare", graph, formulas, "--tolerance=1e-6")


def check(seed):
    folder = args.work / f"seed-{seed}"
    folder.mkdir(parents=True)
    model = Model(random.Random(f"formulas {seed}"))
    (folder / "model.mlir").write_text(model.text())
    model.write_data(folder / "data.safetensors")
    need("weft", "compile", folder / "model.mlir", f"--precision={model.precision}", "--loss-scale=none",
         "--to=select-kernels", "-o", folder / "graph.mlir")
    compare(train(folder), interpret(folder, model), model.precision)
    compare_formulas(folder)
    if not args.keep:
        shutil.rmtree(folder)


def main():
    shutil.rmtree(args.work, ignore_errors=True)
    args.work.mkdir(parents=True)
    failed = 0
    for seed in args.seeds:
        try:
            check(seed)
        except (RuntimeError, subprocess.TimeoutExpired) as failure:
            failed += 1
            print(f"seed {seed}: {failure}", flush=True)
    print(f"{len(args.seeds)} models, {failed} wrong")
    sys.exit(1 if failed else 0)


main()
