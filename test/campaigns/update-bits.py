"""Updates of compiled programs against PyTorch's arithmetic, to the bit.

usage: update-bits.py --work DIR --seeds A:B [--contract] [--keep]

The loss of each seed's model is a sum of its parameters times a row of the data, so that its gradients are known. A
program trains with a random optimizer, numbers, groups, clipping and loss scale, some steps of which overflow. The
single-tensor implementations of torch.optim, written out here with each operation rounded to f32, have to make the
bits of all parameters and moments in each checkpoint. --contract rounds a product and a sum once, as contracted
code would: programs have to be found wrong then.
"""
import argparse
import json
import math
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys

from seeds import seed_range

STEPS = 12
CONTRACTS = "--contract" in sys.argv
GROUPS = """[[group]]
match = "^b$"
lr_scale = {lr_scale}
weight_decay = {weight_decay}
name = "second"
"""
MODEL = """weft.param @a : tensor<{n}xf32> {{init = #weft.init<ones>}}
weft.param @b : tensor<{m}x{k}xf32> {{init = #weft.init<ones>}}
weft.program @model(%x: tensor<1x{n}xf32> {{weft.input = "x"}}, %y: tensor<1x{m}x{k}xf32> {{weft.input = "y"}})
    -> (tensor<f32> {{weft.output = "loss"}}) attributes {{kind = #weft.kind<model>}} {{
  %a = weft.read @a : tensor<{n}xf32>
  %b = weft.read @b : tensor<{m}x{k}xf32>
  %p = weft.mul %x, %a : tensor<1x{n}xf32>, tensor<{n}xf32>
  %q = weft.mul %y, %b : tensor<1x{m}x{k}xf32>, tensor<{m}x{k}xf32>
  %s = weft.reduce sum %p dims [0, 1] : tensor<1x{n}xf32>
  %t = weft.reduce sum %q dims [0, 1, 2] : tensor<1x{m}x{k}xf32>
  %loss = weft.add %s, %t : tensor<f32>, tensor<f32>
  weft.return %loss : tensor<f32>
}}
"""


def f32(number):
    """Rounded to f32; of a sum, product, quotient or root of two f32 numbers that is what f32 arithmetic makes."""
    return struct.unpack("<f", struct.pack("<f", number))[0]


class Adam:
    """torch.optim.Adam, and AdamW, whose decay is decoupled."""
    states = ("exp_avg", "exp_avg_sq")

    def __init__(self, numbers, decoupled):
        self.numbers, self.decoupled = numbers, decoupled

    def update(self, p, state, grad, coef, step, lr, decay):
        n, (m, v) = self.numbers, state
        lerp, beta2, rest2 = f32(1 - n["beta1"]), f32(n["beta2"]), f32(1 - n["beta2"])
        size = f32(lr / (1 - n["beta1"] ** step))
        root = f32(math.sqrt(1 - n["beta2"] ** step))
        g = f32(grad * coef)
        if self.decoupled:
            p = f32(p * f32(1 - lr * decay))
        else:
            g = f32(g + f32(p * f32(decay)))
        # lerp starts from the nearer end.
        near, weight = (m, lerp) if lerp < 0.5 else (g, f32(lerp - 1))
        m = f32(near + f32(weight * f32(g - m)))
        v = add(v * beta2, f32(f32(rest2 * g) * g))
        root = f32(f32(f32(math.sqrt(v)) / root) + f32(n["eps"]))
        return f32(p - f32(f32(size * m) / root)), [m, v]


class Sgd:
    """torch.optim.SGD with dampening 0."""
    states = ("momentum_buffer",)

    def __init__(self, numbers, nesterov):
        self.numbers, self.nesterov = numbers, nesterov

    def update(self, p, state, grad, coef, step, lr, decay):
        momentum = f32(self.numbers["momentum"])
        g = f32(f32(grad * coef) + f32(p * f32(decay)))
        b = g if step == 1 else add(state[0] * momentum, g)
        direction = add(momentum * b, g) if self.nesterov else b
        return f32(p - f32(f32(lr) * direction)), [b]


