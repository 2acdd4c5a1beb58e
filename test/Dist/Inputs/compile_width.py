#!/usr/bin/env python3
"""Compiles a model of 48 layers for few and for many ranks: neither takes longer.

usage: compile_width.py FOLDER CONFIG

The processor time of `weft compile --zero=3` for 1024 ranks is at most 1.5 times that
for 4, the least of five alternating runs each.
"""
import json
import os
import resource
import subprocess
import sys


def compile_for(folder, ranks):
    """Seconds of processor time."""
    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime
    before = spent()
    subprocess.run(["weft", "compile", folder, "--batch=1", "--seq=16", f"--mesh=dp:{ranks}", "--zero=3",
                    "-o", os.path.join(folder, f"w{ranks}")], check=True)
    return spent() - before


def main():
    folder, config = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    with open(config) as file:
        model = json.load(file)
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(model | {"n_layer": 48}, file)
    runs = [(compile_for(folder, 4), compile_for(folder, 1024)) for _ in range(5)]
    few, many = (min(times) for times in zip(*runs))
    print(f"4 ranks {few:.2f} s, 1024 ranks {many:.2f} s, ratio {many / few:.2f}")
    if many > 1.5 * few:
        raise SystemExit("expects at most 1.5 times as long")


if __name__ == "__main__":
    main()
