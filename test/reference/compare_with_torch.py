#!/usr/bin/env python3
"""Trains a case with weft and with PyTorch and compares them element by element.

usage: compare_with_torch.py --weft build/bin/weft --work DIR [--float64] CASE...

Unlike test/Train/parity.py it needs PyTorch, and it compares whole tensors where
the stored references hold sketches.
"""
import argparse
import os
import sys

import torch

import cases
import train_with_torch

sys.path.insert(0, os.path.join(cases.ROOT, "test", "Train"))
import parity  # noqa: E402


def compare(case, args):
    dtype = torch.float64 if args.float64 else torch.float32
    reference = train_with_torch.train(case, dtype)
    result = parity.train(case, args.weft, os.path.join(args.work, case), args.threads)
    print(f"{case} against PyTorch {torch.__version__} ({dtype})")
    verdict = parity.Verdict()
    parity.compare_series(verdict, result, reference)
    for kind, bound in (("gradients", parity.GRADIENT_BOUND),
                        ("weights", parity.WEIGHT_BOUND)):
        verdict.check(kind, [
            (train_with_torch.distance(cases.left_out(name, result[kind][name]),
                                       cases.left_out(name, value)), name)
            for name, value in reference[kind].items()], bound)
    return verdict.failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cases", nargs="*", default=cases.PARITY)
    parser.add_argument("--weft", default="weft")
    parser.add_argument("--work", required=True)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--float64", action="store_true",
                        help="run the reference in float64")
    args = parser.parse_args()
    sys.exit(1 if any([compare(case, args) for case in args.cases]) else 0)


if __name__ == "__main__":
    main()
