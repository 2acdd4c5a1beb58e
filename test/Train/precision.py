#!/usr/bin/env python3
"""Compares mixed precision with f32 and with PyTorch's autocast.

usage: precision.py --weft build/bin/weft --work DIR gradients MODEL
       precision.py --weft build/bin/weft --work DIR losses MODEL

MODEL is a folder of examples/. `gradients`: those of the first step are nearer to
PyTorch's autocast (amp) than a quarter of the distance between that and f32, all
tensors taken together; test/Train/data/precision-MODEL has sketches of amp and
its distances from f32, made by test/reference/compare_autocast.py. `losses`:
after 200 steps bf16 and f16 are within 2 % of f32, and no two are equal.
"""
import argparse
import json
import os
import random
import sys

import parity

import cases
import tensors

np = parity.np

RATIO_BOUND = 0.25
LOSS_BOUND = 0.02
STEPS, LAST = 200, 10


def first_step(case, weft, work, threads, flags):
    """Loss and gradients of the first step; they carry no loss scale."""
    parity.clear(work)
    model, data, extra = parity.prepare(case, work)
    program = os.path.join(work, "program")
    parity.call([weft, "compile", model, "-o", program, "--numerics=strict",
                 *parity.compile_flags(case), *flags])
    parity.call([program, "--data", data, f"--threads={threads}",
                 *parity.run_flags(case, cases.run_of(case), work), *extra])
    with open(os.path.join(work, "metrics.jsonl")) as file:
        (step,) = [json.loads(line) for line in file if '"loss"' in line]
    if step.get("skipped"):
        sys.exit(f"precision.py: {case} skips its first step")
    scale = step.get("loss_scale", 1.0)
    gradients = tensors.read_tensors(os.path.join(work, "gradients.safetensors"))
    return step["loss"], {name: value / scale for name, value in gradients.items()}


def total(norms):
    return float(np.sqrt(np.sum(np.square(list(norms)))))


def gradients(model, args):
    case = f"precision-{model}"
    with open(os.path.join(cases.DATA, case + ".json")) as file:
        reference = json.load(file)
    stored = tensors.read_tensors(os.path.join(cases.DATA, case + ".safetensors"))
    failed = False
    for precision, distances in reference["distances"].items():
        loss, got = first_step(case, args.weft, args.work, args.threads,
                               [f"--precision={precision}"])
        near = {name: tensors.sketch_distance(
            tensors.sketch(cases.left_out(name, got[name])),
            stored[f"{precision}/{name}"]) for name in distances}
        ratio = total(near.values()) / total(distances.values())
        worst = max((near[name] / distances[name], name) for name in near)
        print(f"{case} {precision}: |weft - amp| / |amp - f32| {ratio:.4f}, bound "
              f"{RATIO_BOUND}; worst tensor {worst[0]:.4f} ({worst[1]}); loss {loss:.7f}")
        failed |= not ratio <= RATIO_BOUND or set(got) != set(distances)
    return failed


def losses_of(model, precision, args):
    """The losses of 200 steps from the weights that weft draws.

    The data are words of the corpus in random order, each row read once, and the
    rate is warmed up: otherwise runs in f32 whose rates differ by 1e-4 of
    themselves end 1 % apart.
    """
    parity.clear(args.work)
    data = os.path.join(args.work, "words.txt")
    with open(cases.CORPUS) as corpus, open(data, "w") as file:
        words, draw = corpus.read().split(), random.Random(1)
        file.write(" ".join(draw.choice(words) for _ in range(50000))[:206000])
    program = os.path.join(args.work, "program")
    metrics = os.path.join(args.work, "metrics.jsonl")
    parity.call([args.weft, "compile", os.path.join(cases.ROOT, "examples", model),
                 "-o", program, "--batch=8", "--seq=128", f"--precision={precision}"])
    parity.call([program, "--data", data, "--data-format=text",
                 f"--steps={STEPS}", "--lr=1e-3", "--min-lr=1e-4", "--warmup=50",
                 "--lr-schedule=cosine", "--clip=1", f"--threads={args.threads}",
                 f"--metrics={metrics}", "--progress=none"])
    with open(metrics) as file:
        return [json.loads(line)["loss"] for line in file if '"loss"' in line]


def losses(model, args):
    series = {p: losses_of(model, p, args) for p in ("f32", "bf16", "f16")}
    ends = {p: float(np.mean(values[-LAST:])) for p, values in series.items()}
    failed = any(len(values) != STEPS for values in series.values())
    for precision, end in ends.items():
        error = end / ends["f32"] - 1
        print(f"{model} {precision}: loss {series[precision][0]:.7f}, mean of the last "
              f"{LAST} of {STEPS} steps {end:.5f}, {error:+.2%} of f32")
        failed |= not abs(error) <= LOSS_BOUND
    for a, b in (("f32", "bf16"), ("f32", "f16"), ("bf16", "f16")):
        if any(x == y for x, y in zip(series[a][:LAST], series[b][:LAST])):
            print(f"{model}: {a} and {b} have equal losses")
            failed = True
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=["gradients", "losses"])
    parser.add_argument("model", choices=cases.PRECISION)
    parser.add_argument("--weft", default="weft")
    parser.add_argument("--work", required=True)
    parser.add_argument("--threads", type=int, default=0)
    args = parser.parse_args()
    check = gradients if args.what == "gradients" else losses
    sys.exit(1 if check(args.model, args) else 0)


if __name__ == "__main__":
    main()
