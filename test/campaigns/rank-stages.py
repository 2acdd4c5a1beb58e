"""All ZeRO stages of random meshes train the same weights.

usage: rank-stages.py --work FOLDER --source FOLDER [--seed N] [--strength 2|3] [--product OPTION,OPTION]
                      [--steps N] [--small] [--extras one|all] [--jobs N] [--only NUMBER]

The seed chooses combinations in which all pairs (--strength 2) or triples (3) of values of OPTIONS occur, or all
combinations of the options of --product; the rest of them is chosen for each. A step has two micro-steps and clips; with
f16 the gradients of step 2 are infinite. Checked:

  stages   0 to 3 have the same loss, norm and loss scale in each step, the same validation loss behind it, and export
           the same weights, byte for byte; each tensor has been trained
  extras   one of them (in turn) or all: the ranks of a stage are processes of MPI; a run is repeated; a run stops
           half-way, and goes on at another stage. They have the same bits

--small trains models of two narrow layers; --only NUMBER is for the combination that has failed.
"""
import argparse
import concurrent.futures
import filecmp
import itertools
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys

from covering import cover

OPTIONS = {
    "model": ["gpt2", "llama"],
    "dropout": [0.0, 0.1],
    "mesh": ["dp:1", "dp:2", "dp:3", "dp:4", "dp:8", "replica:2,shard:2", "replica:2,shard:3"],
    "precision": ["f32", "f16", "bf16"],
    "sync": ["each", "last"],
    "bucket": ["scope", "bytes", "params"],
    "shard-align": [1, 128],
    "shard-min": [0, 2000],
    "reshard": ["on", "off"],
    "optimizer": ["adamw", "sgd"],
}
EXTRAS = ["processes", "again", "resumed"]
DROPOUTS = {"gpt2": ["resid_pdrop", "embd_pdrop", "attn_pdrop"], "llama": ["attention_dropout"]}
SMALL = {"gpt2": {"n_layer": 2, "n_embd": 36, "n_head": 3, "n_positions": 64},
         "llama": {"num_hidden_layers": 2, "hidden_size": 40, "intermediate_size": 72, "max_position_embeddings": 64}}
ATTEMPTS = 3
# More ranks are threads alone.
MOST_PROCESSES = 6
NUMBERS = ("step", "loss", "grad_norm", "loss_scale", "skipped", "val_loss")


class Failed(Exception):
    """The failure of a combination."""


def need(*command, **settings):
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, env={**os.environ, **settings})
    if result.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))} ended with {result.returncode}: {result.stderr[-2000:]}")


def export(saves):
    out = saves.with_suffix(".export")
    need("weft", "ckpt", "export", saves, out)
    return out / "model.safetensors"


def tensors_of(path):
    """Bytes of each tensor."""
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    return {name: data[start + entry["data_offsets"][0]:start + entry["data_offsets"][1]]
            for name, entry in json.loads(data[8:start]).items() if name != "__metadata__"}


def numbers_of(metrics):
    """Of each step and evaluation what does not depend on time."""
    lines = [json.loads(line) for line in metrics.read_text().splitlines()[1:]]
    return [{name: line[name] for name in NUMBERS if name in line} for line in lines]


class Models:
    """The examples with each dropout, and their first weights, which depend on nothing else."""

    def __init__(self, args):
        self.folder = args.work / "models"
        self.data, self.first = args.source / "test/Inputs/corpus.txt", {}
        for model in OPTIONS["model"]:
            for dropout in OPTIONS["dropout"]:
                self.write(args, model, dropout)
            self.first[model] = self.first_weights(model)

    def path(self, model, dropout):
        return self.folder / f"{model}-{dropout}"

    def write(self, args, model, dropout):
        config = json.loads((args.source / f"examples/{model}-mini/config.json").read_text())
        config.update(dict.fromkeys(DROPOUTS[model], dropout))
        if args.small:
            config.update(SMALL[model])
        self.path(model, dropout).mkdir(parents=True)
        (self.path(model, dropout) / "config.json").write_text(json.dumps(config))

    def first_weights(self, model):
        """Of a step that changes nothing."""
        program, saves = self.folder / model, self.folder / f"{model}.saves"
        need("weft", "compile", self.path(model, 0.0), "--batch=1", "--seq=16", "--optimizer=sgd", "-o", program)
        need(program, "--data", self.data, "--steps=1", "--lr=0", "--progress=none", "--save-dir", saves)
        return tensors_of(export(saves))


