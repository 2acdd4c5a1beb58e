#!/usr/bin/env python3
"""Makes the stored references in test/Train/data with PyTorch.

usage: make_reference.py [CASE...]

Prints how far the float32 run is from a float64 run of the same script: what
rounding alone does, to be compared with the bounds of test/Train/parity.py.
"""
import json
import os
import sys

import numpy as np
import torch

import cases
import tensors
import train_with_torch


def store(case, result):
    full = cases.CASES[case]["full"]
    arrays, norms = {}, {}
    for kind in ("gradients", "weights"):
        for name, value in result[kind].items():
            value = cases.left_out(name, value)
            key = f"{kind}/{name}"
            norms[key] = float(np.linalg.norm(value.astype(np.float64)))
            stored = value if full else tensors.sketch(value)
            arrays[key] = stored.astype(np.float32)
    tensors.write_tensors(os.path.join(cases.DATA, case + ".safetensors"), arrays)
    record = {
        "case": case, "run": cases.run_of(case), "full": full,
        "torch": torch.__version__, "losses": result["losses"],
        "norms": result["norms"], "rates": result["rates"], "l2": norms,
    }
    with open(os.path.join(cases.DATA, case + ".json"), "w") as file:
        json.dump(record, file, indent=1)
        file.write("\n")


def report(case, result, exact):
    print(f"{case}: loss {result['losses'][0]:.4f} to {result['losses'][-1]:.4f}, "
          f"norm {result['norms'][0]:.3f} to {result['norms'][-1]:.3f}")
    errors = [abs(a / b - 1) for a, b in zip(result["losses"], exact["losses"])]
    print(f"  float32 against float64: losses {max(errors):.1e}")
    for kind in ("gradients", "weights"):
        worst = max((train_with_torch.distance(
            cases.left_out(name, value),
            cases.left_out(name, exact[kind][name])), name)
            for name, value in result[kind].items())
        print(f"  {kind} {worst[0]:.1e} ({worst[1]})")


def main():
    for case in sys.argv[1:] or cases.PARITY:
        result = train_with_torch.train(case)
        store(case, result)
        report(case, result, train_with_torch.train(case, torch.float64))


if __name__ == "__main__":
    main()
