"""Kills a saving run 20 times at random moments; resume must always work.

Usage: kill.py --weft WEFT --work DIR MODEL DATA
After every kill the newest committed step must be at least the one before, and
every step must verify. The run that is resumed to the end must leave the same
bytes as one that was never stopped.
"""

import argparse
import filecmp
import pathlib
import random
import shutil
import subprocess
import sys
import time

STEPS = 120
parser = argparse.ArgumentParser()
parser.add_argument("--weft", default="weft")
parser.add_argument("--work", required=True, type=pathlib.Path)
parser.add_argument("model")
parser.add_argument("data")
args = parser.parse_args()

shutil.rmtree(args.work, ignore_errors=True)
args.work.mkdir(parents=True)
program = args.work / "program"
subprocess.run([args.weft, "compile", args.model, "-o", program, "--batch=1", "--seq=32"], check=True)
saves = args.work / "saves"


def command(folder, *more):
    return [program, f"--data={args.data}", f"--steps={STEPS}", "--lr=1e-3", "--lr-schedule=cosine", "--threads=1",
            f"--save-dir={folder}", "--save-every=1", "--keep=3", "--progress=none", *more]


def newest(folder):
    steps = [int(path.name[5:]) for path in folder.glob("step_????????")]
    return max(steps, default=0)


# The times are drawn around the pace of the machine: the signal arrives during a
# step, during its save, or between them.
random.seed(7)
start = time.monotonic()
subprocess.run(command(args.work / "pace", "--stop-after=10"), check=True)
pace = (time.monotonic() - start) / 10
committed, kills = 0, 0
while kills < 20:
    run = subprocess.Popen(command(saves, "--resume=auto"))
    time.sleep(random.uniform(0.2, 6.0) * pace)
    if run.poll() is not None:
        sys.exit(f"the run ended by itself with {run.returncode}")
    run.kill()
    run.wait()
    kills += 1
    if newest(saves) < committed:
        sys.exit(f"step {committed} was committed and is lost after kill {kills}")
    committed = newest(saves)
    if committed:
        subprocess.run([args.weft, "ckpt", "verify", saves], check=True, stdout=subprocess.DEVNULL)
    if committed > STEPS - 10:
        sys.exit("the run is too short for 20 kills")
if committed == 0:
    sys.exit("no step was ever committed: the kills came too early to show anything")

subprocess.run(command(saves, "--resume=auto"), check=True)
subprocess.run(command(args.work / "whole"), check=True)
last = f"step_{STEPS:08d}"
names = sorted(path.name for path in (args.work / "whole" / last).iterdir())
_, different, missing = filecmp.cmpfiles(args.work / "whole" / last, saves / last, names, shallow=False)
if different or missing:
    sys.exit(f"the resumed run differs: {different + missing}")
print(f"{kills} kills, {committed} steps committed between them, the same bytes at the end")
