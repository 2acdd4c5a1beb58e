#!/usr/bin/env python3
"""quoted_dumps.py PAGE HEADING DUMPS: lines that a section of a page quotes, in the dumps.

Every line of the section's blocks of mlir has to be a line of a file of the
folder DUMPS, where " ..." and "... " stand for any text. Prints how many there
are.
"""
import os
import re
import sys

page, heading, dumps = sys.argv[1:]
text = open(page).read().split(f"## {heading}\n")[1].split("\n## ")[0]
quoted = [line.strip() for block in re.findall(r"```mlir\n(.*?)```", text, re.S) for line in block.splitlines()]
lines = {line.strip() for name in os.listdir(dumps) for line in open(os.path.join(dumps, name))}
for line in quoted:
    pattern = ".*".join(re.escape(part) for part in re.split(r"\s*\.\.\.\s*", line))
    if not any(re.fullmatch(pattern, other) for other in lines):
        sys.exit(f"quoted_dumps.py: error: expects a line of a dump, but got {line}")
print(f"{len(quoted)} lines are those of dumps")
