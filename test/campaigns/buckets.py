"""Trains random models with and without buckets, and compares.

A model is an example or a random network: any number of layers, odd sizes, gains, numbers, frozen and tied
parameters. Flags are random too: types, optimizer, groups, loss scale, and --bucket and --shard-align. The program
with buckets has the losses, gradients, checkpoints and exports of the one without, byte for byte; each goes on from
the checkpoint of the other; memory that starts as NaN changes nothing; its plan has no more copies and no more memory
than the gaps take; and the interpreter finds the same tensors in both plans.

Usage: buckets.py --work DIR --source DIR [--seeds A:B] [--models LIST] [--keep]
"""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

from seeds import seed_range

parser = argparse.ArgumentParser()
parser.add_argument("--work", type=pathlib.Path, required=True)
parser.add_argument("--source", type=pathlib.Path, required=True)
parser.add_argument("--seeds", default="0:1", type=seed_range, help="programs of each model")
parser.add_argument("--models", default="random")
parser.add_argument("--keep", action="store_true", help="the programs, to look at a failure")
args = parser.parse_args()

BYTES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i64": 8, "i32": 4}
FLAT = re.compile(r"plan\.state \w* ?.*@(\S+) : memref<(\d+)x(\w+)>.*segments = ")
SEGMENT = re.compile(r"segment<@[\w.]+ \[[\d, ]*\] at (\d+) to (\d+)")


def call(*command, env=None):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=900,
                            errors="replace", env=env)
    return result.returncode, result.stdout + result.stderr


def need(*command, **options):
    code, said = call(*command, **options)
    if code != 0:
        raise RuntimeError(f"expects exit 0 of {' '.join(map(str, command))}, but got {code}:\n{said[-3000:]}")
    return said


# --- A random network -----------------------------------------------------------------------------


class Network:
    """Text of a classifier of 8 x 8 images."""

    def __init__(self, dice):
        self.dice, self.params, self.body, self.number = dice, [], [], 0
        self.style = dice.choice(["fc{}", "h.{}.fc", "net.blocks.{}", "a.{}.b.{}"])
        self.trainable, self.targets = 0, {}

    def value(self):
        self.number += 1
        return f"%v{self.number}"

    def param(self, name, sizes, same=None):
        """Declares it, and returns its type."""
        dice, kind = self.dice, "x".join(map(str, [*sizes, "f32"]))
        attributes, self.is_plain = [], False
        if same and dice.random() < 0.5:
            attributes.append(f"tie = @{same}")
        else:
            attributes.append("init = #weft.init<normal, 0.0, 0.1>" if dice.random() < 0.7 or len(sizes) == 2
                              else f"init = #weft.init<{dice.choice(['zeros', 'ones'])}>")
            if dice.random() < 0.15 and self.trainable:
                attributes.append("trainable = false")
            else:
                self.trainable, self.is_plain = self.trainable + 1, True
            if dice.random() < 0.2:
                attributes.append(f"decay = {dice.choice(['true', 'false'])}")
        if dice.random() < 0.3:
            attributes.append(f'scope = "{dice.choice(["x", "x.1", "y.2.z"])}"')
        self.params.append(f"  weft.param @{name} : tensor<{kind}> {{{', '.join(attributes)}}}")
        return f"tensor<{kind}>"

    def read(self, name, kind):
        value = self.value()
        self.body.append(f"    {value} = weft.read @{name} : {kind}")
        return value

    def layer(self, name, x, sizes):
        """A product with what may follow it; its weight may be tied to one before."""
        dice, (inner, outer), same = self.dice, sizes, self.targets.get(sizes)
        kind = self.param(f"{name}.weight", [outer, inner], same)
        if self.is_plain:
            self.targets.setdefault((inner, outer), f"{name}.weight")
        weight, y, full = self.read(f"{name}.weight", kind), self.value(), f"tensor<8x{outer}xf32>"
        self.body.append(f"    {y} = weft.matmul {x}, {weight} {{transpose_rhs}} : tensor<8x{inner}xf32>, {kind}")
        for word, op, shape in (("bias", "add", [outer]), ("gain", "mul", [outer]), ("scale", "mul", [])):
            if dice.random() < 0.6:
                kind, before = self.param(f"{name}.{word}", shape), y
                other, y = self.read(f"{name}.{word}", kind), self.value()
                self.body.append(f"    {y} = weft.{op} {before}, {other} : {full}, {kind}")
        return y

    def text(self):
        dice, x, inner = self.dice, "%image", 64
        depth = dice.randint(1, 5)
        for number in range(depth):
            outer = 10 if number == depth - 1 else dice.choice([1, 3, 16, 32, 32, 77, 128])
            name = self.style.replace("{}", str(number))
            y = self.layer(name, x, (inner, outer))
            if number == depth - 1:
                x = y
                break
            x, inner = self.value(), outer
            self.body.append(f"    {x} = weft.tanh {y} : tensor<8x{outer}xf32>")
        head = "(%image: tensor<8x64xf32> {weft.input = \"image\"}, %label: tensor<8xi32> {weft.input = \"label\"})"
        return "\n".join(
            ["module @net {", *self.params,
             f"  weft.program @model{head} -> (tensor<f32> {{weft.output = \"loss\"}}) "
             "attributes {kind = #weft.kind<model>} {", *self.body,
             f"    %loss, %lse, %denom = weft.cross_entropy {x}, %label : tensor<8x10xf32>, tensor<8xi32>",
             "    weft.return %loss : tensor<f32>", "  }", "}", ""])


