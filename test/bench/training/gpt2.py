#!/usr/bin/env python3
"""Speed and memory of a GPT-2 in training: weft's programs beside PyTorch.

usage: gpt2.py build OUT --weft WEFT [--target cuda:sm_90] [--batch 32] [--seq 1024] ...
       gpt2.py run OUT [--rounds 3] [--warmup 20] [--steps 100] [--json FILE] ...

`build` needs weft and no GPU: it compiles a program for each row of the table.
`run` needs the folder that build wrote, a GPU and a Python with PyTorch, and no
weft. It tries PyTorch's compile modes and attention backends in short runs,
then runs weft and the fastest of them in turns, each in a process of its own,
on the same tokens from the same weights, and prints for each row the time of a
step (that of all timed steps over their number; the median of the rounds),
tokens per second, the share of the GPU's peak that the model's arithmetic is,
the most memory, and the commands that took most time.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
DROPS = ("resid_pdrop", "embd_pdrop", "attn_pdrop")


def rows_of(options):
    """The rows of the table: a recipe, and how much is dropped."""
    return [{"name": f"{recipe}, dropout {drop:g}", "recipe": recipe, "dropout": drop,
             "program": f"{recipe}-{index}"}
            for index, drop in enumerate(options.dropout)
            for recipe in options.recipes]


def fail(words):
    sys.exit(f"gpt2.py: error: {words}")


def call(command, output=None):
    """Runs a command with the standard streams of this process, or its output in a file."""
    try:
        code = subprocess.run(command, stdout=output).returncode
    except OSError as error:
        fail(f"cannot start {command[0]}: {error.strerror}")
    if code != 0:
        fail(f"{' '.join(command)}: ended with {code}")


def compile_row(options, row, config, work):
    model = os.path.join(work, "model-" + row["program"])
    os.makedirs(model)
    with open(os.path.join(model, "config.json"), "w") as file:
        json.dump({**config, **dict.fromkeys(DROPS, row["dropout"])}, file)
    command = [options.weft, "compile", model, "-o", os.path.join(options.out, row["program"]),
               f"--target={options.target}", f"--precision={options.precision}",
               f"--recipe={row['recipe']}", f"--batch={options.batch}", f"--seq={options.seq}",
               *options.compile]
    call(command)


def read_json(folder, name, expected):
    try:
        with open(os.path.join(folder, name)) as file:
            return json.load(file)
    except (OSError, ValueError) as error:
        fail(f"expects {expected}, but got {folder}: {name}: {getattr(error, 'strerror', None) or error}")


def build(options):
    config = read_json(options.model, "config.json", "the folder of a GPT-2")
    os.makedirs(options.out, exist_ok=True)
    rows = rows_of(options)
    with tempfile.TemporaryDirectory() as work:
        for row in rows:
            compile_row(options, row, config, work)
    plan = {"config": config, "batch": options.batch, "seq": options.seq,
            "precision": options.precision, "target": options.target, "rows": rows}
    with open(os.path.join(options.out, "bench.json"), "w") as file:
        json.dump(plan, file, indent=1)
    print(f"{len(rows)} programs in {options.out}")


def best_peer(bench, row):
    """The fastest way that PyTorch has, of those asked for, and all that were tried."""
    tried = []
    for mode in bench.options.modes:
        for attention in bench.options.attention:
            peer = {"mode": mode, "attention": attention}
            result = bench.torch(row, peer, steps=bench.options.survey_steps, may_fail=True)
            tried.append({**peer, **{key: result.get(key) for key in ("ms", "error")}})
            print(f"  PyTorch {mode}, {attention}: "
                  + (result.get("error") or f"{result['ms']:.2f} ms"), flush=True)
    ran = [peer for peer in tried if peer["ms"]]
    if not ran:
        sys.exit("expects a mode of PyTorch that runs here")
    return min(ran, key=lambda peer: peer["ms"]), tried


def measure(bench, row, peers):
    """Runs in turns of one row; a list of results of each side. `peers`: what
    best_peer found so far, by the dropout of the rows."""
    print(f"{row['name']}:", flush=True)
    result = {"row": row, "weft": [], "torch": []}
    if bench.options.modes != ["none"]:
        if row["dropout"] not in peers:  # all that PyTorch knows of a row
            peers[row["dropout"]] = best_peer(bench, row)
        result["peer"], result["tried"] = peers[row["dropout"]]
    for number in range(bench.options.rounds):
        result["weft"].append(bench.weft(row))
        print(f"  round {number + 1}: weft {result['weft'][-1]['ms']:.2f} ms", flush=True)
        if "peer" in result:
            result["torch"].append(bench.torch(row, result["peer"]))
            print(f"  round {number + 1}: PyTorch {result['torch'][-1]['ms']:.2f} ms", flush=True)
    result["weft_commands"] = bench.weft_commands(row)
    if "peer" in result:
        profile = bench.torch(row, result["peer"], steps=3, profile=True)
        result["torch_kernels"] = profile["kernels"]
    return result


def chosen_rows(options, plan):
    rows = {row["program"]: row for row in plan["rows"]}
    for name in options.rows or []:
        if name not in rows:
            sys.exit(f"expects rows of {', '.join(rows)}, but got {name}")
    return [rows[name] for name in options.rows or rows]


def check_torch(options):
    """Once, not in every mode."""
    code = f"import torch; torch.zeros(1, device={options.device!r})"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    if result.returncode != 0:
        fail(f"expects a Python with PyTorch on {options.device}, or --modes none, but {sys.executable} "
             f"says: {(result.stderr.strip().splitlines() or ['nothing'])[-1]}")


def run(options):
    plan = read_json(options.out, "bench.json", "a folder that build wrote")
    try:  # build needs no numpy
        import report
        import sides
    except ImportError as error:
        fail(f"run needs numpy: {error}")
    if options.modes != ["none"]:
        check_torch(options)
    with tempfile.TemporaryDirectory() as work:
        bench = sides.Bench(options, plan, work)
        peers = {}
        results = [measure(bench, row, peers) for row in chosen_rows(options, plan)]
    print(report.table(plan, results, options.peak))
    print(report.commands(results))
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"plan": plan, "results": results}, file, indent=1)


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    make = commands.add_parser("build", help="compile the programs")
    make.set_defaults(command=build)
    make.add_argument("out")
    make.add_argument("--weft", required=True)
    make.add_argument("--model", default=os.path.join(ROOT, "examples", "gpt2-124m"))
    make.add_argument("--target", default="cuda:sm_90")
    make.add_argument("--precision", default="f16", choices=("f32", "f16", "bf16"))
    make.add_argument("--recipes", nargs="+", default=("amp", "llm"))
    make.add_argument("--dropout", nargs="+", type=float, default=(0.0, 0.1))
    make.add_argument("--batch", type=int, default=32, help="rows of a step")
    make.add_argument("--seq", type=int, default=1024, help="tokens of a row")
    make.add_argument("--compile", action="append", default=[], metavar="FLAG",
                      help="a flag of weft compile, as --compile=--attention=cudnn")
    time = commands.add_parser("run", help="time them beside PyTorch")
    time.set_defaults(command=run)
    time.add_argument("out")
    time.add_argument("--rows", nargs="+", help="names of programs; default: all")
    time.add_argument("--rounds", type=int, default=3)
    time.add_argument("--warmup", type=int, default=20)
    time.add_argument("--steps", type=int, default=100)
    time.add_argument("--survey-steps", type=int, default=20)
    time.add_argument("--modes", nargs="+",
                      default=["eager", "default", "reduce-overhead", "max-autotune"],
                      help="of torch.compile; none: weft alone, no PyTorch")
    time.add_argument("--attention", nargs="+", default=("flash", "cudnn", "efficient"))
    time.add_argument("--device", default="cuda", choices=("cuda", "cpu"), help="PyTorch's device")
    time.add_argument("--peak", type=float, default=989.5, help="TFLOP/s of the GPU")
    time.add_argument("--run", action="append", default=[], metavar="FLAG",
                      help="a flag of weft's programs, as --run=--no-graph")
    time.add_argument("--json", help="all numbers")
    return parser.parse_args()


if __name__ == "__main__":
    arguments = parse()
    arguments.command(arguments)
