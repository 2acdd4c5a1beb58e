#!/usr/bin/env python3
"""Compares the estimated time of a training step with its measured time, per kind of command and as a whole.

usage: estimates.py [--weft PATH] [--models NAMES] [--types f32,bf16] [--isa ISA] [--shared] [--threads N]
                    [--rounds N] [--steps N] [--costs FILE] [--bench FLAG]... [--json FILE]

A round is a `weft bench` for all types and, with its table, a compilation and a run with --trace of each program, one
after the other: whatever else the machine does befalls both sides. A command's time is the mean of a run, as in the
table, without the first two steps. Both sides are medians of the rounds. The step is the sum of its commands.

--shared is for a machine on which other programs run: both sides are processor time of one thread. The shortest
measured time of each command counts, and the median of its estimates: others only make a command longer, but rates that
are fitted to such times err to both sides.

--isa limits generated kernels, products, attention and other routines of both sides to avx2, avx512, or avx512bf16
(AVX512_BF16); amx is all that the processor has. The models are none that `weft bench` knows. --costs takes a table
instead of measuring one.
"""
import argparse
import collections
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

GPT2 = {"model_type": "gpt2", "activation_function": "gelu_new", "resid_pdrop": 0.0, "embd_pdrop": 0.0,
        "attn_pdrop": 0.0, "tie_word_embeddings": True}
LLAMA = {"model_type": "llama", "hidden_act": "silu", "tie_word_embeddings": True}
# Configuration, rows, tokens of a row.
MODELS = {
    "gpt2-124m": (dict(GPT2, vocab_size=50257, n_positions=1024, n_embd=768, n_layer=12, n_head=12), 1, 512),
    "6-layers": (dict(GPT2, vocab_size=65, n_positions=256, n_embd=384, n_layer=6, n_head=6), 8, 256),
    "smollm2-4-layers": (dict(LLAMA, vocab_size=49152, max_position_embeddings=2048, hidden_size=576,
                              intermediate_size=1536, num_hidden_layers=4, num_attention_heads=9,
                              num_key_value_heads=3), 1, 512),
    "tiny": (dict(LLAMA, vocab_size=256, max_position_embeddings=64, hidden_size=64, intermediate_size=128,
                  num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1), 1, 64),
}
# The target of generated kernels, and the level of routines.
ISAS = {"avx2": ("cpu:x86-64-v3", "AVX2"), "avx512": ("cpu:x86-64-v4", "AVX512_CORE"),
        "avx512bf16": ("cpu:x86-64-v4", "AVX512_CORE_BF16"), "amx": ("cpu", "ALL")}
