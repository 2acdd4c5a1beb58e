"""Runs a command, which has to end by itself, with no process of it left.

usage: ends_alone.py SECONDS [SIGNAL...] -- COMMAND...

The command gets the signals as soon as it keeps them. Prints its exit code.
"""
import os
import pathlib
import signal
import subprocess
import sys
import time

from signal_early import keeps

# nohup around the tests would let the run ignore it.
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def processes_with(mark):
    """Processes whose environment has the mark: it goes to all that the command starts."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            settings = pathlib.Path(f"/proc/{name}/environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if os.fsencode(mark) in settings:
            found.append(int(name))
    return found


def main():
    dashes = sys.argv.index("--")
    seconds, *names = sys.argv[1:dashes]
    mark = f"TEST_MARK={os.getpid()}"
    child = subprocess.Popen(["env", mark, *sys.argv[dashes + 1:]])
    for name in names:
        number = getattr(signal, "SIG" + name)
        while not keeps(child.pid, number):
            assert child.poll() is None, "the run has ended before the signal"
        child.send_signal(number)
        time.sleep(0.02)
    try:
        code = child.wait(timeout=float(seconds))
    except subprocess.TimeoutExpired:
        code = f"nothing: it goes on after {seconds} s"
    left = processes_with(mark)
    for process in left:
        os.kill(process, signal.SIGKILL)
    print(f"ended with {code}, " + (f"{len(left)} processes left" if left else "nothing left"), file=sys.stderr)


if __name__ == "__main__":
    main()
