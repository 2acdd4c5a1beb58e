"""Formulas of the ops of a step against what the interpreter says these ops compute.

usage: update-formulas.py --work DIR --seeds A:B

Each seed writes a program of updates with random shapes, types and numbers, of norms whose gradients may hold
infinities and NaNs, and of a long trace of the loss scale under a random policy. weft-decompose writes them out,
and weft-interp compares the results: the scale and its state to the bit, all else within BOUND in f64.
"""
import argparse
import pathlib
import random
import shutil
import subprocess
import sys

from seeds import seed_range

# A moment that falls by six orders of magnitude keeps as many digits less in one of two forms of lerp.
BOUND = "1e-8"
OPTIMIZERS = {"adamw": (2, 5, 0.01), "adam": (2, 5, 0.0), "sgd": (1, 3, 0.0)}
POLICIES = {"torch": {}, "deepspeed": {"hysteresis": 3, "consecutive": "true"}, "mmcv": {},
            "deepspeed_fused": {}, "colossalai": {"hysteresis": 3}}


def text(number):
    names = {"inf": "0x7F800000", "-inf": "0xFF800000", "nan": "0x7FC00000"}
    return names[number] if isinstance(number, str) else f"{number:.9e}"


class Program:
    def __init__(self, seed):
        self.dice, self.lines, self.results, self.count = random.Random(seed), [], [], 0

    def add(self, what, results=1):
        self.count += 1
        names = [f"%v{self.count}_{i}" for i in range(results)]
        self.lines.append(f"    {', '.join(names)} = weft.{what}")
        return names[0] if results == 1 else names

    def show(self, value, kind):
        self.results.append((value, kind))

    def numbers(self, shape, element="f32", special=0.0, positive=False):
        count, dice = 1, self.dice
        for size in shape:
            count *= size
        values = [dice.choice([0.0, dice.gauss(0, 1), dice.gauss(0, 1) * 10.0 ** dice.randrange(-3, 4)])
                  for _ in range(count)]
        if positive:
            values = [abs(value) for value in values]
        if dice.random() < special:
            values[dice.randrange(count)] = dice.choice(["inf", "-inf", "nan"])
        kind = f"tensor<{''.join(f'{size}x' for size in shape)}f32>"
        nested = ", ".join(map(text, values))
        value = self.add(f"constant dense<[{nested}]> : tensor<{count}xf32>")
        value = self.add(f"reshape {value} : tensor<{count}xf32> to {kind}")
        if element != "f32":
            low = kind.replace("f32>", element + ">")
            value, kind = self.add(f"cast {value} : {kind} to {low}"), low
        return value, kind

    def scalar(self, value, kind):
        if kind in ("f32", "f64"):
            value = f"{value:.17e}"
        return self.add(f"constant dense<{value}> : tensor<{kind}>"), f"tensor<{kind}>"

    def shape(self):
        return [self.dice.choice([1, 2, 3, 5, 17, 64]) for _ in range(self.dice.randrange(0, 3))]

    def update(self):
        dice, shape = self.dice, self.shape()
        name = dice.choice(sorted(OPTIMIZERS))
        states, numbers, _ = OPTIMIZERS[name]
        low = dice.choice(["f32", "f32", "f16", "bf16"])
        operands = [self.numbers(shape, low)]
        operands += [self.numbers(shape, positive=index == 1) for index in range(states)]
        # Infinities come with a skipped step: lerp and its mirror image differ for them.
        skip = dice.random() < 0.3
        operands.append(self.numbers(shape, dice.choice(["f32", low]), special=0.5 * skip))
        operands += [self.scalar(dice.choice([1.0, 0.25, dice.random()]), "f32"),
                     self.scalar("true" if skip else "false", "i1"),
                     self.scalar(dice.choice([1, 2, dice.randrange(1, 10000)]), "i64")]
        rates = [10.0 ** dice.uniform(-5, 0), dice.choice([0.0, dice.random()]),
                 dice.choice([0.0, 0.9, dice.random()]), dice.choice([0.999, dice.random()]), 10.0 ** dice.uniform(-8, -2)]
        operands += [self.scalar(rate, "f64") for rate in rates[:numbers]]
        types = [kind for _, kind in operands]
        results = types[:states + 1]
        if dice.random() < 0.4:
            element = dice.choice(["f16", "bf16"])
            results = results + [f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"]
        flags = [f"{key} = {dice.choice([0.0, 0.5, 2.0]):e} : f64" for key in ("lr_scale", "decay_scale")
                 if dice.random() < 0.4]
        if name == "sgd" and dice.random() < 0.5:
            flags.append("nesterov")
        made = self.add(f"{name}({', '.join(value for value, _ in operands)}) {{{', '.join(flags)}}} : "
                        f"({', '.join(types)}) -> ({', '.join(results)})", len(results))
        for value, kind in zip(made, results):
            self.show(value, kind)

    def norm(self):
        dice = self.dice
        p = dice.choice(["1.0", "2.0", "3.0", "0x7FF0000000000000"])
        parts = []
        for _ in range(dice.randrange(1, 4)):
            shapes = [self.shape() for _ in range(dice.randrange(1, 4))]
            shapes[0] = dice.choice([shapes[0], [dice.choice([4099, 8192, 12288])]])
            grads = [self.numbers(shape, dice.choice(["f32", "f16", "bf16"]), special=0.2) for shape in shapes]
            norm, bad = self.add(f"norm_and_check {', '.join(value for value, _ in grads)} {{p = {p} : f64}} : "
                                 f"{', '.join(kind for _, kind in grads)}", 2)
            self.show(bad, "tensor<i1>")
            parts.append((norm, bad))
        scale = self.scalar(2.0 ** dice.randrange(-3, 17), "f32")[0] if dice.random() < 0.5 else None
        behind = f" scale {scale}" if scale else ""
        total = self.add(f"total_norm {', '.join(norm for norm, _ in parts)} skip {', '.join(bad for _, bad in parts)}"
                         f"{behind} {{p = {p} : f64}}")
        limit = self.scalar(dice.choice([0.0, 1.0, dice.random() * 100]), "f64")[0]
        for value in (total, *(norm for norm, _ in parts)):
            self.show(value, "tensor<f64>")
        self.show(self.add(f"clip_coefficient {total}, {limit}{behind}"), "tensor<f32>")

    def trace(self):
        """A loss scale from step to step."""
        dice, policy = self.dice, self.dice.choice(sorted(POLICIES))
        rule = {"growth": dice.choice([1.5, 2.0, 1048576.0]), "backoff": dice.choice([0.5, 0.1, 0.9]),
                "interval": dice.randrange(1, 5), **POLICIES[policy]}
        if policy in ("deepspeed", "colossalai"):
            rule["hysteresis"] = dice.randrange(1, 4)
        minimum = dice.choice([None, 0.5, 8.0])
        if minimum:
            rule["minimum"] = minimum
        attribute = f"#weft.scaler<{policy}, {', '.join(f'{key} = {value}' for key, value in rule.items())}>"
        # A loaded state may have more left than the rule gives.
        left = dice.choice([rule.get("hysteresis", 1), dice.randrange(0, 5)])
        scale = self.scalar(dice.choice([16.0, 65536.0, 1e38, 2e-45]), "f32")[0]
        state = self.add(f"constant dense<[0, {dice.choice([-1, 0])}, {left}]> : tensor<3xi64>")
        step = self.scalar(0, "i64")[0]
        likely = dice.random()
        for _ in range(dice.randrange(1, 20)):
            bad = self.scalar("true" if dice.random() < likely else "false", "i1")[0]
            scale, state, ended = self.add(f"scaler_update {scale}, {state}, {bad} by {attribute}", 3)
            step = self.add(f"step_increment {step}, {bad}")
            for value, kind in ((scale, "f32"), (state, "3xi64"), (ended, "i1"), (step, "i64")):
                self.show(value, f"tensor<{kind}>")

    def accumulate(self):
        shape, kind = self.shape(), self.dice.choice(["f32", "f16"])
        old, value = self.numbers(shape, kind, special=0.5), self.numbers(shape, kind)
        flag = self.scalar(self.dice.choice([0.0, 1.0]), "f32")[0]
        self.show(self.add(f"accumulate {old[0]}, {value[0]}, {flag} : {old[1]}"), old[1])

    def updates(self):
        for make in (self.update, self.update, self.norm, self.accumulate):
            make()
        return self.module()

    def scales(self):
        self.trace()
        return self.module()

    def module(self):
        outputs = ", ".join(f'{kind} {{weft.output = "o{i}"}}' for i, (_, kind) in enumerate(self.results))
        values, kinds = zip(*self.results)
        return (f"weft.program @eval() -> ({outputs}) attributes {{kind = #weft.kind<eval>}} {{\n"
                + "\n".join(self.lines) + f"\n    weft.return {', '.join(values)} : {', '.join(kinds)}\n}}\n")


def check(name, module, flags, folder):
    """The problem in words, or nothing."""
    before, after = folder / f"{name}.mlir", folder / f"{name}-formulas.mlir"
    before.write_text(module)
    for command in (["weft-opt", before, "--weft-decompose", "-o", after],
                    ["weft-interp", "--compare", before, after, *flags]):
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120)
        if done.returncode:
            return done.stdout[-1500:] + done.stderr[-1500:]
    written = after.read_text()
    left = [name for name in (*OPTIMIZERS, "norm_and_check", "total_norm", "clip_coefficient", "scaler_update",
                              "step_increment", "accumulate") if f"weft.{name} " in written or f"weft.{name}(" in written]
    before.unlink()
    after.unlink()
    return f"expects formulas, but got weft.{left[0]}" if left else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--seeds", default="0:20", type=seed_range)
    args = parser.parse_args()
    shutil.rmtree(args.work, ignore_errors=True)
    args.work.mkdir(parents=True)
    wrong = 0
    for seed in args.seeds:
        # The scale is an f32 number in the interpreter, whatever the mode.
        problem = (check(f"updates-{seed}", Program(seed).updates(), [f"--tolerance={BOUND}"], args.work)
                   or check(f"scales-{seed}", Program(seed).scales(), ["--mode=f32", "--tolerance=0"], args.work))
        if problem:
            wrong += 1
            print(f"seed {seed}: {problem}", flush=True)
    print(f"{len(args.seeds)} programs, {wrong} wrong")
    sys.exit(1 if wrong else 0)


main()
