"""end_bench.py SIGNAL CODE COMMAND...: ends a command with a signal while it measures.

It has to end with CODE, and leave nothing in TMPDIR, which the command's words name.
"""
import os
import signal
import subprocess
import sys
import time

name, code, *command = sys.argv[1:]
folder = next(word for word in command if word.startswith("TMPDIR=")).split("=", 1)[1]
run = subprocess.Popen(command)
deadline = time.monotonic() + 60
# The trace of a first run is there when it has ended: others follow.
while not any("trace.json" in files for _, _, files in os.walk(folder)):
    if run.poll() is not None or time.monotonic() > deadline:
        raise SystemExit("it has not measured anything")
    time.sleep(0.05)
time.sleep(0.3)
run.send_signal(getattr(signal, "SIG" + name))
found = run.wait(timeout=60)
if found != int(code):
    raise SystemExit(f"expects {code}, but got {found}")
if os.listdir(folder):
    raise SystemExit(f"left: {os.listdir(folder)}")
