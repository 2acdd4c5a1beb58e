"""folder_table.py PAGE: the folders of a page's table against layers.py.

The table has one row for each folder that layers.py knows, and every folder
that another one may include is in a row above it. Prints the number of rows.
"""
import re
import sys

from layers import ALLOWED, MLIR


def main(page):
    with open(page) as file:
        text = file.read().split("\n## Folders\n")[1].split("\n## ")[0]
    table = text.split("| folder | responsibility |\n")[1].split("\n\n")[0]
    rows = re.findall(r"^\| `([\w/]+)` \|", table, re.M)
    if sorted(rows) != sorted(ALLOWED):
        sys.exit(f"folder_table.py: error: expects rows for {sorted(ALLOWED)}, but got {sorted(rows)}")
    for position, folder in enumerate(rows):
        for included in sorted(ALLOWED[folder] - MLIR - set(rows[:position])):
            sys.exit(f"folder_table.py: error: expects {included} above {folder}, which may include it")
    print(f"{len(rows)} folders")


if __name__ == "__main__":
    main(*sys.argv[1:])
