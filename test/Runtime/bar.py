"""Runs a program on terminals of several widths and checks its progress bar.

Usage: bar.py PROGRAM DATA

No drawing may reach the last column (some terminals wrap there), the step and
the loss are always shown, a wide terminal shows every field, and a resize is
followed at the next drawing.
"""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

PROGRAM, DATA = sys.argv[1:3]
FIELDS = ["loss", "lr", "norm", "tok/s", "ms", "compute", "MiB", "eta"]


def set_width(fd, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24 if columns else 0, columns, 0, 0))


def drawings(text):
    """The text of each drawing, without a line of prose that may follow it."""
    return [part.split("\n")[0].rstrip("\r") for part in text.split("\r\x1b[K")[1:]]


def run(columns, steps=400, resize=None, environment=None):
    """The drawings of a run; with `resize`, those before and those after it."""
    master, slave = pty.openpty()
    set_width(slave, columns)
    child = subprocess.Popen(
        [PROGRAM, "--data", DATA, "--steps", str(steps), "--progress=bar", "--clip=1"], stdout=slave,
        env={**os.environ, "TERM": "xterm", **(environment or {})})
    os.close(slave)
    text, cut = "", None
    while True:
        try:
            data = os.read(master, 65536)
        except OSError:
            break
        if not data:
            break
        text += data.decode()
        if resize and cut is None and text.count("\x1b[K") >= 3:
            set_width(master, resize)
            cut = len(drawings(text))
    os.close(master)
    assert child.wait() == 0, child.returncode
    shown = drawings(text)
    assert shown, text
    return (shown, cut) if resize else shown


def check(lines, columns):
    for line in lines:
        assert len(line) < columns, f"{len(line)} characters on {columns} columns: {line!r}"
        assert re.search(r"\d+/\d+  loss \d", line), line


last = {}
for columns in (24, 40, 80, 100, 125, 200):
    lines = run(columns)
    check(lines, columns)
    last[columns] = lines[-1]
for columns in (125, 200):
    missing = [field for field in FIELDS if field not in last[columns]]
    assert columns < 200 or not missing, (columns, missing, last[columns])
assert "[####################] " in last[200], last[200]
assert "eta" in last[40] and "MiB" not in last[80], (last[40], last[80])
sizes = [len(last[columns]) for columns in (24, 40, 80, 100, 125, 200)]
assert sizes == sorted(sizes), sizes

# A terminal that does not know its size: COLUMNS, else 80.
check(run(0, environment={"COLUMNS": "50"}), 50)
unknown = run(0, environment={"COLUMNS": ""})
check(unknown, 80)
assert len(unknown[-1]) > 50, unknown[-1]

# A drawing that was in progress at the resize may still have the old width.
lines, cut = run(200, steps=4000, resize=60)
check(lines[cut + 2:], 60)
assert len(lines) > cut + 2, "the run ended before the resize"
print("the bar fits")
