#!/usr/bin/env python3
"""Compares mixed precision with f32 and with PyTorch's autocast.

usage: precision.py --weft build/bin/weft --work DIR gradients MODEL
       precision.py --weft build/bin/weft --work DIR rounded MODEL
       precision.py --weft build/bin/weft --work DIR losses MODEL

MODEL is a folder of examples/. `gradients`: those of the first step are nearer to
PyTorch's autocast (amp) than a quarter of the distance between that and f32, all
tensors taken together; test/Train/data/precision-MODEL has sketches of amp and
its distances from f32, made by test/reference/compare_autocast.py. `rounded`: the
same for --grad-dtype=torch, with test/Train/data/rounded-MODEL. `losses`: after
200 steps on the sources of weft, shuffled, bf16 and f16 are within 2 % of f32, the
last loss and the mean of the last 20, and the losses of no two are equal. The rate
has a warmup and a cosine, and gradients are clipped: without clipping a run is at
times thrown off by one step, in any precision. All three train on the
same text, so nothing that is compared is stored.
"""
import argparse
import json
import os
import sys

import parity

import cases
import tensors

np = parity.np

RATIO_BOUND = 0.3  # 0.22 without dot products of bf16, which round probabilities, and 0.264 with them
CPU_LISTS = os.path.join(cases.ROOT, "test", "Train", "Inputs", "cpu-lists.toml")
# Compile flags of each reference; `cpu` is torch.autocast of the CPU, bf16.
FLAGS = {"bf16": ["--precision=bf16"], "f16": ["--precision=f16"],
         "cpu": ["--precision=bf16", f"--autocast-lists={CPU_LISTS}"]}
LOSS_BOUND = 0.02
STEPS, LAST = 200, 20
EQUAL_BOUND = 0.1     # of the steps
CORPUS_BYTES = 10**6  # enough for every row to be read once
PREFIX = {"gradients": "precision", "rounded": "rounded"}
RATE = ["--lr=1e-3", "--lr-schedule=cosine", "--warmup=20", "--clip=1"]


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
    case = f"{PREFIX[args.what]}-{model}"
    more = ["--grad-dtype=torch"] if args.what == "rounded" else []
    with open(os.path.join(cases.DATA, case + ".json")) as file:
        reference = json.load(file)
    stored = tensors.read_tensors(os.path.join(cases.DATA, case + ".safetensors"))
    failed = False
    for precision, distances in reference["distances"].items():
        loss, got = first_step(case, args.weft, args.work, args.threads,
                               FLAGS[precision] + more)
        near = {name: tensors.sketch_distance(
            tensors.sketch(cases.left_out(name, got[name])),
            stored[f"{precision}/{name}"]) for name in distances}
        ratio = total(near.values()) / total(distances.values())
        worst = max((near[name] / distances[name], name) for name in near)
        print(f"{case} {precision}: |weft - amp| / |amp - f32| {ratio:.4f}, bound "
              f"{RATIO_BOUND}; worst tensor {worst[0]:.4f} ({worst[1]}); loss {loss:.7f}")
        failed |= not ratio <= RATIO_BOUND or set(got) != set(distances)
    return failed


def write_corpus(path):
    """The text that scripts/quickstart.sh trains on, in its order."""
    files = ["README.md"]
    for folder in ("docs", "include", "kernels", "lib", "test", "tools"):
        for parent, _, names in os.walk(os.path.join(cases.ROOT, folder)):
            files += [os.path.relpath(os.path.join(parent, name), cases.ROOT)
                      for name in names if name.endswith((".md", ".cpp", ".h", ".td"))]
    with open(path, "wb") as out:
        for name in sorted(files, key=os.fsencode):
            with open(os.path.join(cases.ROOT, name), "rb") as file:
                out.write(file.read())
    if os.path.getsize(path) < CORPUS_BYTES:
        sys.exit(f"precision.py: expects sources of at least {CORPUS_BYTES} bytes in "
                 f"{cases.ROOT}, but got {os.path.getsize(path)}")


def losses_of(model, precision, args, corpus):
    """The losses of 200 steps from the weights that weft draws."""
    program = os.path.join(args.work, "program")
    metrics = os.path.join(args.work, "metrics.jsonl")
    parity.call([args.weft, "compile", os.path.join(cases.ROOT, "examples", model),
                 "-o", program, "--batch=8", "--seq=128", f"--precision={precision}"])
    parity.call([program, "--data", corpus, "--shuffle", "--seed=1", f"--steps={STEPS}",
                 *RATE, f"--threads={args.threads}", f"--metrics={metrics}",
                 "--progress=none"])
    with open(metrics) as file:
        return np.array([json.loads(line)["loss"] for line in file if '"loss"' in line])


def losses(model, args):
    parity.clear(args.work)
    corpus = os.path.join(args.work, "corpus.txt")
    write_corpus(corpus)
    series = {p: losses_of(model, p, args, corpus) for p in ("f32", "bf16", "f16")}
    wide, failed = series["f32"], any(s.size != STEPS for s in series.values())
    failed |= not np.mean(wide[-LAST:]) < 0.75 * wide[0]  # it learns, as quickstart asks
    for precision, got in series.items():
        last = got[-1] / wide[-1] - 1
        mean = np.mean(got[-LAST:]) / np.mean(wide[-LAST:]) - 1
        print(f"{model} {precision}: loss {got[0]:.7f}, at step {STEPS} "
              f"{got[-1]:.5f}, {last:+.2%} of f32; mean of the last {LAST} {mean:+.2%}")
        failed |= not (abs(last) <= LOSS_BOUND and abs(mean) <= LOSS_BOUND)
    for a, b in (("f32", "bf16"), ("f32", "f16"), ("bf16", "f16")):
        if np.mean(series[a] == series[b]) > EQUAL_BOUND:  # some are equal by chance
            print(f"{model}: {a} and {b} have equal losses")
            failed = True
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=["gradients", "rounded", "losses"])
    parser.add_argument("model", choices=cases.PRECISION)
    parser.add_argument("--weft", default="weft")
    parser.add_argument("--work", required=True)
    parser.add_argument("--threads", type=int, default=0)
    args = parser.parse_args()
    check = losses if args.what == "losses" else gradients
    sys.exit(1 if check(args.model, args) else 0)


if __name__ == "__main__":
    main()