PROGRAMS = ("micro", "apply")
SKIPPED = 2


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", default="weft")
    parser.add_argument("--models", default=",".join(name for name in MODELS if name != "tiny"),
                        help="names, separated by commas")
    parser.add_argument("--types", default="f32,bf16")
    parser.add_argument("--isa", choices=ISAS, default="amx")
    parser.add_argument("--shared", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--costs", help="a cost table, instead of `weft bench`")
    parser.add_argument("--bench", action="append", default=[], help="a flag of weft bench")
    parser.add_argument("--json", help="write every value to this file")
    args = parser.parse_args()
    if args.rounds < 1 or args.steps < 1:
        parser.error(f"expects at least one round of at least one step, but got {args.rounds} of {args.steps}")
    if not shutil.which(args.weft):
        parser.error(f"--weft expects a program, but got {args.weft}")
    if args.shared and args.threads != 1:
        parser.error(f"--shared expects --threads 1, but got {args.threads}")
    for name in args.models.split(","):
        if name not in MODELS:
            parser.error(f"--models expects names of {', '.join(MODELS)}, but got {name}")
    return args


class Comparison:
    """Programs and a table in a folder of their own."""

    def __init__(self, args, folder):
        self.args = args
        self.folder = folder
        self.environment = dict(os.environ)
        self.target, self.environment["ONEDNN_MAX_CPU_ISA"] = ISAS[args.isa]
        self.rows = []

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def run(self, *words):
        done = subprocess.run(words, capture_output=True, text=True, env=self.environment)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stderr}")
        return done.stdout

    def measure_costs(self):
        """The path of the table."""
        if self.args.costs:
            return self.args.costs
        table = self.path("costs.toml")
        words = [f"--precision={name}" for name in self.args.types.split(",") if name != "f32"]
        words += ["--shared"] if self.args.shared else []
        if not any(flag.startswith("--rounds") for flag in self.args.bench):
            words.append("--rounds=1")
        self.run(self.args.weft, "bench", f"--target={self.target}", f"--threads={self.args.threads}", *words,
                 *self.args.bench, "-o", table, "--overwrite")
        return table

    def make_models(self):
        for name in self.args.models.split(","):
            config, batch, seq = MODELS[name]
            folder = self.path(name)
            os.mkdir(folder)
            with open(os.path.join(folder, "config.json"), "w") as file:
                json.dump(config, file)
            random.seed(1)
            first = 97 if config["vocab_size"] > 128 else 32
            with open(os.path.join(folder, "data.txt"), "wb") as file:
                file.write(bytes(first + random.randrange(26) for _ in range(1 << 16)))
            for precision in self.args.types.split(","):
                self.rows.append({"model": name, "type": precision, "folder": folder,
                                  "flags": [f"--batch={batch}", f"--seq={seq}", f"--precision={precision}"],
                                  "rounds": []})

    def compile(self, row, costs):
        """The commands of the program with their estimates, microseconds."""
        row["program"] = os.path.join(row["folder"], row["type"])
        self.run(self.args.weft, "compile", row["folder"], *row["flags"], f"--threads-max={self.args.threads}",
                 f"--cost-table={costs}", f"--target={self.target}", "-o", row["program"], "--overwrite")
        found = json.loads(self.run(self.args.weft, "inspect", row["program"], "--schedule", "--json"))
        row["schedule"] = found["schedule"]
        return {(program, index): command[2] for program in PROGRAMS
                for index, command in enumerate(found["schedule"][program])}

    def trace(self, row):
        """The time of each command of a step in one run, microseconds."""
        trace = self.path("trace.json")
        self.run(row["program"], "--data", os.path.join(row["folder"], "data.txt"), "--tokenizer=bytes",
                 f"--steps={self.args.steps}", f"--threads={self.args.threads}", "--trace", trace, "--progress=none")
        times = collections.defaultdict(list)
        with open(trace) as file:
            for event in json.load(file)["traceEvents"]:
                if event["ph"] == "X" and event["pid"] == 0 and event["cat"] in PROGRAMS:
                    times[event["cat"], event["args"]["command"]].append(event["tdur" if self.args.shared else "dur"])
        pick = min if self.args.shared else statistics.mean
        return {command: pick(all[min(SKIPPED, len(all) - 1):]) for command, all in times.items()}

    def round(self):
        costs = self.measure_costs()
        for row in self.rows:
            row["rounds"].append((self.compile(row, costs), self.trace(row)))

    def summarize(self, row):
        """Sums by the most special kind of the commands."""
        pick = min if self.args.shared else statistics.median
        sums = collections.defaultdict(lambda: {"commands": 0, "estimated_ms": 0.0, "measured_ms": 0.0})
        for program, index in row["rounds"][0][1]:
            for kind in (row["schedule"][program][index][11][-1], "step"):
                sums[kind]["commands"] += 1
                for key, side, choose in (("estimated_ms", 0, statistics.median), ("measured_ms", 1, pick)):
                    sums[kind][key] += choose([each[side][program, index] for each in row["rounds"]]) / 1e3
        for each in sums.values():
            each["ratio"] = each["estimated_ms"] / each["measured_ms"]
        return dict(sorted(sums.items(), key=lambda item: -item[1]["measured_ms"]))

    def report(self):
        results = []
        for row in self.rows:
            kinds = self.summarize(row)
            results.append({"model": row["model"], "type": row["type"], "isa": self.args.isa, "kinds": kinds})
            print(f"{row['model']}, {row['type']}, {self.args.isa}")
            print(f"  {'kind':<20} {'commands':>8} {'estimated ms':>12} {'measured ms':>11} {'ratio':>6}")
            for kind, each in kinds.items():
                print(f"  {kind:<20} {each['commands']:>8} {each['estimated_ms']:>12.3f} {each['measured_ms']:>11.3f} "
                      f"{each['ratio']:>6.2f}")
        return results


def main():
    args = parse()
    # An exception, so that the folder is removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with tempfile.TemporaryDirectory(prefix="weft-estimates-") as folder:
        comparison = Comparison(args, folder)
        comparison.make_models()
        for number in range(args.rounds):
            comparison.round()
            print(f"round {number + 1} of {args.rounds}", file=sys.stderr, flush=True)
        results = comparison.report()
    if args.json:
        with open(args.json, "w") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
