"""Validation losses of programs of several ranks, whose rows are split over them.

usage: eval_ranks.py WORK --model MODEL --data FILE --ranks W [--batches N]...
                     [--compile=FLAG]... [--mpi]

Stages 0 to 3 train and evaluate on the way: their losses are those of the first, by
every digit, as threads and with --mpi as processes. One rank that evaluates what
they have saved has them to 1e-6. The trace says how often rank 0 evaluates.
"""
import argparse
import json
import pathlib
import subprocess
import sys

parser = argparse.ArgumentParser()
parser.add_argument("work", type=pathlib.Path)
parser.add_argument("--model", required=True)
parser.add_argument("--data", required=True)
parser.add_argument("--ranks", type=int, required=True)
parser.add_argument("--batches", action="append", type=int, default=[])
parser.add_argument("--compile", action="append", default=[])
parser.add_argument("--mpi", action="store_true")
args = parser.parse_args()
args.work.mkdir(parents=True, exist_ok=True)
LOOPBACK = [], ["--loopback", args.ranks]
MPI = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", args.ranks], []


def need(*command):
    command = list(map(str, command))
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"expects exit 0 of {' '.join(command)}, but got {result.returncode}:\n{result.stderr}")


def expect(wanted, found, what):
    if wanted != found:
        sys.exit(f"{what}: expects {wanted}, but got {found}")


def losses(path):
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [line["val_loss"] for line in lines if "val_loss" in line]


def build(name, *flags):
    need("weft", "compile", args.model, "--batch=1", "--seq=16", *flags, *args.compile, "-o", args.work / name)


def run(name, launch, out, *flags):
    metrics = args.work / f"{out}.jsonl"
    metrics.unlink(missing_ok=True)
    need(*launch[0], args.work / name, *launch[1], "--val-fraction", "0.1", "--data", args.data, "--progress", "none",
         "--threads", 1, "--metrics", metrics, *flags)
    return losses(metrics)


def train(name, launch, batches):
    out = f"{name}-{'mpi' if launch is MPI else 'loopback'}-{batches}"
    trace = args.work / f"{out}.trace"
    found = run(name, launch, out, "--steps", 2, "--eval-every", 1, "--eval-steps", batches, "--save-dir",
                args.work / f"{out}.save", "--trace", trace)
    events = [event for event in json.loads(trace.read_text())["traceEvents"] if event.get("cat") == "eval"]
    first = sum(event["name"] == events[0]["name"] and event["args"] == events[0]["args"] for event in events)
    expect(2 * -(-batches // args.ranks), first, f"evaluations of rank 0 in {out}")
    return found, args.work / f"{out}.save"


def main():
    build("one")
    for stage in range(4):
        build(f"z{stage}", f"--mesh=dp:{args.ranks}", f"--zero={stage}")
    count = 0
    for batches in args.batches:
        wanted, saved = train("z0", LOOPBACK, batches)
        expect(2, len(wanted), "evaluations")
        for stage in range(4):
            for launch in [LOOPBACK] + [MPI] * args.mpi:
                if stage or launch is MPI:
                    expect(wanted, train(f"z{stage}", launch, batches)[0], f"the losses of stage {stage}")
                alone = run(f"z{stage}", launch, "alone", "--eval-only", "--resume", saved, "--eval-steps", batches)
                expect(wanted[-1:], alone, f"--eval-only of stage {stage}")
                count += 1
        one = run("one", ([], []), "alone", "--eval-only", "--resume", saved, "--eval-steps", batches)
        if not abs(one[0] - wanted[-1]) <= 1e-6 * abs(one[0]):
            sys.exit(f"expects {one[0]} of one rank, but got {wanted[-1]}")
    print(f"{count} runs have the losses of their first")


main()
