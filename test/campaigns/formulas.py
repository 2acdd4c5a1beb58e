"""Random numbers and losses as generated kernels, against the routines of the CPU.

Each seed draws a model with initial values, dropout and cross-entropy of random sizes, types and attributes. Its
graph is compiled with routines for these ops and for the step, without those for random numbers, and as it is, with
none. Drawn
numbers, masks and so losses, gradients and checkpoints of the second program have the bytes of the first; the third
stays within bounds of rounding. The interpreter computes the same for the ops and for their formulas.

Usage: formulas.py --work DIR [--seeds A:B] [--keep]
"""
import argparse
import array
import json
import math
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
parser.add_argument("--keep", action="store_true", help="the programs, to look at a failure")
args = parser.parse_args()

RANDOM = ("dropout", "random_normal", "random_uniform")
LOSS = ("cross_entropy", "cross_entropy_grad")
STEP = ("adamw", "norm_and_check", "total_norm", "clip_coefficient", "step_increment")
# Of the largest element: what sums in another order and roundings in f32 make of a gradient.
BOUNDS = {"f32": 1e-5, "bf16": 3e-2, "f16": 4e-3}
LOSS_BOUND = 2e-6


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
        rows = self.batch * 2
        labels = array.array("i" if self.targets == "i32" else "q", self.labels).tobytes()
        data, at, header = [array.array("f", self.data).tobytes(), labels], 0, {}
        for name, kind, shape, part in (("x", "F32", [rows, self.steps, self.width], data[0]),
                                        ("t", self.targets.upper(), [rows, self.steps], data[1])):
            header[name] = {"dtype": kind, "shape": shape, "data_offsets": [at, at + len(part)]}
            at += len(part)
        text = json.dumps(header).encode()
        path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(data))


def claim(line, kinds):
    """A line of the graph with a routine for an op of these kinds."""
    found = re.search(r"= weft\.(" + "|".join(kinds) + r")\b", line)
    if not found:
        return line
    impl = 'weft.impl = "optimizer"' if found[1] == "adamw" else f'weft.impl = "{found[1]}"'
    head, types, tail = line.partition(" : ")
    brace = line.find("{")
    if 0 <= brace:
        return f"{line[:brace + 1]}{impl}, {line[brace + 1:]}"
    return f"{head} {{{impl}}}{types}{tail}"


def read_tensors(path):
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    for name, info in json.loads(data[8:8 + length]).items():
        if name != "__metadata__" and info["dtype"] == "F32":
            begin, end = info["data_offsets"]
            yield name, array.array("f", data[8 + length + begin:8 + length + end])


def losses(path):
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [line["loss"] for line in lines if "loss" in line]


def train(folder, name, kinds):
    text = (folder / "graph.mlir").read_text()
    if "weft.impl = \"gemm\"" not in text or any(f'weft.impl = "{kind}"' in text for kind in RANDOM + LOSS):
        raise RuntimeError("expects no routine for random numbers and losses")
    if kinds:
        text = "\n".join(claim(line, kinds) for line in text.split("\n"))
    (folder / f"{name}.mlir").write_text(text)
    need("weft", "compile", folder / f"{name}.mlir", "--from=select-kernels", "-o", folder / name)
    need(folder / name, "--data", folder / "data.safetensors", "--lr", "0.01", "--progress", "none", "--steps", "3",
         "--seed", "11", "--threads", "1", "--save-dir", folder / f"{name}.run", "--metrics",
         folder / f"{name}.jsonl", "--dump-grads", folder / f"{name}.grads")
    need("weft", "ckpt", "export", folder / f"{name}.run", folder / f"{name}.out")


def compare_bytes(folder):
    for file in ("{}.jsonl", "{}.grads", "{}.out/model.safetensors"):
        first, second = (folder / file.format(name) for name in ("routines", "random"))
        if file == "{}.jsonl":
            same = str(losses(first)) == str(losses(second))  # NaN is NaN
        else:
            same = first.read_bytes() == second.read_bytes()
        if not same:
            raise RuntimeError(f"expects {second.name} to be {first.name}, but it is not")


def compare_numbers(folder, precision):
    first, second = (losses(folder / f"{name}.jsonl") for name in ("routines", "all"))
    for a, b in zip(first, second):
        bound = LOSS_BOUND if precision == "f32" or a is first[0] else BOUNDS[precision]
        if not (a == b or abs(a - b) <= bound * max(1, abs(a))):
            raise RuntimeError(f"expects losses {first}, but got {second}")
    tensors = dict(read_tensors(folder / "all.grads"))
    for name, want in read_tensors(folder / "routines.grads"):
        scale = max(map(abs, want))
        error = max(abs(a - b) for a, b in zip(want, tensors[name]))
        if not error <= BOUNDS[precision] * max(scale, 1e-30):
            raise RuntimeError(f"expects {name} within {BOUNDS[precision]} of {scale}, but got a difference of {error}")


def compare_formulas(folder, model):
    """In f32 random numbers are the same to the bit; in doubles, up to constants in f32."""
    for name, flags in (("random", ("--mode=f32", "--tolerance=0")), ("all", ("--tolerance=1e-6",))):
        need("weft-opt", folder / f"{name}.mlir", "--weft-decompose", "-o", folder / f"{name}.formulas.mlir")
        if re.search(r"weft\.(dropout|random_\w+)[ (]", (folder / f"{name}.formulas.mlir").read_text()):
            raise RuntimeError("expects formulas of all random ops")
        need("weft-interp", "--compare", folder / f"{name}.mlir", folder / f"{name}.formulas.mlir", *flags)


def check(seed):
    folder = args.work / f"seed-{seed}"
    folder.mkdir(parents=True)
    model = Model(random.Random(f"formulas {seed}"))
    (folder / "model.mlir").write_text(model.text())
    model.write_data(folder / "data.safetensors")
    need("weft", "compile", folder / "model.mlir", f"--precision={model.precision}", "--loss-scale=none",
         "--to=select-kernels", "-o", folder / "graph.mlir")
    train(folder, "routines", RANDOM + LOSS + STEP)
    train(folder, "random", LOSS + STEP)
    train(folder, "all", ())
    compare_bytes(folder)
    compare_numbers(folder, model.precision)
    compare_formulas(folder, model)
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
