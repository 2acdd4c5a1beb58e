"""Trains small models of each family with weft and with transformers, and compares.

The configurations of a family cover all pairs of values of its fields
(family_options.py). For each of them

- the loss of the first step agrees to 1e-6, relative; so does each element of the
  gradients, relative to the largest one of the model; relative to the largest one of
  its tensor it agrees to 1e-5. Both bounds are three times the largest error of
  transformers in f32, where that is more. The second one is for the gradients of keys,
  a sum over tokens that cancels: the routine computes its term from dout and out, as
  FlashAttention does, while transformers sums the rounded scores themselves;
- the losses of three more steps agree, with SGD to 1e-6 and with AdamW to 1e-5, or
  to three times the error of transformers in f32;
- transformers reads what `weft ckpt export` wrote, with no tensor missing or
  unknown, and has the loss of its own trained model, to 1e-6.

Every second configuration is given to weft as transformers writes it
(rope_parameters), the others as they are made. Without torch and transformers
--stored compares with stored runs, one for each family, which --store makes.

Usage: families.py --work DIR [--family NAME]... [--seeds A:B] [--stored | --store] [--keep]
"""
import argparse
import json
import pathlib
import random
import shutil
import subprocess
import sys

import numpy as np

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "reference"))

import covering  # noqa: E402
import tensors  # noqa: E402
from family_options import BATCH, OPTIONS, SEQ, UNTAKEN_PAIRS, build, refused  # noqa: E402
from family_weights import random_weight  # noqa: E402
from seeds import seed_range  # noqa: E402

CONFIGS = 60
DRAWS = 400
STEPS = 4
LOSS, GRADIENT, TENSOR, ADAMW = 1e-6, 1e-6, 1e-5, 1e-5
RATES = {"sgd": {"lr": 0.005},
         "adamw": {"lr": 1e-3, "beta1": 0.9, "beta2": 0.95, "eps": 1e-6}}
# A name in the files of one version of transformers, and weft's.
ALIASES = {"lm_head.weight": "embed_out.weight"}
STORED = HERE / "Inputs" / "families"
SKETCH = 8


def call(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                            timeout=600, errors="replace")
    if result.returncode != 0:
        raise RuntimeError(f"exit {result.returncode} of {' '.join(map(str, command))}:\n"
                           f"{(result.stdout + result.stderr)[-2000:]}")
    return result.stdout


class Chooser:
    """Draws choices {option: number of a value} of a family that transformers takes."""

    def __init__(self, family):
        self.family, self.values = family, OPTIONS[family]
        self.numbers = {name: list(range(len(choices))) for name, choices in self.values.items()}
        self.dice = random.Random(family)

    def config(self, choice):
        return build(self.family, {name: self.values[name][number] for name, number in choice.items()})

    def is_taken(self, choice):
        return not refused(self.family, self.config(choice))

    def draw(self, pair=()):
        """A choice with the pair, or None if none of many is taken."""
        for _ in range(DRAWS):
            choice = {name: self.dice.choice(each) for name, each in self.numbers.items()}
            choice.update(pair)
            if self.is_taken(choice):
                return choice
        return None


def configurations(family):
    """CONFIGS configurations, or more, that cover all pairs of values."""
    chooser = Chooser(family)
    chosen = [choice for choice in covering.cover(chooser.numbers, strength=2, seed=family, attempts=1)
              if chooser.is_taken(choice)]
    missing = covering.Missing(covering.groups_of(chooser.numbers, 2))
    for choice in chosen:
        missing.remove(choice, 2)
    untaken = 0
    for pair in sorted(missing.order, key=sorted):
        choice = chooser.draw(pair) if pair in missing else None
        untaken += pair in missing and choice is None
        if choice:
            chosen.append(choice)
            missing.found.difference_update(covering.groups_in(choice, 2))
    while len(chosen) < CONFIGS:
        chosen.append(chooser.draw())
    check_pairs(family, chooser.numbers, chosen, untaken)
    return [chooser.config(choice) for choice in chosen]


def check_pairs(family, numbers, chosen, untaken):
    """All pairs occur, but for those that transformers takes in no configuration."""
    covered = {pair for choice in chosen for pair in covering.groups_in(choice, 2)}
    missing = set(covering.groups_of(numbers, 2)) - covered
    expected = UNTAKEN_PAIRS.get(family, 0)
    if len(missing) != expected or untaken != expected:
        sys.exit(f"{family}: expects all pairs of values but {expected}, but {len(missing)} "
                 f"are missing, such as {sorted(next(iter(missing), ()))}")


def make_rows(vocab, seed):
    """Rows of a run; tokens below 8 are left to padding."""
    flat = np.random.RandomState(seed).randint(8, vocab, STEPS * BATCH * SEQ + 1)
    return np.stack([flat[row * SEQ:(row + 1) * SEQ + 1] for row in range(STEPS * BATCH)])


