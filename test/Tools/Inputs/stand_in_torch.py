"""Writes a program that answers as torch_ranks.py does: stand_in_torch.py FILE."""
import os
import sys

PROGRAM = """#!%s
import json, os, sys, time
if sys.argv[1] == "-c":
    sys.exit()
with open(sys.argv[2]) as file:
    job = json.load(file)
if job["attention"] == "fused":
    if sys.argv[3] == "0":  # the other rank waits for this one
        raise RuntimeError("not here")
    time.sleep(600)
if job["mode"] == "compile":
    sys.exit(3)
ms = 9.0 - (job["optimizer"] == "loop") - (job["bind"] == "core")
losses = [3.0 - step for step in range(job["warmup"] + job["steps"])]
if sys.argv[3] == "0":
    with open(os.path.join(os.path.dirname(sys.argv[2]), "result.json"), "w") as file:
        json.dump({"ms": ms, "losses": losses, "version": "0", "wrong_blas": False}, file)
"""

with open(sys.argv[1], "w") as file:
    file.write(PROGRAM % sys.executable)
os.chmod(sys.argv[1], 0o755)
