"""Windows, documents and softcaps of attention, against PyTorch.

Each seed draws a model of one attention with random sizes, heads, mask, softcap and type. Its documents are data. The
compiled program gives the loss and the gradients of query, key and value, which are parameters; the interpreter gives
them in f64. Checked:

  numbers    a program in f32 is within 1e-6 of the oracle, of the largest number; low types within their rounding
  zeros      keys and values of documents without a loss have gradients of exactly 0
  emulated   (--emulated) a program for a CUDA device on the emulated one, within the same bounds
  stages     (--stages) two ranks train projections before the attention with each ZeRO stage: the same losses and weights

The oracle is PyTorch in f64 where --torch names a Python that has it, else the interpreter, which --torch compares too.

Usage: attention-masks.py --work DIR [--seeds A:B] [--torch PYTHON] [--emulated BUILD] [--stages] [--keep]
"""
import argparse
import array
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys

from seeds import seed_range

parser = argparse.ArgumentParser()
parser.add_argument("--work", type=pathlib.Path, required=True)
parser.add_argument("--seeds", default="0:1", type=seed_range)
parser.add_argument("--torch")
parser.add_argument("--emulated", type=lambda text: pathlib.Path(text).absolute())
parser.add_argument("--stages", action="store_true")
parser.add_argument("--keep", action="store_true", help="the programs, to look at a failure")
args = parser.parse_args()

# Of the largest number of a tensor; inputs of low types are rounded, and so are products on the way.
BOUNDS = {"f32": 1e-6, "f16": 1e-2, "bf16": 5e-2}
PARAMETERS = ("q", "k", "v")
SEED = 11


def need(*command, **more):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=900,
                            env={**os.environ, **more})
    if result.returncode != 0:
        raise RuntimeError(f"expects exit 0 of {' '.join(map(str, command))}, but got {result.returncode}:\n"
                           f"{(result.stdout + result.stderr)[-3000:]}")
    return result.stdout