def write_data(path, rows):
    flat = np.concatenate([*(row[:-1] for row in rows), rows[-1][-1:]])
    path.write_bytes(flat.astype("<u2").tobytes())


class Verdict:
    """What went wrong with a configuration, and the largest errors."""

    worst = {}

    def __init__(self):
        self.wrong = []

    def check(self, kind, value, bound, where=""):
        Verdict.worst[kind] = max(Verdict.worst.get(kind, 0.0), value)
        if not value <= bound:
            self.wrong.append(f"{kind} {where}: {value:.2e} > {bound:.0e}")


def train_weft(folder, model, optimizer):
    """Losses, first gradients and the exported folder of a run of weft."""
    program, metrics = folder / f"{optimizer}-program", folder / f"{optimizer}.jsonl"
    grads, saved, out = (folder / f"{optimizer}-{name}" for name in ("grads.st", "saved", "out"))
    call("weft", "compile", model, "-o", program, f"--optimizer={optimizer}",
         f"--batch={BATCH}", f"--seq={SEQ}")
    rates = [f"--{name}={value}" for name, value in RATES[optimizer].items()]
    call(program, "--data", folder / "rows.bin", "--data-format=u16", "--no-shuffle",
         f"--steps={STEPS}", "--weight-decay=0", "--threads=1", "--progress=none", "--metrics",
         metrics, "--dump-grads", grads, "--save-dir", saved, *rates)
    call("weft", "ckpt", "export", saved, out)
    lines = [json.loads(line) for line in metrics.read_text().splitlines()]
    return [line["loss"] for line in lines if "loss" in line], tensors.read_tensors(grads), out


def loss_errors(found, expected):
    return [abs(one - other) / abs(other) for one, other in zip(found, expected)]


def compare_losses(verdict, kind, found, expected, bound, narrow=None):
    """`narrow` makes the losses of transformers in f32, which is done where `bound` is
    exceeded: they raise it."""
    errors = loss_errors(found, expected)
    if narrow and max(errors, default=0.0) > bound:
        bound = max(bound, 3 * max(loss_errors(narrow(), expected)))
    if len(found) != len(expected):
        verdict.wrong.append(f"{kind}: {len(found)} steps")
    for step, error in enumerate(errors, 1):
        verdict.check(kind, error, bound if step > 1 else LOSS, step)


def compare_gradients(verdict, found, expected, narrow):
    """`narrow` are those of transformers in f32. A gradient that is 0 but for rounding
    (the bias of keys without positions) is compared with those of the model alone."""
    largest = max(np.abs(value).max() for value in expected.values())
    rounding = {name: float(np.abs(narrow[name] - value).max()) for name, value in expected.items()}
    unknown = set(found) ^ {name if name in found else ALIASES.get(name, name) for name in expected}
    if unknown:
        verdict.wrong.append(f"gradients of other tensors: {sorted(unknown)}")
        return
    scale = {name: max(np.abs(value).max(), 1e-2 * largest) for name, value in expected.items()}
    bound = max(TENSOR, 3 * max(rounding[name] / scale[name] for name in expected))
    for name, value in expected.items():
        one = found[name] if name in found else found[ALIASES[name]]
        error = float(np.abs(one - value).max())
        verdict.check("gradient", error / largest, max(GRADIENT, 3 * max(rounding.values()) / largest), name)
        verdict.check("tensor", error / scale[name], bound, name)


def compare_export(verdict, oracle, out, model, rows):
    loaded, unfit = oracle.reload(out)
    for kind, names in unfit.items():
        verdict.wrong.append(f"export: {kind} {names[:4]}")
    with oracle.torch.no_grad():
        one, other = (oracle.loss_of(each, rows, BATCH, 0).item() for each in (loaded, model))
    verdict.check("export", abs(one - other) / abs(other), LOSS)


def prepare(oracle, config, folder, seed):
    """Writes the model and the data; returns the model's folder, and the rows."""
    written, saved = folder / "written", folder / "saved"
    written.mkdir(parents=True)
    (written / "config.json").write_text(json.dumps(config, indent=1))
    model = oracle.fresh(written)
    model.save_pretrained(saved)
    shutil.copy(saved / "model.safetensors", written)
    rows = make_rows(config["vocab_size"], seed)
    write_data(folder / "rows.bin", rows)
    return (saved if seed % 2 else written), written, rows


