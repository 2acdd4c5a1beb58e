#!/usr/bin/env python3
"""Trains a case with weft and compares it with the stored PyTorch reference.

usage: parity.py --weft build/bin/weft --work DIR CASE [--threads N] [--ranks N] [--compile FLAG]...

Compiles the model with the reference's initial weights, runs 20 AdamW steps
with clipping, accumulation and a cosine schedule, and compares every loss,
every gradient of the first step and every final weight. Ranks divide the rows of
each micro-step, so PyTorch has their batch as one. Needs numpy, not PyTorch. test/reference/compare_with_torch.py does the same against a fresh run.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys

try:
    import numpy as np
except ImportError:  # an interpreter without numpy: the system's may have it
    if os.environ.get("WEFT_PARITY_PYTHON") or not os.path.exists("/usr/bin/python3"):
        sys.exit("parity.py: needs numpy (python3-numpy)")
    os.environ["WEFT_PARITY_PYTHON"] = "/usr/bin/python3"
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "reference"))

import cases  # noqa: E402
import tensors  # noqa: E402

LOSS_BOUND = 2e-5      # relative
GRADIENT_BOUND = 2e-5  # relative L2 of each tensor, step 1
WEIGHT_BOUND = 1e-4    # relative L2 of each tensor, last step
NORM_BOUND = 1e-4      # relative


def call(arguments):
    result = subprocess.run(arguments, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0:
        sys.exit(f"parity.py: exit {result.returncode} of {' '.join(arguments)}\n"
                 f"{result.stdout[-4000:]}")


def prepare(case, work):
    """Writes model, weights and data; returns model, data, extra run flags."""
    config, text = cases.load_config(case)
    weights = cases.initial_weights(config)
    if case == "mlp":
        images, labels = cases.mlp_rows(0, 960)
        data = os.path.join(work, "rows.safetensors")
        start = os.path.join(work, "start.safetensors")
        tensors.write_tensors(data, {"image": images,
                                     "label": labels.astype(np.int32)})
        tensors.write_tensors(start, weights)
        model = os.path.join(cases.ROOT, "examples", "mlp.mlir")
        return model, data, ["--init-from", start]
    model = os.path.join(work, "model")
    os.makedirs(model)
    with open(os.path.join(model, "config.json"), "w") as file:
        file.write(text)
    tensors.write_tensors(os.path.join(model, "model.safetensors"), weights)
    return model, cases.CORPUS, []


def clear(work):
    if os.path.exists(work):
        shutil.rmtree(work)
    os.makedirs(work)


def compile_flags(case, ranks=1):
    batch = cases.CASES[case]["batch"]
    if batch % ranks:
        sys.exit(f"parity.py: expects a number of ranks that divides {batch} rows, but got {ranks}")
    flags = ["--optimizer=adamw", "--clip-norm=2", f"--batch={batch // ranks}"]
    if ranks > 1:
        flags.append(f"--mesh=dp:{ranks}")
    if case != "mlp":
        flags.append(f"--seq={cases.CASES[case]['seq']}")
    return flags


def run_flags(case, run, work):
    path = lambda name: os.path.join(work, name)
    flags = {
        "steps": run["steps"], "accum": run["accum"], "lr": run["lr"],
        "min-lr": run["min_lr"], "warmup": run["warmup"],
        "lr-schedule": "cosine", "weight-decay": run["weight_decay"],
        "beta1": run["beta1"], "beta2": run["beta2"], "eps": run["eps"],
        "clip": run["clip"], "metrics": path("metrics.jsonl"),
        "dump-grads": path("gradients.safetensors"), "save-dir": path("save"),
        "progress": "none",
    }
    if case != "mlp":
        flags["data-format"] = "text"
    # The reference reads its rows in file order.
    return ["--no-shuffle", *(f"--{name}={value}" for name, value in flags.items())]


def train(case, weft, work, threads, ranks=1, flags=()):
    """Runs weft, ranks as threads of one process; returns what train_with_torch.train returns."""
    clear(work)
    model, data, extra = prepare(case, work)
    program = os.path.join(work, "program")
    call([weft, "compile", model, "-o", program, *compile_flags(case, ranks), *flags])
    if ranks > 1:
        extra = [*extra, f"--loopback={ranks}"]
    call([program, "--data", data, f"--threads={threads}",
          *run_flags(case, cases.run_of(case), work), *extra])
    call([weft, "ckpt", "export", os.path.join(work, "save"),
          os.path.join(work, "out")])
    with open(os.path.join(work, "metrics.jsonl")) as file:
        lines = [json.loads(line) for line in file]
    steps = [line for line in lines if "loss" in line]
    return {
        "losses": [line["loss"] for line in steps],
        "norms": [line["grad_norm"] for line in steps],
        "rates": [line["lr"] for line in steps],
        "gradients": tensors.read_tensors(os.path.join(work, "gradients.safetensors")),
        "weights": tensors.read_tensors(os.path.join(work, "out", "model.safetensors")),
    }


class Verdict:
    """Collects comparisons and prints the worst of each kind."""

    def __init__(self):
        self.failed = False

    def check(self, kind, errors, bound):
        """errors: (relative error, where) pairs."""
        bad = [pair for pair in errors if not pair[0] <= bound]
        worst = max(errors, key=lambda pair: (pair[0] != pair[0], pair[0]))
        print(f"  {kind}: worst {worst[0]:.2e} ({worst[1]}), bound {bound:.0e}, "
              f"{len(bad)} of {len(errors)} beyond it")
        for error, where in bad[:12]:
            print(f"    {where}: {error:.2e}")
        self.failed |= bool(bad)

    def fail(self, text):
        print("  " + text)
        self.failed = True


def relative(values, expected, label):
    return [(abs(a - b) / abs(b), f"{label} {i + 1}")
            for i, (a, b) in enumerate(zip(values, expected))]


def compare_series(verdict, result, reference):
    steps = len(reference["losses"])
    if len(result["losses"]) != steps:
        verdict.fail(f"expects {steps} steps, but got {len(result['losses'])}")
        return
    verdict.check("learning rates", relative(result["rates"], reference["rates"], "step"), 1e-12)
    verdict.check("losses", relative(result["losses"], reference["losses"], "step"), LOSS_BOUND)
    verdict.check("gradient norms", relative(result["norms"], reference["norms"], "step"), NORM_BOUND)


def stored_distance(name, value, stored, norm, full):
    """Relative L2 distance of `value` from the stored tensor or sketch."""
    value = cases.left_out(name, np.asarray(value, np.float64))
    if full:
        return float(np.linalg.norm(value - stored.astype(np.float64))) / norm
    return tensors.sketch_distance(tensors.sketch(value), stored) / norm


def compare_stored(verdict, result, reference, stored):
    for kind, bound in (("gradients", GRADIENT_BOUND), ("weights", WEIGHT_BOUND)):
        names = {key.split("/", 1)[1] for key in stored if key.startswith(kind)}
        if names != set(result[kind]):
            verdict.fail(f"{kind}: other names: {sorted(names ^ set(result[kind]))}")
            continue
        verdict.check(kind, [
            (stored_distance(name, result[kind][name], stored[f"{kind}/{name}"],
                             reference["l2"][f"{kind}/{name}"], reference["full"]), name)
            for name in sorted(names)], bound)


def judge(case, result):
    """Compares a result with the stored reference; 0 if all is within bounds."""
    with open(os.path.join(cases.DATA, case + ".json")) as file:
        reference = json.load(file)
    if reference["run"] != cases.run_of(case):
        sys.exit("parity.py: the stored reference is of another run; make it again")
    stored = tensors.read_tensors(os.path.join(cases.DATA, case + ".safetensors"))
    verdict = Verdict()
    compare_series(verdict, result, reference)
    compare_stored(verdict, result, reference, stored)
    return 1 if verdict.failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("case", choices=cases.PARITY)
    parser.add_argument("--weft", default="weft")
    parser.add_argument("--work", required=True)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--compile", action="append", default=[], metavar="FLAG")
    args = parser.parse_args()
    result = train(args.case, args.weft, args.work, args.threads, args.ranks, args.compile)
    print(" ".join([args.case, *args.compile, f"on {args.ranks} ranks against PyTorch"
                    if args.ranks > 1 else "against PyTorch"]))
    sys.exit(judge(args.case, result))


if __name__ == "__main__":
    main()
