"""assemble.py PTXAS FOLDER MODEL...: ptxas takes every kernel of the models.

Compiles each model with `weft compile --emit=ptx` in each precision for each
target and gives the PTX to ptxas. A kernel that keeps registers in memory, or a
run that fails, is an error.
"""
import itertools
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

CHIPS = ("sm_80", "sm_90", "sm_100")
PRECISIONS = ("f32", "f16", "bf16")


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.stderr}")
    return done.stderr


def assemble(ptxas, folder, model, chip, precision):
    name = os.path.basename(model).split(".")[0]
    path = os.path.join(folder, f"{name}-{chip}-{precision}.ptx")
    run(["weft", "compile", model, f"--target=cuda:{chip}",
         f"--precision={precision}", "--emit=ptx", "-o", path])
    log = run([ptxas, "-v", f"-arch={chip}", path, "-o", path + ".cubin"])
    spills = re.findall(r"(\d+) bytes spill stores, (\d+) bytes spill loads", log)
    kernels = len(re.findall(r"Compiling entry function", log))
    return name, chip, precision, kernels, sum(int(a) + int(b) for a, b in spills)


def main(ptxas, folder, models):
    os.makedirs(folder, exist_ok=True)
    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(assemble, ptxas, folder, *job)
                for job in itertools.product(models, CHIPS, PRECISIONS)]
        for job in jobs:
            name, chip, precision, kernels, spilled = job.result()
            print(f"{name} {chip} {precision}: {'kernels' if kernels else 'none'}, {spilled} bytes spilled")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
