"""Updates that differ in their tensors alone call the kernels of the first: against the interpreter.

usage: repeated-updates.py --work DIR --seeds A:B

Each seed writes a program of updates of parameters whose shapes, types, factors and numbers are often those of
another, with what keeps an update from being a repeat: gradients that are computed, results that nothing keeps, a
parameter that is updated twice, a state that is read twice, numbers of its own; and with what cuts an update into
several kernels: factors by range, limits of ops and buffers, every op apart. weft-interp compares the program with its kernels (BOUND in f64).
"""
import argparse
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "random-graphs"), str(HERE)]

from graph import write_tensors  # noqa: E402
from seeds import seed_range  # noqa: E402

BOUND = "1e-8"
STATES = {"adamw": ["exp_avg", "exp_avg_sq"], "adam": ["exp_avg", "exp_avg_sq"], "sgd": ["momentum_buffer"]}
NUMBERS = {"adamw": 5, "adam": 5, "sgd": 3}


def spell(shape, element):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


class Program:
    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.symbols, self.lines, self.writes, self.outputs, self.values = [], [], [], [], {}

    def add(self, text):
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = weft.{text}")
        return name

    def state(self, name, shape, element, kind=None, positive=False):
        """Declares a parameter or a state and gives it random elements."""
        count = 1
        for size in shape:
            count *= size
        numbers = [self.dice.gauss(0, 1) for _ in range(count)]
        if positive:
            numbers = [abs(number) for number in numbers]
        if element == "bf16":
            numbers = [struct.unpack("<I", struct.pack("<f", number))[0] >> 16 for number in numbers]
        self.values[name] = (element, shape, numbers)
        extra = f" {{kind = #weft.state_kind<{kind}>}}" if kind else " {init = #weft.init<normal, 0.0, 1.0>}"
        self.symbols.append(f"weft.{'state' if kind else 'param'} @{name} : {spell(shape, element)}{extra}")
        return self.add(f"read @{name} : {spell(shape, element)}")

    def scalars(self):
        dice = self.dice
        coefs = [self.add(f"constant dense<{dice.choice([1.0, 0.25, 0.7]):e}> : tensor<f32>")]
        if dice.random() < 0.5:  # One that follows from the gradients, as clipping has it.
            coefs.append(None)
        skips = [self.add(f"constant dense<{dice.choice(['true', 'false', 'false'])}> : tensor<i1>") for _ in range(2)]
        steps = [self.add(f"constant dense<{dice.choice([1, 2, 77])}> : tensor<i64>") for _ in range(2)]
        rates = [10.0 ** dice.uniform(-5, 0), dice.choice([0.0, dice.random()]), dice.choice([0.0, 0.9]), 0.999, 1e-8]
        numbers = [self.add(f"constant dense<{rate:.17e}> : tensor<f64>") for rate in rates]
        return coefs, skips, steps, numbers

    def ranges(self, size):
        """Factors that go by range of elements."""
        dice, words = self.dice, []
        for begin in [0, *sorted(dice.sample(range(1, size), dice.randrange(1, min(size - 1, 20) + 1)))]:
            parts = [f"{key} = {dice.choice([0.0, 0.3, 0.5, 2.0])}" for key in ("lr_scale", "decay_scale")
                     if dice.random() < 0.6]
            words.append(f"#weft.factors<{', '.join([f'from {begin}', *parts])}>")
        return f"factors = [{', '.join(words)}]"

    def options(self):
        """How weft-fuse cuts."""
        dice = self.dice
        words = [f"{name}={dice.choice(values)}" for name, values in
                 (("max-ops", [4, 8, 12, 16]), ("max-buffers", [6, 8, 10]), ("apart", ["true"])) if dice.random() < 0.3]
        return " ".join(words)

    def coefficient(self, grads):
        norm = self.add(f"norm_and_check {', '.join(grad for grad, _ in grads)} {{p = 2.0 : f64}} : "
                        f"{', '.join(kind for _, kind in grads)}")
        self.lines[-1] = self.lines[-1].replace(f"{norm} =", f"{norm}, {norm}_bad =")
        limit = self.add("constant dense<1.0e+00> : tensor<f64>")
        return self.add(f"clip_coefficient {norm}, {limit}")

    def parameter(self, index, kinds):
        """The operands of an update, and their types."""
        dice, (name, shape, low, grad_low, factors) = self.dice, self.dice.choice(kinds)
        label = f"p{index}"
        param = (self.state(label, shape, low), spell(shape, low))
        states = [(self.state(f"{label}.{state}", shape, "f32", "optimizer", positive=True), spell(shape, "f32"))
                  for state in STATES[name]]
        grad = (self.state(f"{label}.grad", shape, grad_low, "gradient"), spell(shape, grad_low))
        if dice.random() < 0.1 and grad[1] == param[1]:
            grad = param
        elif dice.random() < 0.15 and grad[1] in self.grads:
            grad = (self.grads[grad[1]], grad[1])
        self.grads[grad[1]] = grad[0]
        if dice.random() < 0.15:
            grad = (self.add(f"mul {grad[0]}, {grad[0]} : {grad[1]}, {grad[1]}"), grad[1])
        return label, name, factors, param, states, grad

    def update(self, entry, shared):
        dice, (label, name, factors, param, states, grad) = self.dice, entry
        coefs, skips, steps, numbers = shared
        pick = lambda values: values[0] if dice.random() < 0.85 else values[-1]
        operands = [param, *states, grad, (coefs[-1], "tensor<f32>"), (pick(skips), "tensor<i1>"),
                    (pick(steps), "tensor<i64>"), *((number, "tensor<f64>") for number in numbers[:NUMBERS[name]])]
        results = [param[1], *(kind for _, kind in states)]
        working = label in self.working
        if working:
            results.append(re.sub("f32|bf16|f16", self.working[label], param[1]))
        text = (f"{name}({', '.join(value for value, _ in operands)}) {{{factors}}} : "
                f"({', '.join(kind for _, kind in operands)}) -> ({', '.join(results)})")
        made = self.add(text)
        self.lines[-1] = self.lines[-1].replace(f"{made} =", f"{made}:{len(results)} =", 1)
        return [(f"{made}#{i}", kind) for i, kind in enumerate(results)]

    def make(self):
        dice = self.dice
        self.working, self.grads = {}, {}
        kinds = [(dice.choice(sorted(STATES)), dice.choice([[], [1], [5], [64], [3, 17], [128, 4], [2, 3, 8]]),
                  dice.choice(["f32", "f32", "f16", "bf16"]), None,
                  ", ".join(f"{key} = {dice.choice([0.0, 0.5, 2.0]):e} : f64" for key in ("lr_scale", "decay_scale")
                            if dice.random() < 0.4)) for _ in range(dice.randrange(1, 4))]
        kinds = [(name, shape, low, dice.choice(["f32", low]),
                  self.ranges(shape[0]) if len(shape) == 1 and shape[0] > 1 and dice.random() < 0.6 else factors)
                 for name, shape, low, _, factors in kinds]
        shared = self.scalars()
        entries = [self.parameter(index, kinds) for index in range(dice.randrange(2, 9))]
        if shared[0][-1] is None:
            shared[0][-1] = self.coefficient([entry[5] for entry in entries])
        for label, *_, param, _, _ in entries:
            if "tensor<f32>" not in param[1] and dice.random() < 0.3:
                self.working[label] = "bf16"
        for label, name, factors, param, states, grad in entries:
            results = self.update((label, name, factors, param, states, grad), shared)
            if dice.random() < 0.1:  # The same parameter once more, from the new values.
                results = self.update((label, name, factors, results[0], results[1:1 + len(states)], grad), shared)
            names = [label, *(f"{label}.{state}" for state in STATES[name])]
            if label in self.working:
                names.append(f"{label}.low")
                self.symbols.append(f"weft.state @{label}.low : {results[-1][1]} {{kind = #weft.state_kind<working>, "
                                    f"param = @{label}}}")
            for symbol, (value, kind) in zip(names, results):
                if dice.random() < 0.03:
                    continue
                self.writes.append((symbol, value, kind))
            if dice.random() < 0.2:
                value, kind = results[0]
                dims = ", ".join(str(i) for i in range(kind.count("x")))
                if dims:
                    total = self.add(f"reduce sum {value} dims [{dims}] : {kind}")
                    self.outputs.append((total, "tensor<" + kind.split("x")[-1]))
        return self.module()

    def module(self):
        ports = ", ".join(f'{kind} {{weft.output = "o{i}"}}' for i, (_, kind) in enumerate(self.outputs))
        shown = ""
        if self.outputs:
            values, kinds = zip(*self.outputs)
            shown = f"{', '.join(values)} : {', '.join(kinds)} "
        written = ", ".join(f"@{symbol} = {value} : {kind}" for symbol, value, kind in self.writes)
        lines = "\n  ".join(self.lines)
        return ("\n".join(self.symbols) + f"\nweft.program @apply() -> ({ports}) attributes "
                f"{{kind = #weft.kind<apply>}} {{\n  {lines}\n  weft.return {shown}writes {written}\n}}\n")