def write_tensors(path, tensors):
    header, data = {}, b""
    for name, (shape, values) in tensors.items():
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + 4 * len(values)]}
        data += struct.pack(f"<{len(values)}f", *values)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read_tensors(path):
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    tensors = {}
    for name, info in json.loads(data[8:8 + length]).items():
        if name == "__metadata__":
            continue
        part = data[slice(*(8 + length + at for at in info["data_offsets"]))]
        if info["dtype"] == "F32":
            tensors[name] = struct.unpack(f"<{len(part) // 4}f", part)
    return tensors


def add(product, number):
    """Of a product of f32 numbers."""
    return f32((product if CONTRACTS else f32(product)) + number)


def norm_of(values, p):
    if math.isinf(p):
        return max(map(abs, values))
    return math.fsum(abs(v) ** p for v in values) ** (1 / p)


class Case:
    def __init__(self, seed, folder):
        self.dice, self.folder = random.Random(seed), folder
        dice = self.dice
        self.kind = dice.choice(["adamw", "adam", "sgd"])
        self.numbers = {"lr": dice.choice([1e-3, 0.02, 0.3]), "weight_decay": dice.choice([0.0, 0.1, 0.37])}
        if self.kind == "sgd":
            self.numbers["momentum"] = dice.choice([0.0, 0.5, 0.9])
            self.optimizer = Sgd(self.numbers, dice.random() < 0.5)
        else:
            self.numbers.update(beta1=dice.choice([0.9, 0.3, 0.5, 0.999]), beta2=dice.choice([0.999, 0.95, 0.4]),
                                eps=dice.choice([1e-8, 1e-4]))
            self.optimizer = Adam(self.numbers, self.kind == "adamw")
        self.power = dice.choice([1.0, 2.0, 2.0, 3.0, math.inf])
        self.clip = dice.choice([0.0, 0.0, 0.7, 5.0])
        self.group = (dice.choice([0.5, 3.0]), dice.choice([0.0, 0.21])) if dice.random() < 0.5 else None
        self.scales = dice.random() < 0.5
        self.shapes = {"a": [dice.choice([1, 5, 64, 1003])], "b": [dice.choice([1, 3, 17]), dice.choice([1, 8, 33, 300])]}

    def compile(self):
        (n,), (m, k) = self.shapes.values()
        model = self.folder / "model.mlir"
        model.write_text(MODEL.format(n=n, m=m, k=k))
        flags = [f"--optimizer={self.kind}", f"--clip-norm={self.power:g}",
                 f"--bucket={self.dice.choice(['none', 'scope'])}"]
        if self.kind == "sgd" and self.optimizer.nesterov:
            flags.append("--nesterov")
        if self.group:
            (self.folder / "groups.toml").write_text(GROUPS.format(lr_scale=self.group[0], weight_decay=self.group[1]))
            flags.append(f"--groups={self.folder / 'groups.toml'}")
        if self.scales:
            flags += ["--loss-scale=dynamic", "--scaler-init=64", "--scaler-interval=3"]
        else:
            flags.append("--loss-scale=none")
        call("weft", "compile", model, *flags, "-o", self.folder / "program")

    def draw(self, shape, width):
        # Few digits: scaled they stay what they are.
        return [self.dice.randrange(-127, 128) / width for _ in range(math.prod(shape))]

    def train(self):
        """The metrics of all steps."""
        self.row = {name: self.draw(shape, 64) for name, shape in self.shapes.items()}
        self.first = {name: self.draw(shape, 128) for name, shape in self.shapes.items()}
        write_tensors(self.folder / "rows.safetensors", {
            to: ([1, *self.shapes[name]], self.row[name]) for to, name in (("x", "a"), ("y", "b"))})
        write_tensors(self.folder / "first.safetensors", {
            name: (shape, self.first[name]) for name, shape in self.shapes.items()})
        fault = ""
        if self.scales:
            fault = ";".join(f"num:{self.dice.choice(['inf', 'nan'])}@step={self.dice.randrange(1, STEPS)}"
                             for _ in range(3))
        flags = [word for name, value in self.numbers.items() for word in (f"--{name.replace('_', '-')}", repr(value))]
        if self.clip:
            flags += ["--clip", repr(self.clip)]
        call(self.folder / "program", "--data", self.folder / "rows.safetensors", "--init-from",
             self.folder / "first.safetensors", "--steps", STEPS, "--no-shuffle", "--save-every", 1, "--save-dir",
             self.folder / "ck", "--keep", STEPS, "--metrics", self.folder / "metrics.jsonl", "--progress", "none",
             *flags, fault=fault)
        lines = [json.loads(line) for line in (self.folder / "metrics.jsonl").read_text().splitlines()]
        return [line for line in lines if "loss" in line]

    def check(self):
        steps, counts = self.train(), dict.fromkeys(self.first, 0)
        if len(steps) != STEPS:
            raise RuntimeError(f"expects {STEPS} steps, but got {len(steps)}")
        values = {name: list(numbers) for name, numbers in self.first.items()}
        states = {name: [[0.0] * len(self.optimizer.states) for _ in numbers] for name, numbers in values.items()}
        for line in steps:
            scale = line["loss_scale"] if self.scales else 1
            # Only a overflows; a group with numbers of its own is an optimizer of its own.
            updated = [name for name in values if not line["skipped"] or (self.group and name == "b")]
            norm = norm_of([x for name in updated for x in self.row[name]], self.power) if updated else 0
            coef = f32(min(1, self.clip / (norm + 1e-6)) if self.clip else 1)
            coef = f32(coef * f32(1 / scale))
            for name in updated:
                counts[name] += 1
                lr, decay = self.numbers["lr"], self.numbers["weight_decay"]
                if name == "a":
                    decay = 0.0  # a parameter of one dimension does not decay
                elif self.group:
                    lr, decay = lr * self.group[0], self.group[1]
                for i, grad in enumerate(self.row[name]):
                    values[name][i], states[name][i] = self.optimizer.update(
                        values[name][i], states[name][i], grad * scale, coef, counts[name], lr, decay)
            self.compare(line["step"], values, states)
        return sum(line["skipped"] for line in steps)

    def compare(self, step, values, states):
        (path,) = (self.folder / "ck" / f"step_{step:08}").glob("*.safetensors")
        got = read_tensors(path)
        for name, numbers in values.items():
            wanted = {name: numbers}
            for i, state in enumerate(self.optimizer.states):
                wanted[f"{name}.{state}"] = [each[i] for each in states[name]]
            for key, numbers in wanted.items():
                for i, (have, want) in enumerate(zip(got[key], numbers)):
                    if struct.pack("<f", have) != struct.pack("<f", want):
                        raise RuntimeError(f"step {step}: element {i} of {key} is {have!r}, but {want!r} in PyTorch")
                if len(got[key]) != len(numbers):
                    raise RuntimeError(f"{key} has {len(got[key])} elements")


def call(*command, fault=""):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300,
                            env=dict(os.environ, WEFT_FAULT=fault))
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit {result.returncode}\n{result.stderr[-2000:]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--seeds", type=seed_range, required=True)
    parser.add_argument("--contract", action="store_true")
    parser.add_argument("--keep", action="store_true", help="the programs, to look at a failure")
    args = parser.parse_args()
    wrong = skipped = 0
    for seed in args.seeds:
        folder = args.work / str(seed)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            case = Case(seed, folder)
            case.compile()
            skipped += case.check()
        except RuntimeError as error:
            wrong += 1
            print(f"seed {seed}: {error}")
        if not args.keep:
            shutil.rmtree(folder)
    print(f"{len(args.seeds)} programs, {skipped} skipped steps, {wrong} wrong")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