def compare(oracle, config, folder, seed):
    verdict = Verdict()
    given, written, rows = prepare(oracle, config, folder, seed)
    for optimizer in RATES:
        model = oracle.fresh(written)
        losses, gradients = oracle.train(model, rows, BATCH, STEPS, optimizer, RATES[optimizer])
        found, grads, out = train_weft(folder, given, optimizer)
        compare_losses(verdict, optimizer, found, losses, LOSS if optimizer == "sgd" else ADAMW,
                       lambda: oracle.narrow_losses(written, rows, BATCH, STEPS, optimizer, RATES[optimizer]))
        if optimizer == "sgd":
            compare_gradients(verdict, grads, gradients, oracle.narrow_gradients(written, rows, BATCH))
            compare_export(verdict, oracle, out, model, rows)
    return verdict.wrong


# --- Stored runs ---------------------------------------------------------------------------------


def store(oracle, family, work):
    """Stores the run of a configuration with many fields."""
    config = max(configurations(family)[:20], key=lambda each: len(json.dumps(each)))
    folder = work / family
    _, written, rows = prepare(oracle, config, folder, seed=0)
    model = oracle.fresh(written)
    shapes = oracle.shapes_of(model)
    losses, gradients = oracle.train(model, rows, BATCH, STEPS, "sgd", RATES["sgd"])
    STORED.mkdir(exist_ok=True)
    reference = {
        "config": config, "shapes": shapes, "losses": losses,
        "gradients": {name: {"largest": float(np.abs(value).max()),
                             "products": [float(f"{each:.9g}") for each in tensors.sketch(value)[:SKETCH]]}
                      for name, value in gradients.items()}}
    (STORED / f"{family}.json").write_text(json.dumps(reference, separators=(",", ":")) + "\n")


def compare_stored(family, work):
    """Products of a gradient with random signs have the error of its elements times the root
    of their number."""
    verdict, folder = Verdict(), work / family
    reference = json.loads((STORED / f"{family}.json").read_text())
    config, model = reference["config"], folder / "model"
    model.mkdir(parents=True)
    (model / "config.json").write_text(json.dumps(config, indent=1))
    own = ALIASES if family == "gpt_neox" else {}
    weights = {own.get(name, name): random_weight(name, tuple(shape))
               for name, shape in reference["shapes"].items()}
    tensors.write_tensors(model / "model.safetensors", weights)
    write_data(folder / "rows.bin", make_rows(config["vocab_size"], seed=0))
    losses, grads, _ = train_weft(folder, model, "sgd")
    compare_losses(verdict, "sgd", losses, reference["losses"], LOSS)
    largest = max(each["largest"] for each in reference["gradients"].values())
    for name, stored in reference["gradients"].items():
        value = grads.get(name, grads.get(ALIASES.get(name)))
        scale = largest * value.size ** 0.5
        products = np.array(tensors.sketch(value)[:SKETCH])
        verdict.check("gradient", float(np.abs(products - stored["products"]).max() / scale), GRADIENT, name)
    return verdict.wrong


# --- All ------------------------------------------------------------------------------------------


def find_oracle():
    try:
        import family_oracle
    except ImportError as error:
        sys.exit(f"weft-skip: {error.name or error} is not installed")
    return family_oracle


def judge(name, folder, keep, run):
    """Runs a comparison; prints and returns whether it found an error."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        wrong = run()
    except Exception as error:  # noqa: BLE001
        wrong = [f"{type(error).__name__}: {str(error)[-1500:]}"]
    for line in wrong[:6]:
        print(f"{name}: {line}", flush=True)
    if not wrong and not keep:
        shutil.rmtree(folder, ignore_errors=True)
    return bool(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--family", action="append", choices=list(OPTIONS))
    parser.add_argument("--seeds", type=seed_range, help="configurations FIRST:LAST of each family")
    parser.add_argument("--stored", action="store_true")
    parser.add_argument("--store", action="store_true")
    parser.add_argument("--keep", action="store_true", help="files of cases that passed, too")
    args = parser.parse_args()
    oracle = None if args.stored else find_oracle()
    done = wrong = 0
    for family in args.family or OPTIONS:
        if args.store:
            shutil.rmtree(args.work / family, ignore_errors=True)
            store(oracle, family, args.work)
            continue
        if args.stored:
            done += 1
            wrong += judge(family, args.work / family, args.keep, lambda: compare_stored(family, args.work))
            continue
        before = wrong
        configs = configurations(family)
        numbers = [n for n in args.seeds or range(len(configs)) if n < len(configs)]
        for number in numbers:
            folder = args.work / f"{family}-{number}"
            wrong += judge(folder.name, folder, args.keep,
                           lambda: compare(oracle, configs[number], folder, number))
        done += len(numbers)
        print(f"{family}: {len(numbers)} configurations, {wrong - before} wrong", flush=True)
    if args.store:
        return
    print(f"{done} configurations, {wrong} wrong")
    for kind, value in sorted(Verdict.worst.items()):
        print(f"worst {kind}: {value:.2e}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
