"""Runs programs whose memory starts as NaN (WEFT_FAULT=arena:poison) beside undisturbed ones.

Losses, norms and checkpoints must have the same bits: no program may read what none has written.
Usage: poisoned-arena.py --weft WEFT --work DIR --source DIR [--full]
"""
import argparse
import filecmp
import itertools
import json
import os
import pathlib
import subprocess
import sys

parser = argparse.ArgumentParser()
parser.add_argument("--weft", default="weft")
parser.add_argument("--work", type=pathlib.Path, required=True)
parser.add_argument("--source", type=pathlib.Path, required=True)
parser.add_argument("--full", action="store_true", help="every combination, not a few")
args = parser.parse_args()

SMALL = ["--batch", "2", "--seq", "16"]
MODELS = {"mlp": [], "gpt2-mini": SMALL, "llama-mini": SMALL}
OPTIMIZERS = {"adamw": ([], []), "adam": ([], []), "sgd": (["--nesterov"], ["--momentum", "0.9"])}
PRECISIONS = {
    "f32": [],
    "bf16": ["--precision", "bf16"],
    "bf16-llm": ["--precision", "bf16", "--recipe", "llm"],
    "bf16-alone": ["--precision", "bf16", "--recipe", "llm", "--master-weights", "off"],
    "f16": ["--precision", "f16"],
    "f16-deepspeed": ["--precision", "f16", "--scaler", "deepspeed"],
    "f16-pure": ["--precision", "f16", "--recipe", "pure-f16"],
}
SHORT = [
    ("mlp", "adamw", "f32"),
    ("mlp", "sgd", "f32"),
    ("gpt2-mini", "adam", "bf16-alone"),
    ("gpt2-mini", "adamw", "f16"),
    ("llama-mini", "adamw", "f32"),
    ("llama-mini", "sgd", "bf16"),
]


def run(command, **environment):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                            env=dict(os.environ, **environment))
    if result.returncode != 0:
        sys.exit(f"expects exit 0 of {' '.join(map(str, command))} with {environment}, "
                 f"but got {result.returncode}:\n{result.stderr}")


def numbers(path):
    """The lines of a metrics file without measured values."""
    measured = {"tokens_per_s", "step_ms", "compute_ms", "data_ms", "mem_bytes"}
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [{key: value for key, value in line.items() if key not in measured}
            for line in lines if "loss" in line or "val_loss" in line]


def same_tree(left, right):
    """Manifests name the flags of their run; what they hold of tensors are digests of the other files."""
    names = sorted(path.relative_to(left) for path in left.rglob("*") if path.is_file())
    others = sorted(path.relative_to(right) for path in right.rglob("*") if path.is_file())
    return names == others and all(
        filecmp.cmp(left / name, right / name, shallow=False) for name in names
        if name.name != "MANIFEST.json")


def check(model, optimizer, precision):
    work = args.work / f"{model}-{optimizer}-{precision}"
    work.mkdir(parents=True)
    source = args.source / "examples" / (f"{model}.mlir" if model == "mlp" else model)
    compiled, flags = OPTIMIZERS[optimizer]
    program = work / "program"
    run([args.weft, "compile", source, "-o", program, "--optimizer", optimizer, *MODELS[model],
         *compiled, *PRECISIONS[precision]])
    data = args.work / "digits.safetensors" if model == "mlp" else args.source / "test/Inputs/corpus.txt"
    runs = {}
    # The third starts from the weights of a file, which replace the initial values.
    for name, poison, extra in (("clean", "", []), ("poisoned", "arena:poison", []),
                                ("loaded", "", ["--init-from", work / "weights"]),
                                ("loaded-poisoned", "arena:poison", ["--init-from", work / "weights"])):
        if extra and not (work / "weights").exists():
            run([args.weft, "ckpt", "export", work / "clean", work / "weights"])
        run([program, "--data", data, "--val-fraction", "0.2", "--eval-every", "2", "--steps", "4",
             "--accum", "2", "--clip", "1", "--lr", "1e-3", "--weight-decay", "0.01", *flags, *extra,
             "--save-dir", work / name, "--save-every", "2", "--threads", "2", "--progress", "none",
             "--metrics", work / f"{name}.jsonl"], WEFT_FAULT=poison)
        runs[name] = numbers(work / f"{name}.jsonl")
        if len([line for line in runs[name] if "loss" in line]) != 4:
            sys.exit(f"expects 4 steps of {work.name} {name}, but got {runs[name]}")
    for clean, poisoned in (("clean", "poisoned"), ("loaded", "loaded-poisoned")):
        if runs[clean] != runs[poisoned]:
            sys.exit(f"expects the numbers of {work.name} {clean} in poisoned memory\n"
                     f"{runs[clean]}\nbut got\n{runs[poisoned]}")
        if not same_tree(work / clean, work / poisoned):
            sys.exit(f"expects the checkpoints of {work.name} {clean} in poisoned memory")
    print(f"ok {work.name}")


args.work.mkdir(parents=True)
run([sys.executable, args.source / "examples" / "make_mlp_data.py", args.work / "digits.safetensors"])
cases = list(itertools.product(MODELS, OPTIMIZERS, PRECISIONS)) if args.full else SHORT
for case in cases:
    check(*case)
print(f"{len(cases)} programs have the same bits in poisoned memory")
