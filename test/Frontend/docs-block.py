"""docs-block.py PAGE NAME: the block of a page behind `<!-- run: file NAME -->`."""
import re
import sys

text = open(sys.argv[1], encoding="utf-8").read()
found = re.search(r"<!-- run: file " + re.escape(sys.argv[2]) + r" -->\n```\w*\n(.*?)```\n", text, re.S)
assert found, f"expects a block {sys.argv[2]} in {sys.argv[1]}"
print(found.group(1), end="")
