"""Starts a training command, signals it after its first step, and checks that it saved.

Usage: train-signals.py FOLDER COMMAND...
"""

import pathlib
import shutil
import signal
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])
command = [*sys.argv[2:], "--steps=1000000", "--progress=json"]


def start(name, ignored=()):
    def ignore():
        # The parent process may ignore SIGHUP, and a child inherits that.
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)

    shutil.rmtree(folder / name, ignore_errors=True)
    child = subprocess.Popen([*command, f"--save-dir={folder / name}"], stdout=subprocess.PIPE, text=True,
                             preexec_fn=ignore)
    assert '"step":1,' in child.stdout.readline()
    return child


def finish(child, name):
    child.stdout.read()
    code = child.wait()
    assert code == 75, (name, code)
    assert len(list((folder / name).glob("step_*"))) == 1, list((folder / name).iterdir())


signals = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1]
for number in signals:
    child = start(number.name)
    child.send_signal(number)
    finish(child, number.name)

child = start("nohup", ignored=[signal.SIGHUP])
child.send_signal(signal.SIGHUP)
for _ in range(3):
    assert child.stdout.readline(), "the run ended on a SIGHUP that it was to ignore"
child.terminate()
finish(child, "nohup")
print(", ".join(number.name for number in signals) + ": 75")
