"""Prints the code block of a document that follows the comment `<!-- NAME: ... -->`."""
import re
import sys

text = open(sys.argv[1], encoding="utf-8").read()
found = re.search(r"<!-- " + re.escape(sys.argv[2]) + r":[^\n]*-->\n```\w*\n(.*?)```\n", text, re.S)
assert found, f"expects a block {sys.argv[2]} in {sys.argv[1]}"
print(found.group(1), end="")
