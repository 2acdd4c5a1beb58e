#!/usr/bin/env python3
"""Overflow in f16 reaches the loss scale on the emulated device as on the CPU.

usage: overflow-skips.py BUILD WORK MODEL DATA SKIPPED [--cuda=FLAG]...

Trains the model for six steps: the first SKIPPED of them, and no others, have to
be skipped, each with half the loss scale of the one before, in both programs.
--cuda: flags of the program for the device alone.
"""
import json
import os
import sys

from train import Case, parse


def main():
    skipped = int(sys.argv.pop(5))
    options = parse(sys.argv[1:] + ["--precision", "f16", "--steps", "6",
                                    "--compile=--scaler-init=32768", "--run=--lr=1e-4"])
    case = Case(options)
    case.compile_all()
    case.train("cpu", "on-cpu")
    case.train("cuda", "on-device", environment=case.device(1))
    expected = [[step < skipped, 32768 / 2 ** min(step, skipped)] for step in range(6)]
    for name in ("on-cpu", "on-device"):
        with open(os.path.join(options.work, name + ".jsonl")) as lines:
            steps = [json.loads(line) for line in lines]
        got = [[step["skipped"], step["loss_scale"]] for step in steps if "loss" in step]
        if got != expected:
            sys.exit(f"{name}: expects {expected}, but got {got}")
    print(f"{skipped} of {len(expected)} steps are skipped")


if __name__ == "__main__":
    main()
