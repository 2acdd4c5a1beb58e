#!/usr/bin/env python3
"""Compares CPU programs of two builds of weft: how long a step takes.

usage: builds.py --new WEFT --old WEFT --text FILE [--models NAME,...] [--precisions f32,bf16] [--pairs N] [--steps N]
                 [--threads N]

Both compile each model in each precision. A pair is a run of each program, in turns the one or the other first; of a run
counts the median of its steps without the first. Printed are the median of the ratios new / old of all pairs, the least
and the largest, and the medians of both in milliseconds. The weights are random.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile

COMMON = {"model_type": "gpt2", "activation_function": "gelu_new", "resid_pdrop": 0.0, "embd_pdrop": 0.0,
          "attn_pdrop": 0.0, "tie_word_embeddings": True}
# Rows and tokens of a micro-step behind each.
MODELS = {
    "gpt2-124m": (dict(COMMON, vocab_size=50257, n_positions=1024, n_embd=768, n_layer=12, n_head=12), 1, 64),
    "gpt2-mini": (dict(COMMON, vocab_size=256, n_positions=256, n_embd=128, n_layer=4, n_head=4), 8, 128),
    "6-layers": (dict(COMMON, vocab_size=256, n_positions=256, n_embd=384, n_layer=6, n_head=6), 4, 128),
    "tiny": (dict(COMMON, vocab_size=256, n_positions=64, n_embd=32, n_layer=2, n_head=2), 1, 16),
}


def words(text):
    return text.split(",")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for side in ("new", "old"):
        parser.add_argument(f"--{side}", required=True, metavar="WEFT")
    parser.add_argument("--text", required=True, help="what they are trained on")
    parser.add_argument("--models", type=words, default=["gpt2-124m", "6-layers"])
    parser.add_argument("--precisions", type=words, default=["f32", "bf16"])
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    args = parser.parse_args()
    for name in args.models:
        if name not in MODELS:
            parser.error(f"expects models of {', '.join(MODELS)}, but got {name}")
    if args.pairs < 1 or args.steps < 2:
        parser.error("expects at least one pair of at least two steps")
    return args


def compile_model(weft, name, precision, folder):
    config, rows, tokens = MODELS[name]
    with open(os.path.join(folder, "config.json"), "w") as out:
        json.dump(config, out)
    program = os.path.join(folder, "program")
    subprocess.run([weft, "compile", folder, f"--batch={rows}", f"--seq={tokens}", f"--precision={precision}",
                    "-o", program], check=True)
    return program


def measure(program, args, folder):
    """Median milliseconds of a step."""
    metrics = os.path.join(folder, "metrics.jsonl")
    if os.path.exists(metrics):
        os.remove(metrics)
    subprocess.run([program, "--data", args.text, "--tokenizer=bytes", "--steps", str(args.steps),
                    "--threads", str(args.threads), "--progress=none", "--metrics", metrics],
                   check=True, stdout=subprocess.DEVNULL)
    with open(metrics) as lines:
        records = map(json.loads, lines)
        steps = [record["step_ms"] for record in records if "step_ms" in record]
    return statistics.median(steps[1:])


def compare(name, precision, args, folder):
    programs, times = {}, {"new": [], "old": []}
    for side in times:
        own = os.path.join(folder, f"{name}-{precision}-{side}")
        os.mkdir(own)
        programs[side] = compile_model(getattr(args, side), name, precision, own)
    for pair in range(args.pairs):
        for side in ("new", "old") if pair % 2 == 0 else ("old", "new"):
            times[side].append(measure(programs[side], args, folder))
    ratios = [new / old for new, old in zip(times["new"], times["old"])]
    middle = statistics.median
    print(f"{name:12} {precision:9} {middle(ratios):7.3f} {min(ratios):7.3f} {max(ratios):7.3f} "
          f"{middle(times['new']):10.2f} {middle(times['old']):10.2f}", flush=True)


def main():
    args = parse()
    print(f"{'model':12} {'precision':9} {'ratio':>7} {'least':>7} {'most':>7} {'new ms':>10} {'old ms':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for precision in args.precisions:
            for name in args.models:
                compare(name, precision, args, folder)


if __name__ == "__main__":
    main()
