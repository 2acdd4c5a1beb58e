#!/usr/bin/env python3
"""Compares what `weft compile --dry-run` says of a step with steps that were measured.

usage: simulator.py [--weft PATH] [--ranks 1,2,4] [--zero 0,1,2,3] [--limits N] [--rounds N] [--steps N]
                    [--bench FLAG]... [--json FILE]

A round is a `weft bench` for one rank, one for as many ranks as there are cores, and a run of each model on each
layout, a thread a rank: whatever else the machine does befalls both sides. More ranks than cores share them, which the
cluster file says (`ranks_per_core`). Printed are the medians of all rounds: of the simulated steps, and of the
medians of the measured ones without the first three. The models are none that `weft bench` knows.

With --limits, one rank trains under N memory limits instead, from the smallest that works (`weft inspect --tradeoff`) to
the arena without a limit, each in the way that is estimated to be the fastest within it.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

COMMON = {"vocab_size": 256, "tie_word_embeddings": True}
MODELS = {
    "gpt2-mini": (dict(COMMON, model_type="gpt2", n_positions=256, n_embd=128, n_layer=4, n_head=4,
                       activation_function="gelu_new", resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0), 4, 128),
    "llama, 6 layers": (dict(COMMON, model_type="llama", max_position_embeddings=256, hidden_size=128,
                             intermediate_size=352, num_hidden_layers=6, num_attention_heads=4,
                             num_key_value_heads=2, tie_word_embeddings=False), 4, 128),
}


def numbers(text):
    return [int(word) for word in text.split(",")]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", default="weft")
    parser.add_argument("--ranks", type=numbers, default=[1, 2, 4])
    parser.add_argument("--zero", type=numbers, default=[0, 1, 2, 3])
    parser.add_argument("--limits", type=int)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--bench", action="append", default=[], help="a flag of weft bench")
    parser.add_argument("--json", help="write every value to this file")
    return parser.parse_args()


class Comparison:
    """Programs and tables in a folder of their own."""

    def __init__(self, args, folder):
        self.args = args
        self.folder = folder
        self.cores = len(os.sched_getaffinity(0))
        self.rows = []
        with open(self.path("data.txt"), "w") as file:
            file.write("".join(chr(97 + i * i % 26) for i in range(1 << 16)))

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def run(self, *words):
        done = subprocess.run([self.args.weft, *words], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"weft {' '.join(words)}: exit code {done.returncode}\n{done.stderr}")
        return done.stdout

    def layouts(self, model):
        """(ranks, what the row is called, flags) of each row."""
        if self.args.limits:
            yield from self.limits(model)
            return
        for ranks in self.args.ranks:
            for zero in self.args.zero if ranks > 1 else [0]:
                yield ranks, f"zero {zero}", [f"--mesh=dp:{ranks}", f"--zero={zero}"] if ranks > 1 else []

    def limits(self, model):
        curve = json.loads(self.run("inspect", *self.flags(model), "--tradeoff", "--json"))["tradeoff"]
        most, least = curve[0]["limit"], curve[-1]["limit"]
        for number in range(self.args.limits):
            limit = least + (most - least) * number // max(self.args.limits - 1, 1)
            best = min((point for point in curve if point["limit"] <= limit), key=lambda point: point["step_us"])
            yield 1, f"limit {limit}", best["flags"].split()

    def flags(self, model):
        _, batch, seq = MODELS[model]
        return [self.path(model), f"--batch={batch}", f"--seq={seq}", "--threads-max=1"]

    def compile(self):
        for model, (config, _, _) in MODELS.items():
            os.mkdir(self.path(model))
            with open(self.path(model, "config.json"), "w") as file:
                json.dump(config, file)
            for ranks, name, flags in self.layouts(model):
                program = self.path(model, f"program-{len(self.rows)}")
                self.run("compile", *self.flags(model), *flags, "-o", program)
                self.rows.append({"model": model, "ranks": ranks, "name": name, "flags": flags, "program": program,
                                  "pairs": []})

    def ranks(self):
        return {row["ranks"] for row in self.rows}

    def bench(self):
        """A table for one rank, and one for as many as there are cores; ranks that share a core have a file."""
        for ranks in sorted({min(ranks, self.cores) for ranks in self.ranks()}):
            self.run("bench", "--threads=1", f"--ranks={ranks}", "-o", self.path(f"costs-{ranks}.toml"),
                     *self.args.bench)
        for ranks in self.ranks():
            with open(self.path(f"cluster-{ranks}.toml"), "w") as file:
                file.write('target = "cpu"\n'
                           f"ranks_per_node = {ranks}\nranks_per_core = {max(1, ranks / self.cores)}\n")

    def simulate(self, row):
        costs = self.path(f"costs-{min(row['ranks'], self.cores)}.toml")
        out = self.run("compile", *self.flags(row["model"]), *row["flags"], "--dry-run", "--json", "--cost-table", costs,
                       "--cluster", self.path(f"cluster-{row['ranks']}.toml"))
        return json.loads(out)["simulated"][0]["step_us"] / 1e3

    def measure(self, row):
        """Median of the steps, ms."""
        metrics = self.path("metrics.jsonl")
        if os.path.exists(metrics):
            os.remove(metrics)
        flags = ["--data", self.path("data.txt"), "--data-format=text", f"--steps={self.args.steps}",
                 "--metrics", metrics, "--progress=none", "--threads=1"]
        if row["ranks"] > 1:
            self.run("launch", row["program"], *flags)
        else:
            subprocess.run([row["program"], *flags], check=True, capture_output=True)
        with open(metrics) as file:
            steps = [line["step_ms"] for line in map(json.loads, file) if "step_ms" in line]
        return statistics.median(steps[min(3, len(steps) - 1):])

    def round(self):
        self.bench()
        for row in self.rows:
            row["pairs"].append((self.simulate(row), self.measure(row)))

    def report(self):
        print(f"{'model':<16} {'ranks':>5} {'':<16} {'simulated ms':>12} {'measured ms':>12} {'ratio':>6}")
        for row in self.rows:
            simulated, measured = (statistics.median(side) for side in zip(*row["pairs"]))
            row.update(simulated_ms=simulated, measured_ms=measured, ratio=simulated / measured)
            del row["program"]
            print(f"{row['model']:<16} {row['ranks']:>5} {row['name']:<16} {simulated:>12.2f} {measured:>12.2f} "
                  f"{row['ratio']:>6.3f}")
        return self.rows


def main():
    args = parse()
    with tempfile.TemporaryDirectory(prefix="weft-simulator-") as folder:
        comparison = Comparison(args, folder)
        comparison.compile()
        for number in range(args.rounds):
            comparison.round()
            print(f"round {number + 1} of {args.rounds}", file=sys.stderr, flush=True)
        rows = comparison.report()
    if args.json:
        with open(args.json, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