class Combination:
    def __init__(self, number, values, models, args):
        self.number, self.values, self.models, self.args = number, values, models, args
        self.folder = args.work / str(number)
        dice = random.Random(f"{args.seed} {number}")
        self.bucket = {"scope": "scope", "bytes": f"bytes:{10 ** dice.randint(3, 6)}",
                       "params": f"params:{10 ** dice.randint(2, 5)}"}[values["bucket"]]
        self.stage, self.next_stage = dice.sample(range(4), 2)
        self.ranks = 1
        for axis in values["mesh"].split(","):
            self.ranks *= int(axis.split(":")[1])
        possible = [extra for extra in EXTRAS if extra != "processes" or self.ranks <= MOST_PROCESSES]
        self.extras = possible if args.extras == "all" else [possible[number % len(possible)]]
        self.runs = 0

    def __str__(self):
        return f"{self.number}: {self.model()} {' '.join(self.flags(3))}, {' '.join(self.extras)} of stage {self.stage}"

    def model(self):
        return self.models.path(self.values["model"], self.values["dropout"])

    def flags(self, stage):
        names = ["mesh", "precision", "sync", "shard-align", "shard-min", "optimizer"]
        names += ["reshard"] if stage == 3 else []
        return [f"--zero={stage}", f"--bucket={self.bucket}", *(f"--{name}={self.values[name]}" for name in names)]

    def program(self, stage):
        path = self.folder / f"z{stage}"
        if not path.exists():
            need("weft", "compile", self.model(), "--batch=1", "--seq=16", *self.flags(stage), "-o", path)
        return path

    def settings(self):
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        fault = {"WEFT_FAULT": "num:inf@step=2"} if self.values["precision"] == "f16" else {}
        return {"TMPDIR": str(temporary), **fault}

    def train(self, stage, name, *more, processes=False):
        """Numbers of the run, and the file of its weights."""
        saves, metrics = self.folder / name, self.folder / f"{name}.jsonl"
        rule = ["--lr=0.01", "--momentum=0.9"] if self.values["optimizer"] == "sgd" else []
        rule += ["--timeout=300"] if self.ranks > 1 else []
        start = [self.program(stage), "--loopback", self.ranks]
        if processes:
            start = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", self.ranks, self.program(stage)]
        need(*start, "--data", self.models.data, "--steps", self.args.steps, "--accum=2", "--clip=1", "--threads=1",
             "--val-fraction=0.1", "--eval-every=1", "--eval-steps=2", "--progress=none", "--metrics", metrics,
             "--save-dir", saves, *rule, *more, **self.settings())
        self.runs += 1
        return numbers_of(metrics), export(saves)

    def run(self):
        self.folder.mkdir()
        first = self.train(0, "stage-0")
        self.check_first(*first)
        for stage in range(1, 4):
            self.compare(f"stage {stage}", first, self.train(stage, f"stage-{stage}"))
        for extra in self.extras:
            self.compare(f"{extra} of stage {self.stage}", first, getattr(self, extra)())
        shutil.rmtree(self.folder)

    def check_first(self, numbers, weights):
        evaluations = [line for line in numbers if "val_loss" in line]
        if len(evaluations) != self.args.steps:
            raise Failed(f"expects {self.args.steps} evaluations, but got {numbers}")
        skipped = [line["step"] for line in numbers if line.get("skipped")]
        if (2 in skipped) != (self.values["precision"] == "f16") or self.args.steps in skipped:
            raise Failed(f"skips the steps {skipped}")
        before, after = self.models.first[self.values["model"]], tensors_of(weights)
        if sorted(before) != sorted(after):
            raise Failed(f"expects the tensors {sorted(before)}, but got {sorted(after)}")
        same = [name for name in after if after[name] == before[name]]
        if same:
            raise Failed(f"has not trained {same}")

    def compare(self, what, first, other):
        for mine, wanted in zip(other[0], first[0]):
            if mine != wanted:
                raise Failed(f"{what}: expects {wanted}, but got {mine}")
        if len(other[0]) != len(first[0]):
            raise Failed(f"{what}: expects {len(first[0])} lines of metrics, but got {len(other[0])}")
        if not filecmp.cmp(first[1], other[1], shallow=False):
            a, b = tensors_of(first[1]), tensors_of(other[1])
            raise Failed(f"{what}: other weights: {[name for name in a if a[name] != b.get(name)]}")

    def processes(self):
        return self.train(self.stage, "processes", processes=True)

    def again(self):
        return self.train(self.stage, "again")

    def resumed(self):
        self.train(self.stage, "resumed", "--stop-after", self.args.steps // 2)
        shutil.rmtree(self.folder / "resumed.export")
        return self.train(self.next_stage, "resumed", "--resume=must")


def attempt(combination):
    try:
        combination.run()
    except Failed as failed:
        return combination, failed
    return combination, None


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--strength", type=int, choices=[2, 3], default=2)
    parser.add_argument("--product", type=lambda text: text.split(","))
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--extras", choices=["one", "all"], default="all")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", type=int)
    args = parser.parse_args()
    unknown = set(args.product or []) - set(OPTIONS)
    if unknown:
        parser.error(f"--product expects names among {', '.join(OPTIONS)}, but got {', '.join(sorted(unknown))}")
    return args


def multiply(names, seed):
    """All combinations of the values of those options; the others are chosen at random."""
    dice = random.Random(f"product {seed}")
    for values in itertools.product(*(OPTIONS[name] for name in names)):
        combination = {name: dice.choice(choices) for name, choices in OPTIONS.items()}
        yield {**combination, **dict(zip(names, values))}


def main():
    args = options()
    shutil.rmtree(args.work, ignore_errors=True)
    args.work.mkdir(parents=True)
    models = Models(args)
    values = (multiply(args.product, args.seed) if args.product
              else cover(OPTIONS, args.strength, args.seed, ATTEMPTS))
    chosen = [Combination(number, values, models, args)
              for number, values in enumerate(values)
              if args.only in (None, number)]
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for combination, failed in pool.map(attempt, chosen):
            if failed:
                failures += 1
                print(f"{combination}: {failed}", flush=True)
    print(f"{len(chosen)} combinations, {sum(each.runs for each in chosen)} runs, {failures} failures")
    sys.exit(1 if failures else 0)


main()
