"""Signals a run a few milliseconds after it has started, and checks that it saves.

usage: signal_early.py FOLDER SIGNAL DELAYS -- COMMAND...

The command gets a --save-dir in FOLDER for each delay of the list DELAYS (milliseconds). The
delay counts from when the command handles the signal, or blocks it: the system ends a program
whose main() has not begun. The run has to end with 75 after its first step, with one
checkpoint and no process left.
"""
import os
import pathlib
import signal
import subprocess
import sys
import time

# nohup around the tests would let the run ignore it.
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def keeps(process, number):
    """Whether the process keeps the signal: blocks it, or, if it is no command of weft, catches it."""
    is_weft = os.readlink(f"/proc/{process}/exe").endswith("/weft")
    fields = dict(line.split(":", 1) for line in
                  pathlib.Path(f"/proc/{process}/status").read_text().splitlines() if ":" in line)
    return any(int(fields[field], 16) >> (number - 1) & 1 for field in ("SigBlk", *([] if is_weft else ["SigCgt"])))


def processes_of(folder):
    """Processes whose command line names the folder."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = pathlib.Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if int(name) != os.getpid() and os.fsencode(f"--save-dir={folder}") in words:
            found.append(int(name))
    return found


def run(folder, number, delay, command):
    child = subprocess.Popen([*command, f"--save-dir={folder}"])
    while not keeps(child.pid, number):
        assert child.poll() is None, "the run has ended before the signal"
    time.sleep(delay / 1000)
    child.send_signal(number)
    code = child.wait(timeout=120)
    left = processes_of(folder)
    for process in left:
        os.kill(process, signal.SIGKILL)
    assert not left, f"processes are left, {delay} ms"
    steps = sorted(entry.name for entry in folder.glob("step_*"))
    assert code == 75 and len(steps) == 1, (delay, code, steps)
    return steps[0]


def main():
    dashes = sys.argv.index("--")
    folder, name, delays = sys.argv[1:dashes]
    number = getattr(signal, "SIG" + name)
    saved = [run(pathlib.Path(folder) / f"{name}-{delay}", number, int(delay), sys.argv[dashes + 1:])
             for delay in delays.split(",")]
    print(f"{name}: 75, {saved[0]}")


if __name__ == "__main__":
    main()
