#!/usr/bin/env python3
"""Compiles one model with more and more layers: what a layer adds stays the same.

Counting (default): equal layers share their kernels, and each adds as many
commands as the one before. With --time: the processor time a layer takes does
not grow with their number, and 48 layers take at most 1.3 times as long as 12.
"""
import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import time


def write_config(source, layers, folder):
    with open(os.path.join(source, "config.json")) as file:
        config = json.load(file)
    config["n_layer"] = layers
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(config, file)
    return folder


def compile_model(weft, folder, emit):
    output = os.path.join(folder, emit)
    subprocess.run([weft, "compile", folder, "--emit=" + emit, "-o", output], check=True)
    return output


def counts(weft, folder):
    """Kernels, and commands of each plan program."""
    with open(compile_model(weft, folder, "plan")) as file:
        text = file.read()
    commands = [len(re.findall(r"^ +plan\.(?!output\b)", part, re.M))
                for part in text.split("plan.program ")[1:]]
    return len(re.findall(r"^ +weft\.kernel ", text, re.M)), commands


def check_counts(args):
    results = [counts(args.weft, write_config(args.model, layers, f"{args.work}/{layers}"))
               for layers in (4, 6, 8)]
    (kernels, first), (same, second), (also, third) = results
    assert kernels > 0 and kernels == same == also, f"kernels: {kernels}, {same}, {also}"
    added = [b - a for a, b in zip(first, second)]
    again = [b - a for a, b in zip(second, third)]
    assert max(added) > 0 and added == again, f"commands of two layers: {added}, then {again}"
    print("counts: equal")


def processor_seconds(weft, folder, runs=5):
    best = float("inf")
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        compile_model(weft, folder, "exe")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def clock_ratio(weft, short, long, pairs=15):
    """Median ratio of the times on the clock, of runs in turns."""
    def run(folder):
        start = time.monotonic()
        compile_model(weft, folder, "exe")
        return time.monotonic() - start
    return statistics.median(run(long) / run(short) for _ in range(pairs))


def check_times(args):
    folders = {layers: write_config(args.model, layers, f"{args.work}/{layers}")
               for layers in (12, 48, 96, 192)}
    seconds = {layers: processor_seconds(args.weft, folder) for layers, folder in folders.items()}
    text = ", ".join(f"{layers} layers {value:.2f} s" for layers, value in seconds.items())
    # Linear work doubles from one step to the next, quadratic work grows fourfold.
    low, high = seconds[96] - seconds[48], seconds[192] - seconds[96]
    assert high < 3 * low, f"expects each layer to cost the same, but got {text}"
    assert seconds[48] < 1.6 * seconds[12], f"expects 48 layers to cost 1.4 times 12, but got {text}"
    print("times:", text)
    if len(os.sched_getaffinity(0)) == 1:
        print("ratio: skipped, there is one processor: no kernel is compiled beside the plan")
        return
    ratio = clock_ratio(args.weft, folders[12], folders[48])
    assert ratio <= 1.3, f"expects 48 layers to take at most 1.3 times 12, but got {ratio:.2f}"
    print(f"ratio: {ratio:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weft", default="weft")
    parser.add_argument("--model", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--time", action="store_true")
    args = parser.parse_args()
    check_times(args) if args.time else check_counts(args)


if __name__ == "__main__":
    main()
