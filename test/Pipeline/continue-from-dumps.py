"""Compiles a model with --dump-dir, then continues from each dump.

Usage: continue-from-dumps.py --weft WEFT --work DIR MODEL [compile flags]
Ends with an error at the first dump that does not parse or that leads to an
executable with other bytes.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys

parser = argparse.ArgumentParser()
parser.add_argument("--weft", default="weft")
parser.add_argument("--work", required=True, type=pathlib.Path)
parser.add_argument("model")
args, flags = parser.parse_known_args()

shutil.rmtree(args.work, ignore_errors=True)
args.work.mkdir(parents=True)
whole = args.work / "whole"
dumps = args.work / "dumps"
subprocess.run([args.weft, "compile", args.model, "-o", whole, f"--dump-dir={dumps}", *flags], check=True)
names = sorted(dumps.iterdir())
if len(names) < 12:
    sys.exit(f"expects a dump of every phase that has passes, but got {len(names)}")
for dump in names:
    phase = dump.stem.split("-", 1)[1]
    out = args.work / "continued"
    subprocess.run([args.weft, "compile", dump, f"--from={phase}", "-o", out], check=True)
    if out.read_bytes() != whole.read_bytes():
        sys.exit(f"another executable from {dump.name}")
print(f"{len(names)} dumps of {args.model} lead to the same executable")
