"""interrupted.py MODEL TRIES: `weft compile` is ended at TRIES moments.

SIGINT, SIGTERM, SIGHUP and SIGQUIT leave no temporary file, of the linker neither; after
SIGKILL the next compilation removes what is left. TMPDIR is a folder of ours.
"""

import os
import random
import signal
import subprocess
import sys
import time

model, tries = sys.argv[1], int(sys.argv[2])
seed = int(os.environ.get("WEFT_CAMPAIGN_SEED", "1"))
# nohup around the tests would let the compiler ignore it.
signal.signal(signal.SIGHUP, signal.SIG_DFL)

temporary = os.path.abspath("tmp")
os.makedirs(temporary)
os.makedirs("out")
environment = {**os.environ, "TMPDIR": temporary}


def start():
    # A process group of its own, so that nothing of it is missed by the look below.
    return subprocess.Popen(["weft", "compile", model, "-o", "out/program"], env=environment,
                            stderr=subprocess.DEVNULL, start_new_session=True)


def left():
    return os.listdir(temporary) + [name for name in os.listdir("out") if name != "program"]


def wait_for_linker(process):
    """The moment that matters most is while the linker works."""
    while process.poll() is None and not os.listdir(temporary):
        time.sleep(0.002)


# The parent process may ignore these signals, and a child inherits that.
for name in ("SIGINT", "SIGHUP", "SIGQUIT"):
    signal.signal(getattr(signal, name), signal.SIG_DFL)
begun = time.monotonic()
assert start().wait() == 0
whole = time.monotonic() - begun
dice, at_link, number = random.Random(seed), 0, -1
# A machine under load may miss the moment: on until the linker was met.
while number + 1 < tries or (at_link == 0 and number < 20 * tries):
    number += 1
    name = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGKILL")[number % 5]
    process, linking = start(), False
    if dice.random() < 0.7:
        wait_for_linker(process)
        linking = process.poll() is None
        at_link += linking
        time.sleep(dice.random() * 0.1 * whole)
    else:
        time.sleep(dice.random() * whole)
    process.send_signal(getattr(signal, name))
    code = process.wait()
    expected = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129, "SIGQUIT": 131, "SIGKILL": -9}[name]
    # Before main() nothing is there to be left, and no handler either.
    early = -getattr(signal, name)
    if code not in (0, expected, early) or (code == early and name != "SIGKILL" and linking):
        sys.exit(f"seed {seed}, try {number}: {name} gave {code}")
    if name == "SIGKILL":
        time.sleep(0.2)
        assert start().wait() == 0
    if left():
        sys.exit(f"seed {seed}, try {number}: {name} left {left()}")
if at_link == 0:
    sys.exit(f"seed {seed}: no try met the linker")
print(f"{tries} interrupted, nothing left")