def call(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


def check(name, program, folder):
    """The problem in words, or nothing; and the number of updates that called the kernels of another."""
    before, fused, tensors = (folder / f"{name}{end}" for end in (".mlir", "-fused.mlir", ".safetensors"))
    before.write_text(program.make())
    write_tensors(tensors, program.values)
    code, text = call("weft-opt", before, "--weft-decompose", f"--weft-fuse={program.options()}",
                      "--remarks-filter=fusion", "-o", fused)
    if code:
        return text[-1500:], 0
    repeats = sum(map(int, re.findall(r"remark: .*this update, one of (\d+) that differ", text)))
    code, text = call("weft-interp", "--compare", before, fused, f"--tolerance={BOUND}", "--state", tensors)
    if code:
        return text[-1500:], repeats
    left = re.findall(rf"weft\.(?:{'|'.join(STATES)})\(", fused.read_text())
    if left:
        return f"expects kernels, but got {left[0]}", repeats
    for path in (before, fused, tensors):
        path.unlink()
    return "", repeats


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--seeds", default="0:20", type=seed_range)
    args = parser.parse_args()
    shutil.rmtree(args.work, ignore_errors=True)
    args.work.mkdir(parents=True)
    wrong = total = 0
    for seed in args.seeds:
        problem, repeats = check(f"updates-{seed}", Program(seed), args.work)
        total += repeats
        if problem:
            wrong += 1
            print(f"seed {seed}: {problem}", flush=True)
    print(f"{len(args.seeds)} programs with {total} repeated updates, {wrong} wrong")
    sys.exit(1 if wrong else 0)


main()