# --- Random flags ---------------------------------------------------------------------------------


def choose_groups(path, names, dice):
    """A file of groups of one parameter each, with random numbers."""
    lines = []
    for number, name in enumerate(dice.sample(names, min(len(names), dice.randint(1, 3)))):
        keys = ["lr_scale = 2.0", "decay = 0.5", 'optimizer = "sgd"', "weight_decay = 0.1", f'name = "own{number}"']
        pattern = re.escape(name).replace("\\", "\\\\")
        lines += ["[[group]]", f'match = "^{pattern}$"', *dice.sample(keys, dice.randint(1, 3))]
    path.write_text("\n".join(lines) + "\n")
    return ["--groups", path]


def choose_flags(folder, names, dice):
    """Compile flags of both programs, and run flags."""
    flags, run = ["--optimizer", dice.choice(["adamw", "adamw", "adam", "sgd"])], []
    precision = dice.choice(["f32", "f32", "bf16", "f16"])
    flags += ["--precision", precision]
    if flags[1] == "sgd" and dice.random() < 0.5:
        flags.append("--nesterov")
    if precision != "f32":
        flags += ["--grad-dtype", dice.choice(["f32", "torch"]), "--working-copies", dice.choice(["on", "off"])]
    if precision == "bf16":
        flags += ["--master-weights", dice.choice(["on", "on", "off"])]
    if dice.random() < 0.3:
        flags += choose_groups(folder / "groups.toml", names, dice)
    if dice.random() < 0.3:
        flags += ["--accumulation", "off"]
    else:
        run += ["--accum", "2"]
    if dice.random() < 0.1:
        flags.append("--debug-nan")
    if dice.random() < 0.5:
        run += ["--clip", dice.choice(["0.1", "10"])]
    return flags + ["--clip-norm", dice.choice(["1", "2", "2", "3", "inf"])], run


def choose_bucket(dice):
    rule = dice.choice(["scope", "scope", f"bytes:{10 ** dice.randint(1, 6)}", f"params:{10 ** dice.randint(1, 5)}"])
    return ["--bucket", rule, "--shard-align", dice.choice(["1", "2", "7", "16", "128", "128", "1000"])]


# --- The same bytes -------------------------------------------------------------------------------


def expect_same(first, second, what):
    if first != second or not first:
        raise RuntimeError(f"expects {what} to be the same, but got {str(first)[:200]} and {str(second)[:200]}")


def losses(path):
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [{key: line.get(key) for key in ("step", "loss", "lr", "grad_norm", "loss_scale")}
            for line in lines if "loss" in line]


class Pair:
    """One model as two programs."""

    def __init__(self, folder, model, flags, run):
        self.folder, self.model, self.flags, self.run = folder, model, flags, run

    def compile(self, name, bucket):
        """The program, and its plan as text."""
        flags, plan = [*self.flags, *bucket], self.folder / f"{name}.mlir"
        need("weft", "compile", self.model, *flags, "-o", self.folder / name)
        need("weft", "compile", self.model, *flags, "--to=verify-plan", "-o", plan)
        return plan.read_text()

    def train(self, program, name, *flags, env=None):
        need(self.folder / program, *self.run, "--lr", "0.01", "--progress", "none", "--steps", "4", "--threads", "1",
             "--save-dir", self.folder / name, "--metrics", self.folder / f"{name}.jsonl", *flags, env=env)

    def compare(self, source):
        folder = self.folder
        self.train("plain", "a", "--dump-grads", folder / "a.grads")
        self.train("flat", "b", "--dump-grads", folder / "b.grads", env=dict(os.environ, WEFT_FAULT="arena:poison"))
        expect_same(losses(folder / "a.jsonl"), losses(folder / "b.jsonl"), "the losses")
        need(sys.executable, source / "test/Train/same-runs.py", "tensors", folder / "a.grads", folder / "b.grads")
        need("weft", "ckpt", "diff", folder / "a", folder / "b")
        for name in "ab":
            need("weft", "ckpt", "export", folder / name, folder / f"{name}.out")
        expect_same(*((folder / f"{name}.out/model.safetensors").read_bytes() for name in "ab"), "the export")
        for name, order in (("c", ("plain", "flat")), ("d", ("flat", "plain"))):
            self.train(order[0], name, "--stop-after", "2")
            self.train(order[1], name, "--resume", "must", env=dict(os.environ, WEFT_FAULT="arena:poison"))
            need("weft", "ckpt", "diff", folder / "a", folder / name)


