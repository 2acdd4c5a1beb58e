#!/usr/bin/env python3
"""quoted_dumps.py PAGE HEADING DUMPS: lines that a page quotes from dumps.

Every line of the mlir blocks below HEADING (or of the whole page, if HEADING is
"all") has to be a line of a file in the folder DUMPS. "..." in a quoted line
stands for any text. Numbers of values (%12) may differ, since a change of any
pass renumbers them. Comment lines and lines of "..." are skipped. Prints the
number of compared lines.
"""
import os
import re
import sys

NUMBER = re.compile(r"%\d+")


def pattern_of(line):
    parts = re.split(r"\s*\.\.\.\s*", NUMBER.sub("%0", line))
    return ".*".join(re.escape(part) for part in parts)


def section(text, heading):
    return text if heading == "all" else text.split(f"## {heading}\n")[1].split("\n## ")[0]


def main(page, heading, dumps):
    with open(page) as file:
        text = section(file.read(), heading)
    quoted = [line.strip() for block in re.findall(r"```mlir\n(.*?)```", text, re.S) for line in block.splitlines()]
    quoted = [line for line in quoted if line and line != "..." and not line.startswith("//")]
    dumped = "\n".join(sorted({NUMBER.sub("%0", line.strip()) for name in os.listdir(dumps)
                               for line in open(os.path.join(dumps, name))}))
    for line in quoted:
        if not re.search(rf"^{pattern_of(line)}$", dumped, re.M):
            sys.exit(f"quoted_dumps.py: error: expects a line of a dump, but got {line}")
    print(f"{len(quoted)} lines are those of dumps")


if __name__ == "__main__":
    main(*sys.argv[1:])
