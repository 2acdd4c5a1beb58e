"""Compares the memory of a run with the compiler's report.

Usage: run.py --weft WEFT --threads N PROGRAM DATA
"""

import argparse
import json
import os
import subprocess
import sys

MIB = 1 << 20
parser = argparse.ArgumentParser()
parser.add_argument("--weft", default="weft")
parser.add_argument("--threads", type=int, required=True)
parser.add_argument("program")
parser.add_argument("data")
args = parser.parse_args()

report = json.loads(subprocess.run([args.weft, "inspect", args.program, "--memory", "--json"], check=True,
                                   capture_output=True, text=True).stdout)
report = report.get("memory", report)
# A child that is forked keeps ru_maxrss: this must not show.
ballast = bytearray(os.urandom(1) * (200 * MIB))
metrics = args.program + ".jsonl"
subprocess.run([args.program, "--data", args.data, "--steps=2", "--progress=none", f"--threads={args.threads}",
                f"--metrics={metrics}", "--val-fraction=0.2", "--clip=1"], check=True, preexec_fn=lambda: None)
steps = [json.loads(line) for line in open(metrics)]
last = [step for step in steps if "mem_bytes" in step][-1]

if report["max_threads"] != args.threads:
    sys.exit(f"the report is for {report['max_threads']} threads")
arena, peak = report["arena_bytes"], last["mem_bytes"]
# The program itself, its libraries and the compiled primitives.
if not arena / 2 < peak < arena + 60 * MIB:
    sys.exit(f"peak: {peak} bytes with an arena of {arena}")
print(f"arena {arena}, peak {peak}")
