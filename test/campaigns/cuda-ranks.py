"""Ranks on an emulated CUDA device train what CPU ranks train, at every ZeRO stage.

usage: cuda-ranks.py --work FOLDER --source FOLDER --build FOLDER [--seed N] [--count N] [--orders N] [--jobs N]
                     [--only NUMBER]

The seed chooses combinations in which all pairs of values of OPTIONS occur, and random ones up to --count. The first
ones have as many different values as possible. The ranks of a combination are threads of one process (--loopback) or
processes with a device each, which `weft launch` starts and the emulated NCCL connects. With f16 a gradient of one rank
overflows in step 2. Checked:

  stages     threads of stages 0 to 3 have the same loss, norm and loss scale in each step and export the same weights,
             byte for byte: one stage without graphs, the others in other orders of streams, blocks and threads
  processes  with ordered reductions two stages have the bits of threads, with native ones all stages the same bits, in
             other orders of streams on each rank
  CPU        losses are within 1e-4 (f32) or 2e-2 (f16) of CPU ranks
  moved      a checkpoint of the device's ranks resumes on CPU ranks of another mesh, and from there on the device
  orders     the first 10 combinations have the same bits in --orders more orders
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys

from covering import cover

OPTIONS = {
    "model": ["gpt2", "gpt2-untied", "llama"],
    "mesh": ["dp:1", "dp:2", "dp:3", "dp:4", "replica:2,shard:2"],
    "precision": ["f32", "f16"],
    "dropout": [0.0, 0.1],
    "accum": [1, 2],
    "prefetch": [0, 1, 3],
    "recompute": ["none", "blocks"],
    "sync": ["last", "each"],
    "reduction": ["ordered", "native"],
}
SIZES = {
    "gpt2": {"model_type": "gpt2", "n_layer": 2, "n_embd": 32, "n_head": 2, "n_positions": 64, "vocab_size": 256},
    "llama": {"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 32, "intermediate_size": 64,
              "num_attention_heads": 2, "num_key_value_heads": 1, "vocab_size": 256, "max_position_embeddings": 64},
}
DROPOUTS = {"gpt2": ["resid_pdrop", "embd_pdrop", "attn_pdrop"], "llama": ["attention_dropout"]}
NUMBERS = ("step", "loss", "grad_norm", "loss_scale", "skipped")
TOLERANCES = {"f32": 1e-4, "f16": 2e-2}
STEPS = 4
ORDERED = 10  # combinations that --orders means
LARGEST_SEED = 1000


class Failed(Exception):
    """The failure of a combination."""


def need(*command, **settings):
    try:
        result = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=900, errors="replace",
                                env={**os.environ, **settings})
    except subprocess.TimeoutExpired:
        raise Failed(f"{' '.join(map(str, command))} took more than 900 s") from None
    if result.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))} ended with {result.returncode}: {result.stderr[-2000:]}")


def export(saves):
    out = saves.with_suffix(".export")
    if not out.exists():
        need("weft", "ckpt", "export", saves, out)
    return (out / "model.safetensors").read_bytes()


def numbers_of(metrics):
    """The numbers of each step that do not depend on time."""
    lines = [json.loads(line) for line in metrics.read_text().splitlines()[1:]]
    return [{name: line.get(name) for name in NUMBERS} for line in lines if "loss" in line]


def ranks_of(mesh):
    ranks = 1
    for axis in mesh.split(","):
        ranks *= int(axis.split(":")[1])
    return ranks


class Combination:
    def __init__(self, number, values, args):
        self.number, self.values, self.args = number, values, args
        self.folder = args.work / str(number)
        self.dice = random.Random(f"{args.seed} {number}")
        self.ranks = ranks_of(values["mesh"])
        self.fault = f"num:inf@step=2,rank={self.dice.randrange(self.ranks)}" if values["precision"] == "f16" else ""

    def __str__(self):
        return f"{self.number}: {' '.join(f'{name}={value}' for name, value in self.values.items())}"

    def write_model(self):
        name, _, untied = self.values["model"].partition("-")
        config = dict(SIZES[name], tie_word_embeddings=name == "gpt2" and not untied)
        config.update(dict.fromkeys(DROPOUTS[name], self.values["dropout"]))
        (self.folder / "model").mkdir(parents=True)
        (self.folder / "model/config.json").write_text(json.dumps(config))

    def program(self, target, stage, mesh=None):
        """A program for CPU ranks or a device, with its twins for the latter."""
        mesh = mesh or self.values["mesh"]
        path = self.folder / f"{target}-{stage}-{mesh.replace(',', '-').replace(':', '')}"
        if path.exists():
            return path
        flags = [f"--{name}={self.values[name]}" for name in ("precision", "prefetch", "recompute", "sync")]
        arguments = [self.folder / "model", "--batch=1", "--seq=16", f"--mesh={mesh}", f"--zero={stage}", *flags]
        if target == "cuda":
            arguments += [f"--reduction={self.values['reduction']}", "--target=cuda:sm_90"]
            need("weft-twins", "--checked", *arguments, "-o", f"{path}.so")
        need("weft", "compile", *arguments, "-o", path)
        return path

    def train(self, target, stage, name, *more, mesh=None, steps=STEPS, seed=0, saves=None, launch=False, fault=None):
        """The numbers of each step, and the folder of checkpoints."""
        program, ranks = self.program(target, stage, mesh), ranks_of(mesh or self.values["mesh"])
        metrics, saves = self.folder / f"{name}.jsonl", saves or self.folder / name
        settings = {"WEFT_FAULT": self.fault if fault is None else fault}
        if target == "cuda":
            emulation = self.args.build / "test/emulation"
            settings.update(LD_LIBRARY_PATH=str(emulation), WEFT_TWINS=f"{program}.so:{emulation}/kernels.so",
                            WEFT_EMULATION_SEED=str(seed))
        flags = ["--data", self.args.source / "test/Inputs/corpus.txt", "--steps", steps, "--accum", self.values["accum"], "--lr=0.003",
                 "--progress=none", "--metrics", metrics, "--save-dir", saves, "--save-every=2", "--seed=5"]
        if ranks > 1:
            flags.append("--timeout=300")
        if target == "cpu":
            flags.append("--threads=1")
        need(*(["weft", "launch", program] if launch else [program, "--loopback", ranks]), *flags, *more, **settings)
        return numbers_of(metrics), saves

    def compare(self, what, first, other):
        if first[0] != other[0]:
            raise Failed(f"{what}: expects {first[0]}, but got {other[0]}")
        if export(first[1]) != export(other[1]):
            raise Failed(f"{what}: other weights")

    def check_close(self, what, first, other):
        most = TOLERANCES[self.values["precision"]]
        for mine, wanted in zip(other, first, strict=True):
            if mine["skipped"] != wanted["skipped"] or (mine["loss"] is None) != (wanted["loss"] is None):
                raise Failed(f"{what}: expects {wanted}, but got {mine}")
            if mine["loss"] is not None and not abs(mine["loss"] - wanted["loss"]) <= most:
                raise Failed(f"{what}: expects {wanted}, but got {mine}")

    def draw_seed(self):
        return self.dice.randint(1, LARGEST_SEED)

    def check_same(self, wanted, stage, name, *more, **options):
        """Trains on the device and expects the bits of another run."""
        found = self.train("cuda", stage, name, *more, **options)
        order = options.get("seed", 0)
        self.compare(f"{name}, stage {stage}{f', order {order}' if order else ''}", wanted, found)

    def run(self):
        self.write_model()
        first = self.train("cuda", 0, "stage-0")
        skipped = [line["step"] for line in first[0] if line["skipped"]]
        if (2 in skipped) != bool(self.fault) or STEPS in skipped:
            raise Failed(f"skips the steps {skipped}")
        self.check_stages(first)
        processes = self.check_processes(first) if self.ranks > 1 else None
        stage = self.dice.randint(0, 3)
        self.check_close(f"CPU ranks of stage {stage}", first[0], self.train("cpu", stage, "cpu")[0])
        self.move(stage, first)
        if self.number < ORDERED:
            self.check_orders(first, processes)
        shutil.rmtree(self.folder)

    def check_stages(self, first):
        without_graphs = self.dice.randint(1, 3)
        for stage in range(1, 4):
            if stage == without_graphs:
                self.check_same(first, stage, "no-graph", "--no-graph")
            else:
                self.check_same(first, stage, f"stage-{stage}", seed=self.draw_seed())

    def check_processes(self, first):
        """Compares processes with another run: with ordered reductions, the run of threads."""
        stages = self.dice.sample(range(4), 2)
        if self.values["reduction"] == "native":
            wanted = self.train("cuda", stages[0], f"processes-{stages[0]}", launch=True)
            self.check_close(f"processes of stage {stages[0]}", first[0], wanted[0])
            stages = [stage for stage in range(4) if stage != stages[0]]
        else:
            wanted = first
        for stage in stages:
            self.check_same(wanted, stage, f"processes-{stage}", seed=self.draw_seed(), launch=True)
        return wanted

    def check_orders(self, threads, processes):
        """Threads and processes in turn."""
        for number in range(self.args.orders):
            launch = self.ranks > 1 and number % 2 == 1
            self.check_same(processes if launch else threads, self.dice.randint(0, 3), f"order-{number}",
                            seed=self.draw_seed(), launch=launch)

    def move(self, stage, first):
        """A checkpoint goes to CPU ranks of another mesh for a step, and back for another one."""
        numbers, saves = first
        mesh = self.dice.choice([mesh for mesh in OPTIONS["mesh"] if ranks_of(mesh) != self.ranks])
        moved = self.folder / "moved"
        shutil.copytree(saves / "step_00000002", moved / "step_00000002")
        resume = ["--resume", moved]
        self.train("cpu", stage, "moved-cpu", *resume, mesh=mesh, steps=3, saves=moved, fault="")
        found, _ = self.train("cuda", stage, "moved-back", *resume, fault="", launch=self.ranks > 1)
        if [line["step"] for line in found] != [4] or not found[0]["loss"] > 0:
            raise Failed(f"moved to {mesh} and back: got {found}")
        # Other ranks read other rows, so the loss is close, not equal.
        if not abs(found[0]["loss"] - numbers[-1]["loss"]) < 0.5:
            raise Failed(f"moved to {mesh} and back: expects about {numbers[-1]}, but got {found}")

    def report(self):
        """Whether it passes."""
        shutil.rmtree(self.folder, ignore_errors=True)
        try:
            self.run()
        except Failed as found:
            print(f"{self}: {found}", flush=True)
            return False
        print(f"{self}: passed", flush=True)
        return True


def with_new_values_first(combinations):
    """The same combinations; each adds as many values to the ones before it as any could."""
    rest, seen = list(combinations), set()
    while rest:
        best = max(rest, key=lambda values: len(set(values.items()) - seen))
        rest.remove(best)
        seen.update(best.items())
        yield best


def choose(seed, count):
    """All pairs, then random combinations, `count` together; all pairs alone without a count."""
    chosen = list(with_new_values_first(cover(OPTIONS, 2, seed, 3)))
    dice = random.Random(seed)
    while count and len(chosen) < count:
        values = {name: dice.choice(OPTIONS[name]) for name in OPTIONS}
        if values not in chosen:
            chosen.append(values)
    return chosen[:count]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("work", "source", "build"):
        parser.add_argument(f"--{name}", type=lambda text: pathlib.Path(text).absolute(), required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int)
    parser.add_argument("--orders", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="combinations that run at once")
    parser.add_argument("--only", type=int)
    args = parser.parse_args()
    combinations = [Combination(number, values, args) for number, values in enumerate(choose(args.seed, args.count))
                    if args.only in (None, number)]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        failed = list(pool.map(Combination.report, combinations)).count(False)
    print(f"{len(combinations)} combinations, {failed} failed")
    sys.exit(failed > 0 or not combinations)


if __name__ == "__main__":
    main()
