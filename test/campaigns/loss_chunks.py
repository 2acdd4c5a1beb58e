"""Trains random language models with their losses in chunks of rows, and compares.

A model is a small GPT-2 (one table for tokens and logits) or a Llama (two tables). Its sizes and flags are random:
vocabulary, batch, types, gradients, accumulation, buckets, ranks and stages. Losses of --loss-chunks=N are those of a
run without it up to rounding, and so are the weights. One chunk gives the same bits, as do two runs of N chunks, and
every ZeRO stage. A run that goes on with another N warns. The interpreter finds the same numbers in the graphs
with and without chunks, and in the plan.

Usage: loss_chunks.py --work DIR [--seeds A:B] [--keep]
"""
import argparse
import hashlib
import json
import pathlib
import random
import shutil
import subprocess
import sys

from seeds import seed_range

parser = argparse.ArgumentParser()
parser.add_argument("--work", type=pathlib.Path, required=True)
parser.add_argument("--seeds", default="0:1", type=seed_range)
parser.add_argument("--keep", action="store_true", help="the programs, to look at a failure")
args = parser.parse_args()

STEPS = "3"
BOUND = {"f32": 2e-5, "f16": 2e-3, "bf16": 2e-3}  # of losses, relative


def call(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=900)
    return result.returncode, result.stdout + result.stderr


def need(*command):
    code, said = call(*command)
    if code != 0:
        raise RuntimeError(f"expects exit 0 of {' '.join(map(str, command))}, but got {code}:\n{said[-3000:]}")
    return said


def write_model(folder, dice):
    """The sizes of a model that has random weights."""
    vocabulary, width = dice.choice([256, 257, 300, 1031, 1500]), dice.choice([8, 16, 24])
    common = {"vocab_size": vocabulary}
    if dice.random() < 0.5:
        config = {"model_type": "gpt2", "n_positions": 32, "n_embd": width, "n_layer": 1, "n_head": 2,
                  "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "resid_pdrop": 0, "embd_pdrop": 0,
                  "attn_pdrop": 0}
    else:
        config = {"model_type": "llama", "max_position_embeddings": 32, "hidden_size": width, "num_hidden_layers": 1,
                  "num_attention_heads": 2, "num_key_value_heads": 1, "intermediate_size": 2 * width,
                  "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "hidden_act": "silu",
                  "tie_word_embeddings": dice.random() < 0.5}
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({**common, **config}))


def choose_flags(dice):
    """Compile flags, run flags, the type of products, and whether there are ranks."""
    batch, seq = dice.randint(1, 3), dice.choice([8, 11, 16])
    precision = dice.choice(["f32", "f32", "bf16", "f16"])
    flags = ["--batch", batch, "--seq", seq, "--precision", precision, "--threads-max", "1"]
    run = []
    if precision != "f32":
        flags += ["--grad-dtype", dice.choice(["f32", "torch"]), "--recipe", dice.choice(["amp", "llm"])]
    if dice.random() < 0.3:
        flags += ["--accumulation", "off"]
    else:
        run += ["--accum", "2"]
    if dice.random() < 0.3:
        flags += ["--recompute", dice.choice(["blocks", f"bytes:{dice.randint(1, 100000)}"])]
    ranks = dice.random() < 0.5
    if ranks:
        flags += ["--mesh", "dp:2", "--sync", dice.choice(["each", "last"])]
        run += ["--loopback", "2"]
    elif dice.random() < 0.5:
        flags += ["--bucket", "scope"]
    return flags, run, precision, ranks, dice.randint(2, min(batch * seq, 9))


def losses(path):
    return [line["loss"] for line in map(json.loads, path.read_text().splitlines()) if "loss" in line]


def digest(folder):
    found = hashlib.sha256()
    for path in sorted((folder / f"step_{int(STEPS):08}").glob("*.safetensors")):
        found.update(path.read_bytes())
    return found.hexdigest()


