"""Two ranks that do not see each other's save directory: own_folders.py WORK PROGRAM DATA

Each runs in a folder of its own and saves to `save` there. The directory that rank 0 makes for a step is made for
rank 1 too while it is slow to save: it then writes its file where rank 0 does not look.
"""
import os
import pathlib
import subprocess
import sys
import time

work, program, data = pathlib.Path(sys.argv[1]), *sys.argv[2:]
folders = [work / "one", work / "two"]
command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
for folder in folders:
    (folder / "save").mkdir(parents=True)
    command += [":"] * (folder != folders[0]) + [
        "-n", "1", "-wdir", str(folder), program, "--data", data, "--threads", "1", "--progress", "none",
        "--steps", "1", "--save-dir", "save"]
environment = {**os.environ, "WEFT_FAULT": "slow@save=1,rank=1,seconds=10"}
run = subprocess.Popen(command, env=environment)
while run.poll() is None:
    for made in (folders[0] / "save").glob(".tmp-step_*"):
        (folders[1] / "save" / made.name).mkdir(exist_ok=True)
    time.sleep(0.05)
print(f"ended with {run.returncode}")
print("of one:", *sorted(path.name for path in (folders[0] / "save").glob("*")))
print("of two:", *sorted(path.name for path in (folders[1] / "save").glob(".tmp-*/*")))
