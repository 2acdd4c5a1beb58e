"""Trains one step of random models with their rows split in several ways, and compares.

A model has a small network and one to three losses: cross-entropy with ignored targets, class weights and label
smoothing, or a mean of squares or of binary cross-entropy, perhaps with a learned factor. Its rows are one batch, or any
number of micro-batches on any number of ranks at any ZeRO stage. Some micro-batches, and some steps, have no target that
counts. For all splits

- the interpreter in f64 finds the same loss, gradients and parameters (1e-10 of the largest value);
- the executable has the same losses of two steps (1e-6) and gradients (3e-6 of the largest of the tensor; f16 2e-3, bf16 2e-2);
  The gradient of a learned factor, 1 minus a loss, is compared in units of 1;
- its evaluation of rows that do not fill the last batch gives the same validation loss (1e-6).

Each model has metrics, too: accuracies, error rates, a mean of sizes and a share of positive scores. Metrics of the first
step and of the evaluation equal those of numpy in f64 (1e-6; rows whose two largest scores are close may count either way).

Usage: token-exact.py --work DIR [--seeds A:B] [--low] [--keep]
"""
import argparse
import json
import pathlib
import random
import shutil
import struct
import subprocess
import sys

import numpy as np

from seeds import seed_range

parser = argparse.ArgumentParser()
parser.add_argument("--work", type=pathlib.Path, required=True)
parser.add_argument("--seeds", default="0:1", type=seed_range)
parser.add_argument("--low", action="store_true", help="f16 and bf16 with a fixed loss scale")
parser.add_argument("--keep", action="store_true", help="files of cases that passed, too")
args = parser.parse_args()

CLASSES, WIDTH, HIDDEN = 5, 6, 8
KINDS = {"F32": np.float32, "F64": np.float64, "I32": np.int32, "I64": np.int64, "BOOL": np.bool_}
TOLERANCES = {"f32": (1e-6, 3e-6), "f16": (2e-3, 2e-3), "bf16": (2e-2, 2e-2)}


def call(*command, codes=(0,)):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=600,
                            errors="replace")
    if result.returncode not in codes:
        raise RuntimeError(f"exit {result.returncode} of {' '.join(map(str, command))}:\n"
                           f"{(result.stdout + result.stderr)[-3000:]}")
    return result.returncode


# --- Tensor files ---------------------------------------------------------------------------------