class Model:
    """Sizes and rules of a seed."""

    def __init__(self, dice):
        self.batch, self.time = dice.choice([1, 2, 3]), dice.choice([1, 5, 16, 63, 64, 65, 100, 130, 200])
        self.groups = dice.choice([1, 2])
        self.heads, self.width = self.groups * dice.choice([1, 2, 3]), dice.choice([4, 8, 20, 64, 72])
        self.causal = dice.random() < 0.7
        self.window = dice.choice([None, None, 1, 2, 17, 64, 70, 1000])
        self.softcap = dice.choice([None, None, 0.5, 2.0, 50.0])
        self.precision = dice.choice(["f32", "f32", "f32", "f16", "bf16"])
        self.documents = dice.choice([None, "runs", "runs", "runs", "any"])
        # Scores of a few units: larger ones have fewer bits behind the point, and so have probabilities.
        self.scale = round(dice.choice([0.3, 1.0, 1.5]) / self.width ** 0.5, 6)
        self.ids, self.silent = self.draw_documents(dice)
        cells = self.batch * self.time
        self.weights = [dice.gauss(0, 1) for _ in range(cells * self.heads * self.width)]
        for cell in range(cells):
            if self.ids[cell] in self.silent:
                begin = cell * self.heads * self.width
                self.weights[begin:begin + self.heads * self.width] = [0.0] * (self.heads * self.width)

    def draw_documents(self, dice):
        """The ids of all positions, and those of documents without a loss."""
        ids = []
        for _ in range(self.batch):
            row, number = [], dice.randrange(-5, 5)
            while len(row) < self.time:
                length = dice.randint(1, max(1, self.time // dice.choice([1, 2, 4])))
                row += [number] * length
                number += dice.choice([-3, 1, 2])
            if self.documents == "any":
                row = [dice.randrange(4) for _ in row]
            ids += row[:self.time]
        silent = set()
        if self.documents:
            names = sorted(set(ids))
            silent = set(dice.sample(names, len(names) // 2))
        return ids, silent

    def attributes(self):
        parts = ["causal"] if self.causal else []
        parts.append(f"scale = {self.scale!r} : f64")
        if self.softcap:
            parts.append(f"softcap = {self.softcap!r} : f64")
        if self.window:
            parts.append(f"window = {self.window} : i64")
        return ", ".join(parts)

    def text(self):
        q, k = self.heads_type(self.heads), self.heads_type(self.groups)
        ids = f"tensor<{self.batch}x{self.time}xi32>"
        segments = f" segments %ids : {ids}" if self.documents else ""
        return f"""module @m {{
  weft.param @q : {q} {{init = #weft.init<normal, 0.0, 1.0>}}
  weft.param @k : {k} {{init = #weft.init<normal, 0.0, 1.0>}}
  weft.param @v : {k} {{init = #weft.init<normal, 0.0, 1.0>}}
  weft.program @model(%x: {q} {{weft.input = "x"}}, %ids: {ids} {{weft.input = "ids"}})
      -> (tensor<f32> {{weft.output = "loss"}}) attributes {{kind = #weft.kind<model>}} {{
    %q = weft.read @q : {q}
    %k = weft.read @k : {k}
    %v = weft.read @v : {k}
    %y, %lse = weft.attention %q, %k, %v{segments} {{{self.attributes()}}} : {q}, {k}, {k}
    %p = weft.mul %y, %x : {q}, {q}
    %l = weft.reduce sum %p dims [0, 1, 2, 3] : {q}
    weft.return %l : tensor<f32>
  }}
}}
"""

    def ranks_text(self):
        """Rows of data, of which each rank has some."""
        shapes = {"x": f"{self.batch}x{self.time}x8xf32", "ids": f"{self.batch}x{self.time}xi32",
                  "t": f"{self.batch}x{self.time}x{self.heads * self.width}xf32"}
        heads = {"q": self.heads, "k": self.groups, "v": self.groups}
        params = body = ""
        for name, count in heads.items():
            weight = f"tensor<8x{count * self.width}xf32>"
            flat = f"tensor<{self.batch}x{self.time}x{count * self.width}xf32>"
            params += f"  weft.param @{name} : {weight} {{init = #weft.init<normal, 0.0, 0.4>}}\n"
            body += f"""    %w{name} = weft.read @{name} : {weight}
    %f{name} = weft.matmul %x, %w{name} : tensor<{shapes["x"]}>, {weight}
    %{name} = weft.reshape %f{name} : {flat} to {self.heads_type(count)}
"""
        inputs = ", ".join(f'%{name}: tensor<{shape}> {{weft.input = "{name}"}}' for name, shape in shapes.items())
        types = ", ".join(self.heads_type(count) for count in heads.values())
        segments = f" segments %ids : tensor<{shapes['ids']}>" if self.documents else ""
        return f"""module @m {{
{params}  weft.program @model({inputs}) -> (tensor<f32> {{weft.output = "loss"}}) attributes {{kind = #weft.kind<model>}} {{
{body}    %y, %lse = weft.attention %q, %k, %v{segments} {{{self.attributes()}}} : {types}
    %r = weft.reshape %y : {self.heads_type(self.heads)} to tensor<{shapes["t"]}>
    %l = weft.mse %r, %t : tensor<{shapes["t"]}>
    weft.return %l : tensor<f32>
  }}
}}
"""

    def heads_type(self, count):
        return f"tensor<{self.batch}x{self.time}x{count}x{self.width}xf32>"

    def write_rows(self, path):
        """Two steps of two ranks."""
        dice, rows = random.Random(SEED), 4 * self.batch
        def floats(width):
            numbers = array.array("f", (dice.gauss(0, 1) for _ in range(rows * self.time * width)))
            return "F32", [rows, self.time, width], numbers.tobytes()
        ids = ("I32", [rows, self.time], array.array("i", 4 * self.ids).tobytes())
        write_tensors(path, {"x": floats(8), "t": floats(self.heads * self.width), "ids": ids})

    def write_inputs(self, path, more={}):
        parts = {"x": ("F32", [self.batch, self.time, self.heads, self.width], array.array("f", self.weights).tobytes()),
                 "ids": ("I32", [self.batch, self.time], array.array("i", self.ids).tobytes()), **more}
        write_tensors(path, parts)


def write_tensors(path, parts):
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
    tensors = {}
    for name, info in json.loads(data[8:8 + length]).items():
        if name != "__metadata__" and info["dtype"] in ("F32", "F64"):
            begin, end = info["data_offsets"]
            tensors[name] = array.array("f" if info["dtype"] == "F32" else "d", data[8 + length + begin:8 + length + end])
    return tensors


def interpret(folder, model):
    """Loss and gradients of the first step in f64, from the values that programs start with."""
    graph = folder / "graph.mlir"
    need("weft", "compile", folder / "model.mlir", "--to=select-kernels", "-o", graph)
    need("weft-interp", graph, "--program=init", "--mode=f32", "--set", f"seed={SEED}", "--print=off",
         "--save-state", folder / "start.safetensors")
    model.write_inputs(folder / "inputs.safetensors", {"rng": ("I64", [2], array.array("q", [SEED, 0]).tobytes())})
    need("weft-interp", graph, "--program=micro", "--mode=f64", "--state", folder / "start.safetensors", "--inputs",
         folder / "inputs.safetensors", "--set", "accumulate=0", "--set", "loss_seed=1", "--print=off",
         "--outputs", folder / "outputs.safetensors", "--save-state", folder / "state.safetensors")
    state = read_tensors(folder / "state.safetensors")
    loss = read_tensors(folder / "outputs.safetensors")["loss"][0]
    return loss, {name: state[f"{name}.grad"] for name in PARAMETERS}


# Runs in a Python with PyTorch: the same loss and gradients by autograd, in f64, for a model on each line.
ORACLE = r"""
import json, sys, torch
torch.set_default_dtype(torch.float64)
for line in sys.stdin:
    model = json.loads(line)
    B, T, H, G, D = (model[name] for name in ("batch", "time", "heads", "groups", "width"))
    q, k, v = (torch.tensor(model[name]).reshape(B, T, -1, D).requires_grad_() for name in "qkv")
    x = torch.tensor(model["weights"]).reshape(B, T, H, D)
    qh, kh, vh = (t.repeat_interleave(H // t.shape[2], 2).transpose(1, 2) for t in (q, k, v))
    scores = model["scale"] * qh @ kh.transpose(2, 3)
    if model["softcap"]:
        scores = model["softcap"] * torch.tanh(scores / model["softcap"])
    i, j = torch.arange(T)[:, None], torch.arange(T)[None, :]
    seen = torch.ones(1, 1, T, T, dtype=torch.bool)
    if model["causal"]:
        seen = seen & (j <= i)
    if model["window"]:
        seen = seen & ((i - j).abs() < model["window"])
    if model["documents"]:
        ids = torch.tensor(model["ids"]).reshape(B, T)
        seen = seen & (ids[:, None, :, None] == ids[:, None, None, :])
    y = (scores.masked_fill(~seen, float("-inf")).softmax(-1) @ vh).transpose(1, 2)
    loss = (y * x).sum()
    loss.backward()
    gradients = {name: t.grad.flatten().tolist() for name, t in zip("qkv", (q, k, v))}
    print(json.dumps({"loss": loss.item(), **gradients}), flush=True)
"""


class Torch:
    """A Python with PyTorch that answers for one model after the other."""

    def __init__(self):
        self.process = subprocess.Popen([args.torch, "-c", ORACLE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def ask(self, folder, model):
        start = read_tensors(folder / "start.safetensors")
        numbers = {**vars(model), **{name: start[name].tolist() for name in PARAMETERS}, "silent": None,
                   "weights": array.array("f", model.weights).tolist()}
        self.process.stdin.write(json.dumps(numbers) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"expects an answer of {args.torch}, but it ended with {self.process.wait()}")
        made = json.loads(line)
        return made["loss"], {name: made[name] for name in PARAMETERS}


def run_program(folder, model, name, *compile_flags, flags=(), **environment):
    made = folder / name
    made.mkdir()
    need("weft", "compile", folder / "model.mlir", f"--precision={model.precision}", "--loss-scale=none",
         *compile_flags, "-o", made / "program")
    need(made / "program", "--data", folder / "data.safetensors", "--lr", "0", "--weight-decay", "0", "--no-shuffle",
         "--progress", "none", "--steps", "1", "--seed", SEED, "--save-dir", made / "run", "--metrics",
         made / "metrics.jsonl", "--dump-grads", made / "grads.safetensors", *flags, **environment)
    lines = [json.loads(line) for line in (made / "metrics.jsonl").read_text().splitlines()]
    (loss,) = (line["loss"] for line in lines if "loss" in line)
    return loss, read_tensors(made / "grads.safetensors")


def compare(who, model, got, want, bound):
    size = sum(abs(w) for w in model.weights) or 1
    if not abs(got[0] - want[0]) <= bound * max(abs(want[0]), size ** 0.5, 1):
        raise RuntimeError(f"{who}: expects a loss of {want[0]}, but got {got[0]}")
    # Gradients of queries and keys are differences of larger numbers, whose size the gradients of the values show.
    values = max(map(abs, want[1]["v"]))
    for name, numbers in want[1].items():
        scale = max(*map(abs, numbers), values) if name != "v" else values
        error = max(abs(a - b) for a, b in zip(numbers, got[1][name]))
        if not error <= bound * max(scale, 1e-6):
            raise RuntimeError(f"{who}: expects the gradient of {name} within {bound} of {scale}, but got a difference "
                               f"of {error}")


def check_zeros(who, model, gradients):
    """Keys and values of a document that no loss reads."""
    row = model.groups * model.width
    for cell, number in enumerate(model.ids):
        if number in model.silent:
            for name in ("k", "v"):
                if any(gradients[name][cell * row:(cell + 1) * row]):
                    raise RuntimeError(f"{who}: expects no gradient of {name} at position {cell}, of document {number}")


def check(seed, torch):
    folder = args.work / f"seed-{seed}"
    folder.mkdir(parents=True)
    model = Model(random.Random(f"attention {seed}"))
    (folder / "model.mlir").write_text(model.text())
    model.write_inputs(folder / "data.safetensors")
    want = interpret(folder, model)
    check_zeros("interpreter", model, want[1])
    if torch:
        oracle = torch.ask(folder, model)
        compare("interpreter", model, want, oracle, 1e-9)
        want = oracle
    got = run_program(folder, model, "cpu", flags=("--threads", "2"))
    compare("program", model, got, want, BOUNDS[model.precision])
    check_zeros("program", model, got[1])
    if args.emulated:
        got = run_emulated(folder, model)
        compare("emulated device", model, got, want, max(BOUNDS[model.precision], 1e-5))
        check_zeros("emulated device", model, got[1])
    if args.stages:
        check_stages(folder, model)
    if not args.keep:
        shutil.rmtree(folder)


def check_stages(folder, model):
    """ZeRO stages 0 to 3 of two ranks have the same bits."""
    (folder / "ranks.mlir").write_text(model.ranks_text())
    model.write_rows(folder / "rows.safetensors")
    results = []
    for stage in range(4):
        made = folder / f"zero-{stage}"
        made.mkdir()
        need("weft", "compile", folder / "ranks.mlir", f"--precision={model.precision}", "--loss-scale=none",
             "--mesh=dp:2", f"--zero={stage}", "-o", made / "program")
        need(made / "program", "--data", folder / "rows.safetensors", "--lr", "0.01", "--no-shuffle", "--progress", "none",
             "--steps", "2", "--seed", SEED, "--loopback", "2", "--save-dir", made / "run", "--metrics", made / "metrics.jsonl")
        need("weft", "ckpt", "export", made / "run", made / "out")
        lines = [json.loads(line) for line in (made / "metrics.jsonl").read_text().splitlines()]
        results.append(([line["loss"] for line in lines if "loss" in line], (made / "out/model.safetensors").read_bytes()))
    for stage, result in enumerate(results):
        if result != results[0] or len(result[0]) != 2:
            raise RuntimeError(f"expects losses and weights of stage 0 with stage {stage}, but got others: {result[0]}, "
                               f"not {results[0][0]}")


def run_emulated(folder, model):
    emulation = args.emulated / "test/emulation"
    target = ("--target=cuda:sm_90",)
    twins = folder / "twins.so"
    need("weft-twins", folder / "model.mlir", f"--precision={model.precision}", "--loss-scale=none", *target, "-o", twins)
    return run_program(folder, model, "emulated", *target, LD_LIBRARY_PATH=str(emulation),
                       WEFT_TWINS=f"{twins}:{emulation / 'kernels.so'}")


def main():
    shutil.rmtree(args.work, ignore_errors=True)
    args.work.mkdir(parents=True)
    failed, torch = 0, Torch() if args.torch else None
    for seed in args.seeds:
        try:
            check(seed, torch)
        except (RuntimeError, subprocess.TimeoutExpired) as failure:
            failed += 1
            print(f"seed {seed}: {failure}", flush=True)
    print(f"{len(args.seeds)} models, {failed} wrong")
    sys.exit(1 if failed else 0)


main()
