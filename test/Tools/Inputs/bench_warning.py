"""Checks the warning of weft bench against the errors in its table.

bench_warning.py TABLE STDERR
"""

import re
import sys

with open(sys.argv[1]) as table, open(sys.argv[2]) as messages:
    parts = re.findall(r"typically (\d+) % off\n\[(.*)\]", table.read())
    said = messages.read()
assert parts
for percent, part in parts:
    # A rounded 50 may be either.
    is_named = f"{part} ({percent} %)" in said
    expected = int(percent) > 50 and not part.startswith("launch.")
    assert is_named == expected or int(percent) == 50, (part, percent, said)
assert said == "" or "weft: warning: estimates with this table are" in said, said
assert said == "" or "\nhint: measure " in said, said