def write_tensors(path, tensors):
    names = {value: key for key, value in KINDS.items()}
    header, data = {}, b""
    for name, value in tensors.items():
        raw = np.ascontiguousarray(value).tobytes()
        header[name] = {"dtype": names[value.dtype.type], "shape": list(value.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read_tensors(path):
    raw = path.read_bytes()
    size = struct.unpack("<Q", raw[:8])[0]
    header, data = json.loads(raw[8:8 + size]), raw[8 + size:]
    header.pop("__metadata__", None)
    return {name: np.frombuffer(data[slice(*entry["data_offsets"])], KINDS[entry["dtype"]])
            .reshape(entry["shape"]).astype(np.float64) for name, entry in header.items()}


# --- Metrics --------------------------------------------------------------------------------------

MARGINS = {"f32": 1e-5, "f16": 1e-2, "bf16": 1e-1}  # of scores whose order rounding may change


class Metric:
    """An output that is not trained, on logits %y, and perhaps on the targets of a loss."""

    def __init__(self, kind, loss=None):
        self.kind, self.loss = kind, loss
        self.name = kind + (str(loss.number) if loss else "")

    def lines(self, batch, steps):
        rows, name, kind = f"{batch}x{steps}", self.name, "tensor<f32>"
        logits = f"tensor<{rows}x{CLASSES}xf32>"
        if self.loss:
            n, mean = self.loss.number, name if self.kind == "accuracy" else f"a{name}"
            lines = [f"    %{mean} = weft.accuracy %y, %v{n} {{ignore_index = {self.loss.ignore} : i64}} : {logits}, "
                     f"tensor<{rows}xi32>"]
            if self.kind == "error":
                lines += [f"    %one{n} = weft.constant dense<1.0> : {kind}",
                          f"    %{name} = weft.sub %one{n}, %{mean} : {kind}, {kind}"]
            return lines
        if self.kind == "size":
            return [f"    %abs = weft.abs %y : {logits}", f"    %{name} = weft.reduce mean %abs dims [0, 1, 2] : {logits}"]
        return [f"    %none = weft.constant dense<0.0> : {kind}",
                f"    %isPositive = weft.compare gt %y, %none : {logits}, {kind}",
                f"    %asNumber = weft.cast %isPositive : tensor<{rows}x{CLASSES}xi1> to {logits}",
                f"    %{name} = weft.reduce mean %asNumber dims [0, 1, 2] : {logits}"]

    def exact(self, logits, data, margin):
        """The value, or None if no target counts; and how far rounding may move it."""
        if self.kind == "size":
            return np.abs(logits).mean(), margin
        if self.kind == "positive":
            return (logits > 0).mean(), (np.abs(logits) < margin).mean()
        targets = data[f"v{self.loss.number}"]
        counted = targets != self.loss.ignore
        if not counted.any():
            return None, 0
        two = np.sort(logits, axis=-1)[..., -2:]
        close = (two[..., 1] - two[..., 0] < margin)[counted].mean()
        accuracy = (logits.argmax(axis=-1) == targets)[counted].mean()
        return accuracy if self.kind == "accuracy" else 1 - accuracy, close


# --- A random model -------------------------------------------------------------------------------


class Loss:
    """One output of the model, on logits %y or on the scores %s of a row."""

    def __init__(self, dice, number):
        self.number, self.kind = number, dice.choice(["classes"] * 3 + ["mse", "bce"])
        self.weighted, self.smooth = dice.random() < 0.5, dice.choice([0, 0, 0.1])
        self.ignore = dice.choice([-100, -100, 1])
        self.weight = dice.choice([0.3, 1.0, 2.0])
        self.weights_from = dice.choice(["constant", "frozen"])
        self.first_weight = dice.choice([0.0, 0.5, 0.5])  # of a constant
        self.learned = dice.random() < 0.3

    def params(self):
        lines = [f"  weft.param @s{self.number} : tensor<f32> {{init = #weft.init<normal, 0.0, 0.3>}}"] * self.learned
        if self.kind == "classes" and self.weighted and self.weights_from == "frozen":
            lines.append(f"  weft.param @classes{self.number} : tensor<{CLASSES}xf32> "
                         "{init = #weft.init<uniform, 0.5, 2.0>, trainable = false}")
        return lines

    def value(self):
        return f"%m{self.number}" if self.learned else f"%l{self.number}"

    def factor_lines(self):
        """The loss times exp(-s), plus s, of a trained s."""
        n, kind = self.number, "tensor<f32>"
        return [f"    %s{n} = weft.read @s{n} : {kind}", f"    %n{n} = weft.neg %s{n} : {kind}",
                f"    %e{n} = weft.exp %n{n} : {kind}", f"    %p{n} = weft.mul %l{n}, %e{n} : {kind}, {kind}",
                f"    %m{n} = weft.add %p{n}, %s{n} : {kind}, {kind}"] * self.learned

    def lines(self, batch, steps):
        n, rows = self.number, f"{batch}x{steps}"
        if self.kind != "classes":
            op = "mse" if self.kind == "mse" else "bce_with_logits"
            return [f"    %l{n} = weft.{op} %y, %v{n} : tensor<{rows}x{CLASSES}xf32>"]
        lines, weight, kind = [], "", f"tensor<{CLASSES}xf32>"
        if self.weighted:
            if self.weights_from == "frozen":
                lines.append(f"    %c{n} = weft.read @classes{n} : {kind}")
            else:
                numbers = ", ".join(f"{0.5 + i / 3 if i else self.first_weight:.4e}" for i in range(CLASSES))
                lines.append(f"    %c{n} = weft.constant dense<[{numbers}]> : {kind}")
            weight = f" weight %c{n} : {kind}"
        facts = f"{{ignore_index = {self.ignore} : i64, label_smoothing = {self.smooth:.2e} : f64}}"
        return lines + [f"    %l{n}, %lse{n}, %d{n} = weft.cross_entropy %y, %v{n}{weight} {facts} : "
                        f"tensor<{rows}x{CLASSES}xf32>, tensor<{rows}xi32>"]

    def input(self, batch, steps):
        kind = f"{batch}x{steps}xi32" if self.kind == "classes" else f"{batch}x{steps}x{CLASSES}xf32"
        return f'%v{self.number}: tensor<{kind}> {{weft.input = "v{self.number}"}}'

    def data(self, rng, rows, steps, dice):
        if self.kind == "classes":
            targets = rng.integers(0, CLASSES, (rows, steps)).astype(np.int32)
            masked = rng.random((rows, steps)) < dice.choice([0.0, 0.3, 0.8])
            masked[rng.random(rows) < dice.choice([0.0, 0.3])] = True
            masked[0, 0] = False
            if dice.random() < 0.15:
                targets[:] = 0
            masked |= dice.random() < 0.15
            targets[masked] = self.ignore
            return targets
        values = rng.standard_normal((rows, steps, CLASSES))
        return (values if self.kind == "mse" else (values > 0)).astype(np.float32)


class Case:
    def __init__(self, seed):
        dice = self.dice = random.Random(seed)
        self.losses = [Loss(dice, n) for n in range(dice.choice([1, 1, 2, 3]))]
        self.steps = dice.choice([1, 2, 3])
        self.rows = dice.choice([4, 5, 6, 8, 10, 12, 20, 24, 30])
        self.sync = dice.choice(["last", "each"])
        self.precision = dice.choice(["f16", "bf16"]) if args.low else "f32"
        rng = np.random.default_rng(seed)
        self.first, second = self.draw(rng, self.rows), self.draw(rng, self.rows)
        self.train = {name: np.concatenate([values, second[name]]) for name, values in self.first.items()}
        self.val = self.draw(rng, dice.randint(1, 2 * self.rows))
        # Dice of their own: the losses of a seed do not change.
        metrics = random.Random(f"metrics of {seed}")
        self.metrics = [Metric(metrics.choice(["accuracy", "error"]), loss) for loss in self.losses if loss.kind == "classes"]
        self.metrics += [Metric(kind) for kind in ("size", "positive") if metrics.random() < 0.5]
        metrics.shuffle(self.metrics)
        self.weights = self.draw_weights(rng)

    def draw_weights(self, rng):
        shapes = {"w1": (WIDTH, HIDDEN), "b1": (HIDDEN,), "w2": (HIDDEN, CLASSES)}
        shapes.update((f"s{loss.number}", ()) for loss in self.losses if loss.learned)
        weights = {name: rng.normal(0, 0.3, shape) for name, shape in shapes.items()}
        for loss in self.losses:
            if loss.kind == "classes" and loss.weighted and loss.weights_from == "frozen":
                weights[f"classes{loss.number}"] = rng.uniform(0.5, 2, CLASSES)
        return {name: np.asarray(value, np.float32) for name, value in weights.items()}

    def exact_metrics(self, data):
        w1, b1, w2, x = (np.asarray(value, np.float64) for value in (*map(self.weights.get, ("w1", "b1", "w2")), data["x"]))
        logits = np.tanh(x @ w1 + b1) @ w2
        return {metric.name: metric.exact(logits, data, MARGINS[self.precision]) for metric in self.metrics}

    def draw(self, rng, rows):
        tensors = {"x": rng.standard_normal((rows, self.steps, WIDTH)).astype(np.float32)}
        for loss in self.losses:
            tensors[f"v{loss.number}"] = loss.data(rng, rows, self.steps, self.dice)
        return tensors

    def text(self, batch):
        rows = f"{batch}x{self.steps}"
        single = len(self.losses) == 1
        outputs = ", ".join(
            'tensor<f32> {weft.output = "loss"}' if single else
            f'tensor<f32> {{weft.output = "task{loss.number}", weft.loss = {loss.weight} : f64}}' for loss in self.losses)
        outputs += "".join(f', tensor<f32> {{weft.output = "{metric.name}", weft.metric}}' for metric in self.metrics)
        inputs = ", ".join([f'%x: tensor<{rows}x{WIDTH}xf32> {{weft.input = "x"}}'] +
                           [loss.input(batch, self.steps) for loss in self.losses])
        normal = "{init = #weft.init<normal, 0.0, 0.3>}"
        lines = ["module @net {", f"  weft.param @w1 : tensor<{WIDTH}x{HIDDEN}xf32> {normal}",
                 f"  weft.param @b1 : tensor<{HIDDEN}xf32> {normal}",
                 f"  weft.param @w2 : tensor<{HIDDEN}x{CLASSES}xf32> {normal}"]
        lines += [line for loss in self.losses for line in loss.params()]
        lines += [f"  weft.program @model({inputs}) -> ({outputs}) attributes {{kind = #weft.kind<model>}} {{",
                  f"    %w1 = weft.read @w1 : tensor<{WIDTH}x{HIDDEN}xf32>",
                  f"    %b1 = weft.read @b1 : tensor<{HIDDEN}xf32>",
                  f"    %w2 = weft.read @w2 : tensor<{HIDDEN}x{CLASSES}xf32>",
                  f"    %h = weft.matmul %x, %w1 : tensor<{rows}x{WIDTH}xf32>, tensor<{WIDTH}x{HIDDEN}xf32>",
                  f"    %a = weft.add %h, %b1 : tensor<{rows}x{HIDDEN}xf32>, tensor<{HIDDEN}xf32>",
                  f"    %t = weft.tanh %a : tensor<{rows}x{HIDDEN}xf32>",
                  f"    %y = weft.matmul %t, %w2 : tensor<{rows}x{HIDDEN}xf32>, tensor<{HIDDEN}x{CLASSES}xf32>"]
        lines += [line for loss in self.losses for line in loss.lines(batch, self.steps) + loss.factor_lines()]
        lines += [line for metric in self.metrics for line in metric.lines(batch, self.steps)]
        values = [loss.value() for loss in self.losses] + [f"%{metric.name}" for metric in self.metrics]
        types = ", ".join(["tensor<f32>"] * len(values))
        return "\n".join(lines + [f"    weft.return {', '.join(values)} : {types}", "  }", "}", ""])

    def names(self):
        """The trained parameters."""
        return ["w1", "b1", "w2"] + [f"s{loss.number}" for loss in self.losses if loss.learned]

    def splits(self):
        """(batch, micro-batches, ranks, stage); the first one has all rows at once."""
        ways = [(self.rows // (k * w), k, w) for k in range(1, 6) for w in range(1, 5) if self.rows % (k * w) == 0]
        chosen = self.dice.sample(ways[1:], min(3, len(ways) - 1))
        return [(self.rows, 1, 1, 0)] + [(*way, self.dice.randint(0, 3) if way[2] > 1 else 0) for way in chosen]


# --- One split ------------------------------------------------------------------------------------


def compile_flags(case, ranks, stage):
    flags = ["--clip-norm=2", "--optimizer=sgd", f"--precision={case.precision}"]
    if ranks > 1:
        flags += [f"--mesh=dp:{ranks}", f"--zero={stage}", f"--sync={case.sync}"]
    if case.precision != "f32":
        flags.append("--loss-scale=1024")
    return flags


def run_interpreter(case, folder, model, split):
    """The loss and the metrics of a step, and the parameters after it, in f64."""
    _, accum, ranks, stage = split
    dump, outputs, state = folder / "step.mlir", folder / "out.st", folder / "state.st"
    call("weft", "compile", model, *compile_flags(case, ranks, stage), "--to=partition", "-o", dump)
    call("weft-interp", dump, "--steps=1", f"--accum={accum}", "--inputs", folder.parent / "first.st", "--print=off",
         "--set", "lr=0.5", "--set", "max_norm=1e9", "--set", "weight_decay=0", "--set", "momentum=0", "--outputs",
         outputs, "--save-state", state)
    found = read_tensors(outputs)
    means = {output: float(np.mean([value for name, value in found.items() if name.split("/")[-1] == output]))
             for output in ("loss", *(metric.name for metric in case.metrics))}
    params = {name: value for name, value in read_tensors(state).items() if name in case.names()}
    return means, params


def run_executable(case, folder, model, split):
    """Losses of two steps, gradients of the first one, validation loss, and metrics of the first step and of validation."""
    _, accum, ranks, stage = split
    program, metrics, grads = folder / "net", folder / "m.jsonl", folder / "g.st"
    call("weft", "compile", model, *compile_flags(case, ranks, stage), "-o", program)
    common = ["--progress=none", "--threads=1", "--init-from", folder.parent / "weights.st"] + ([f"--loopback={ranks}"] if ranks > 1 else [])
    call(program, "--data", folder.parent / "train.st", "--no-shuffle", "--steps=2", f"--accum={accum}", "--dump-grads",
         grads, "--metrics", metrics, *common)
    steps = [json.loads(line) for line in metrics.read_text().splitlines()[1:]]
    metrics.unlink()
    # A loss without a target is no number: exit 6.
    code = call(program, "--eval-only", "--val-data", folder.parent / "val.st", "--metrics", metrics, *common, codes=(0, 6))
    evaluated = json.loads(metrics.read_text().splitlines()[1])
    return ([step["loss"] for step in steps], read_tensors(grads), evaluated["val_loss"] if code == 0 else None,
            steps[0].get("metrics", {}), evaluated.get("val_metrics", {}))


# --- Comparison -----------------------------------------------------------------------------------


def differ(what, first, second, tolerance, least=1e-30):
    if (first is None) != (second is None):
        return [f"{what}: {first} and {second}"]
    if first is None:
        return []
    first, second = np.asarray(first, np.float64), np.asarray(second, np.float64)
    # Smoothed targets whose classes all have weight 0 give x/0 in one batch, and 0/0 in a micro-batch that ignores all of
    # its targets: neither is a number, and the step is skipped.
    same = ~np.isfinite(first) & ~np.isfinite(second)
    if same.all():
        return []
    first, second = np.where(same, 0, first), np.where(same, 0, second)
    most = max(np.abs(first).max(), least)
    distance = np.abs(first - second).max() / most
    return [] if distance <= tolerance else [f"{what}: differ by {distance:.2e} of {most:.4g} (at most {tolerance})"]


def compare_metrics(what, exact, found):
    """Differences of the metrics of a program from those of numpy."""
    if list(exact) != list(found):
        return [f"{what}: expects {list(exact)}, but got {list(found)}"]
    wrong = []
    for name, (value, slack) in exact.items():
        other = found[name]
        if (value is None) != (other is None) or (value is not None and abs(value - other) > 1e-6 + 1.001 * slack):
            wrong.append(f"{what} {name}: expects {value}, but got {other} (slack {slack})")
    return wrong


def check(case, folder):
    write_tensors(folder / "weights.st", case.weights)
    write_tensors(folder / "first.st", case.first)
    write_tensors(folder / "train.st", case.train)
    write_tensors(folder / "val.st", case.val)
    wrong, runs = [], []
    for number, split in enumerate(case.splits()):
        own = folder / str(number)
        own.mkdir()
        model = own / "net.mlir"
        model.write_text(case.text(split[0]))
        exact = None if args.low else run_interpreter(case, own, model, split)
        runs.append((split, exact, run_executable(case, own, model, split)))
    to_loss, to_grads = TOLERANCES[case.precision]
    _, first, (losses, grads, val, *_) = runs[0]
    numpy = case.exact_metrics(case.first), case.exact_metrics(case.val)
    for split, _, (*_, of_step, of_val) in runs:
        wrong += compare_metrics(f"split {split}, metric of step 1", numpy[0], of_step)
        wrong += compare_metrics(f"split {split}, metric of validation", numpy[1], of_val)
    for split, exact, (others, other_grads, other_val, *_) in runs[1:]:
        place = f"batch {split[0]}, {split[1]} micro-batches, {split[2]} ranks, stage {split[3]}: "
        if exact:
            for name, value in first[0].items():
                wrong += differ(place + f"f64 {name}", value, exact[0][name], 1e-10)
            for name, value in first[1].items():
                wrong += differ(place + f"f64 {name}", value, exact[1][name], 1e-10)
        for step, pair in enumerate(zip(losses, others, strict=True), 1):
            wrong += differ(place + f"loss of step {step}", *pair, to_loss)
        wrong += differ(place + "val_loss", val, other_val, to_loss)
        for name, value in grads.items():
            wrong += differ(place + name, value, other_grads[name], to_grads, 1.0 if name.startswith("s") else 1e-30)
    return wrong, len(runs)


failed = splits = 0
for seed in args.seeds:
    folder = args.work / str(seed)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        wrong, count = check(Case(seed), folder)
    except (RuntimeError, subprocess.TimeoutExpired, LookupError, ValueError) as error:
        wrong, count = [f"{type(error).__name__}: {error}"], 0
    splits += count
    for text in wrong:
        print(f"seed {seed}: {text}")
    failed += bool(wrong)
    if not wrong and not args.keep:
        shutil.rmtree(folder)
print(f"{len(args.seeds)} models, {splits} splits, {failed} wrong")
sys.exit(failed > 0)
