"""break-launches.py PROGRAM OUT NAME|SIZE: the first launch of the program's
metadata is one of a kernel that there is not, or has a grid that is none."""
import re
import sys

program, out, what = sys.argv[1:]
with open(program, "rb") as f:
    data = f.read()
found = re.search(rb'"launches":\{"(\w)\w*":\[(\d)(\d*)', data)
at, text = (found.start(1), b"x") if what == "NAME" else (found.start(2), b"-" if found[3] else b"0")
with open(out, "wb") as f:
    f.write(data[:at] + text + data[at + 1:])
