#!/usr/bin/env python3
"""One step of a model in f16 on the emulated device, which overflows.

usage: overflow.py BUILD WORK DATA MODEL [FLAG]...

Prints its loss, whether the step was skipped, and the loss scale it had.
"""
import json
import os
import subprocess
import sys


def main(build, work, data, model, *flags):
    weft = os.path.join(build, "bin", "weft")
    program, twins = os.path.join(work, "overflow"), os.path.join(work, "overflow.so")
    arguments = [model, "--target=cuda:sm_90", "--precision=f16", *flags]
    subprocess.run([weft, "compile", *arguments, "-o", program], check=True)
    subprocess.run([weft + "-twins", *arguments, "-o", twins], check=True)
    emulation = os.path.join(build, "test", "emulation")
    metrics = os.path.join(work, "overflow.jsonl")
    result = subprocess.run(
        [program, "--data", data, "--steps", "1", "--progress", "none", "--metrics", metrics],
        env=dict(os.environ, LD_LIBRARY_PATH=emulation,
                 WEFT_TWINS=f"{twins}:{os.path.join(emulation, 'kernels.so')}"))
    if result.returncode != 0:  # a skipped step is no failure
        sys.exit(f"{model}: ended with {result.returncode}")
    with open(metrics) as lines:
        step = [json.loads(line) for line in lines][-1]
    print(f"loss {json.dumps(step['loss'])}, {'skipped' if step['skipped'] else 'updated'}, "
          f"scale {step['loss_scale']:g}")


if __name__ == "__main__":
    main(*sys.argv[1:])
