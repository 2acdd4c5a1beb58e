#!/usr/bin/env python3
"""Shows what of a delay of each collective a schedule hides: two ranks of one thread, ZeRO-3, six units.

usage: delays.py [--weft PATH] [--rows N] [--width N] [--delay MS] [--rounds N] [--steps N] [--bench FLAG]...
                 [--json FILE]

A round is a `weft bench`, and a run of the model with prefetch and one without, each with the delay
(WEFT_FAULT=comm:delay=MSms) and without. Printed are the medians of all rounds, in ms:

  step        of the medians of the steps without the first two
  delayed     the same with the delay
  in delays   the difference, as a number of delays
  planned     what of the collectives is exposed by the plan, whose cost table is that of `weft bench` with the
              delay added to each latency
  traced      the same of the traced run: what rank 0 waited for, and collectives in the stream that computes,
              without the time in which it waited for a slower rank (`lag_ms`), which is in no plan

A unit has to compute for longer than the delay, or it can hide none: more --rows take longer.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

UNITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Dist", "Inputs", "six-units.py")
COLLECTIVES = ("all_gather", "reduce_scatter", "all_reduce")
WARM = 2


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", default="weft")
    parser.add_argument("--rows", type=int, default=6144)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--delay", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=7)
    parser.add_argument("--bench", action="append", default=[], help="a flag of weft bench")
    parser.add_argument("--json", help="write every value to this file")
    return parser.parse_args()


def delayed(table, delay_us):
    """The text of a cost table whose collectives all take so much longer."""
    part, lines = "", []
    for line in table.split("\n"):
        header = re.fullmatch(r"\[(.*)\]", line)
        part = header[1] if header else part
        rate = re.fullmatch(r"(latency_us|overhead_us) = (.*)", line)
        if rate and (part.split(".")[0] == "link" or part in COLLECTIVES):
            line = f"{rate[1]} = {float(rate[2]) + delay_us}"
        lines.append(line)
    return "\n".join(lines)


class Experiment:
    """Programs, tables and traces in a folder of their own."""

    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.weft = args.weft if os.path.basename(args.weft) == args.weft else os.path.abspath(args.weft)
        self.values = {}
        self.unit_ms = 0  # that a unit computes forward, as planned

    def call(self, command, **environment):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True,
                              env=dict(os.environ, **environment))
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
        return done.stdout

    def read(self, name):
        with open(os.path.join(self.folder, name)) as file:
            return file.read()

    def note(self, prefetch, what, value):
        self.values.setdefault((prefetch, what), []).append(value)

    def planned(self, program):
        overlap = json.loads(self.call([self.weft, "inspect", program, "--schedule", "--json"]))["overlap"]
        self.unit_ms = (overlap["eval"]["time_us"] - overlap["eval"]["exposed_us"]) / 1e3 / 6
        return sum(overlap[kind]["exposed_us"] for kind in ("micro", "apply")) / 1e3

    def traced(self, steps):
        """Medians over the steps of what rank 0 waited for."""
        events = [event for event in json.loads(self.read("trace.json"))["traceEvents"]
                  if event["ph"] == "X" and event["pid"] == 0 and event["tid"] == 0]
        events.sort(key=lambda event: event["ts"])
        exposed, last = [], "apply"
        for event in events:
            if event["cat"] not in ("micro", "apply"):
                continue
            if event["cat"] == "micro" and last == "apply":
                exposed.append(0)
            last = event["cat"]
            if event["name"].split()[0] in COLLECTIVES + ("wait",):
                exposed[-1] += event["dur"] / 1e3
        assert len(exposed) == len(steps), (len(exposed), len(steps))
        return statistics.median(time - (step["lag_ms"] if step["slowest_rank"] != 0 else 0)
                                 for time, step in zip(exposed[WARM:], steps[WARM:]))

    def run(self, program, delay, trace):
        for name in ("metrics.jsonl", "trace.json"):
            if os.path.exists(os.path.join(self.folder, name)):
                os.remove(os.path.join(self.folder, name))
        self.call([f"./{program}", "--data", "rows.safetensors", f"--steps={self.args.steps}", "--loopback", "2",
                   "--progress=none", "--threads=1", "--metrics", "metrics.jsonl",
                   *(["--trace", "trace.json"] if trace else [])],
                  **({"WEFT_FAULT": f"comm:delay={delay}ms"} if delay else {}))
        return [line for line in map(json.loads, self.read("metrics.jsonl").splitlines()) if "step_ms" in line]

    def round(self):
        self.call([self.weft, "bench", "--threads=1", "--ranks=2", "--loopback", "-o", "costs.toml", *self.args.bench])
        with open(os.path.join(self.folder, "delayed.toml"), "w") as file:
            file.write(delayed(self.read("costs.toml"), self.args.delay * 1e3))
        for prefetch in (1, 0):
            program = f"ahead-{prefetch}"
            self.call([self.weft, "compile", "units.mlir", "--mesh=dp:2", "--zero=3", "--accumulation=off",
                       "--threads-max=1", f"--prefetch={prefetch}", "--cost-table=delayed.toml", "-o", program])
            self.note(prefetch, "planned", self.planned(program))
            for delay, what in ((0, "step"), (self.args.delay, "delayed")):
                steps = self.run(program, delay, trace=False)
                self.note(prefetch, what, statistics.median(step["step_ms"] for step in steps[WARM:]))
            self.note(prefetch, "traced", self.traced(self.run(program, self.args.delay, trace=True)))

    def report(self):
        print(f"{'prefetch':>8} {'step':>8} {'delayed':>8} {'in delays':>9} {'planned':>8} {'traced':>8} {'ratio':>6}")
        rows = []
        for prefetch in (1, 0):
            row = {what: statistics.median(self.values[prefetch, what])
                   for what in ("step", "delayed", "planned", "traced")}
            row["prefetch"] = prefetch
            row["in_delays"] = (row["delayed"] - row["step"]) / self.args.delay
            row["ratio"] = row["planned"] / row["traced"]
            print(f"{prefetch:>8} {row['step']:>8.1f} {row['delayed']:>8.1f} {row['in_delays']:>9.2f} "
                  f"{row['planned']:>8.1f} {row['traced']:>8.1f} {row['ratio']:>6.3f}")
            row["values"] = {what: self.values[prefetch, what] for what in ("step", "delayed", "planned", "traced")}
            rows.append(row)
        print(f"forward, a unit computes for {self.unit_ms:.1f} ms"
              + (", less than the delay: give more --rows" if self.unit_ms < self.args.delay else ""))
        return rows


def main():
    args = parse()
    with tempfile.TemporaryDirectory(prefix="weft-delays-") as folder:
        experiment = Experiment(args, folder)
        experiment.call([sys.executable, UNITS, str(args.rows), str(args.width)])
        for number in range(args.rounds):
            experiment.round()
            print(f"round {number + 1} of {args.rounds}", file=sys.stderr, flush=True)
        rows = experiment.report()
    if args.json:
        with open(args.json, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