def gap_bytes(plan):
    """Bytes of flat states outside of their segments, and the most for the alignment of their ends."""
    total = 0
    for line in plan.splitlines():
        found = re.search(r"plan\.state .*memref<(\d+)x(\w+)>", line)
        if found and "segments = " in line:
            used = sum(int(end) - int(begin) for begin, end in SEGMENT.findall(line))
            total += (int(found[1]) - used) * BYTES[found[2]] + 64
    return total


def arena(plan):
    return int(re.search(r"plan\.arena_bytes = (\d+)", plan)[1])


def widened_bytes(plan):
    """With --debug-nan each op of a norm is a kernel: the elements of a bucket in f64, and their powers, at once."""
    buckets = re.findall(r"plan\.state gradient .*memref<(\d+)x\w+>.*segments = ", plan)
    return 16 * max(map(int, buckets), default=0)


def compare_plans(plain, flat, debugs):
    expect_same(str(plain.count("plan.copy ")), str(flat.count("plan.copy ")), "the number of copies")
    most = arena(plain) + gap_bytes(flat) + (widened_bytes(flat) if debugs else 0)
    if arena(flat) > most:
        raise RuntimeError(f"expects at most {most} bytes of memory, but got {arena(flat)}")


def try_program(folder, model, dice):
    """The number of parameters in flat states."""
    text, small = [], []
    if model == "random":
        path = folder / "net.mlir"
        path.write_text(Network(dice).text())
        names = [line.split()[1][1:] for line in path.read_text().splitlines()
                 if "weft.param" in line and "tie =" not in line and "trainable = false" not in line]
        data = args.work / "digits.safetensors"
    else:
        path, data, small = args.source / "examples" / model, args.source / "test/Inputs/corpus.txt", ["--batch", "1", "--seq", "8"]
        names = ["transformer.h.1.mlp.c_fc.bias", "transformer.h.0.ln_1.weight", "transformer.wpe.weight"]
        if model.startswith("llama"):
            names = ["model.layers.0.self_attn.q_proj.weight", "model.norm.weight", "model.embed_tokens.weight"]
    flags, run = choose_flags(folder, names, dice)
    bucket = choose_bucket(dice)
    pair = Pair(folder, path, [*small, *flags], ["--data", data, *run])
    (folder / "flags").write_text(" ".join(map(str, [*pair.flags, *bucket, *pair.run])) + "\n")
    plain = pair.compile("plain", ["--bucket", "none"])
    flat = pair.compile("flat", bucket)
    compare_plans(plain, flat, debugs="--debug-nan" in flags)
    pair.compare(args.source)
    if model == "random":
        need("weft-interp", "--compare", folder / "plain.mlir", folder / "flat.mlir", "--steps=2", "--tolerance=0")
    return sum(line.count("#plan.segment") for line in flat.splitlines() if "plan.state param " in line)


def main():
    shutil.rmtree(args.work, ignore_errors=True)
    args.work.mkdir(parents=True)
    need(sys.executable, args.source / "examples/make_mlp_data.py", args.work / "digits.safetensors", "--rows", "64")
    tried = failed = joined = 0
    for model in args.models.split(","):
        for seed in args.seeds:
            dice, tried = random.Random(f"{model} {seed}"), tried + 1
            folder = args.work / f"{model}-{seed}"
            folder.mkdir()
            try:
                joined += try_program(folder, model, dice)
            except (RuntimeError, subprocess.TimeoutExpired) as failure:
                failed += 1
                print(f"{model}, seed {seed}: {failure}\n  {(folder / 'flags').read_text()}", flush=True)
            if not args.keep:
                shutil.rmtree(folder)
    print(f"{tried} programs, {joined} parameters in buckets, {failed} wrong", flush=True)
    if not failed and not joined:
        sys.exit("buckets.py: error: expects a program with parameters in buckets: try more seeds")
    sys.exit(1 if failed else 0)


main()