class Case:
    def __init__(self, folder, flags, run):
        self.folder, self.flags, self.run = folder, flags, run
        self.text = folder / "text.txt"
        self.text.write_text("".join(f"the quick brown fox jumps {i * 7 % 10}\n" for i in range(60)))

    def train(self, name, *flags):
        """The losses, and the digest of the weights."""
        program = self.folder / name
        need("weft", "compile", self.folder / "model", *self.flags, *flags, "-o", program)
        return self.start(program, f"{name}.run", "--steps", STEPS)

    def start(self, program, name, *flags):
        save = self.folder / name
        need(program, *self.run, "--data", self.text, "--tokenizer=bytes", "--progress", "none", "--save-dir", save,
             "--metrics", f"{save}.jsonl", *flags)
        return losses(pathlib.Path(f"{save}.jsonl")), digest(save)

    def expect_warning(self, chunks):
        """A run that stopped goes on with another number of chunks."""
        save = self.folder / "stopped"
        begin = [*self.run, "--data", self.text, "--tokenizer=bytes", "--progress", "none", "--save-dir", save]
        need(self.folder / "chunks", *begin, "--steps", STEPS, "--stop-after", "1")
        said = need(self.folder / "plain", *begin, "--steps", STEPS, "--resume", "must")
        if f"--loss-chunks was {chunks} in the checkpoint" not in said:
            raise RuntimeError(f"expects a warning of --loss-chunks, but got:\n{said}")


def expect(holds, what):
    if not holds:
        raise RuntimeError("expects " + what)


def check_graphs(case, chunks):
    """In f64 the graph in chunks computes what the graph without them does, and its plan the same."""
    for name, number, phase in (("whole", 1, "select-kernels"), ("parts", chunks, "select-kernels"),
                                ("plan", chunks, "verify-plan")):
        need("weft", "compile", case.folder / "model", *case.flags, f"--loss-chunks={number}", f"--to={phase}", "-o",
             case.folder / f"{name}.mlir")
    # Constants of a plan are f32.
    for first, second, tolerance in (("whole", "parts", "1e-10"), ("parts", "plan", "1e-6")):
        need("weft-interp", "--compare", case.folder / f"{first}.mlir", case.folder / f"{second}.mlir", "--tolerance",
             tolerance, "--steps", "1")


def check(seed, folder):
    dice = random.Random(seed)
    write_model(folder / "model", dice)
    flags, run, precision, ranks, chunks = choose_flags(dice)
    case = Case(folder, flags + (["--zero", "1"] if ranks else []), run)
    plain, weights = case.train("plain")
    same, same_weights = case.train("one", "--loss-chunks=1")
    expect((plain, weights) == (same, same_weights), "the bits of a run without chunks from --loss-chunks=1")
    found, found_weights = case.train("chunks", f"--loss-chunks={chunks}")
    again = case.start(case.folder / "chunks", "again", "--steps", STEPS)
    expect((found, found_weights) == again, "the same bits in two runs")
    expect(len(found) == len(plain) and all(abs(x - y) <= BOUND[precision] * abs(x) for x, y in zip(plain, found)),
           f"losses near {plain}, but got {found}")
    case.expect_warning(chunks)
    if ranks:
        other = Case(folder, [*flags, "--zero", dice.choice(["2", "3"])], run)
        expect(other.train("stage", f"--loss-chunks={chunks}") == (found, found_weights), "the bits of another stage")
    else:
        check_graphs(case, chunks)
    return chunks


def main():
    wrong = chunks = 0
    for seed in args.seeds:
        folder = args.work / f"seed{seed}"
        shutil.rmtree(folder, ignore_errors=True)
        try:
            chunks += check(seed, folder)
        except RuntimeError as error:
            wrong += 1
            print(f"seed {seed}: {error}")
        if not args.keep:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{len(args.seeds)} models, {chunks} chunks, {wrong} wrong")
    sys.exit(wrong != 0)


main()
