"""units-alive.py PLAN COUNT: exactly COUNT gathered buffers of a micro-step are there at once, at most.

A gathered buffer is there from the start of its gather to its last use.
"""
import re
import sys


def lives(lines):
    """The first and the last line of each gathered buffer, through views."""
    roots, found = {}, {}
    for number, line in enumerate(lines):
        view = re.match(r"\s*(%\w+) = plan\.view (%\w+)", line)
        if view:
            roots[view[1]] = view[2]
            continue
        gather = re.match(r"\s*plan\.all_gather %\w+ to (%\w+)", line)
        if gather:
            found[gather[1]] = [number, number]
        for name in re.findall(r"%\w+", line) if line.strip().startswith("plan.") else []:
            root = roots.get(name, name)
            if root in found:
                found[root][1] = number
    return found.values()


text = open(sys.argv[1]).read()
micro = text[text.index('plan.program "micro"'):]
spans = list(lives(micro[:micro.index("\n  }")].split("\n")))
most = max(sum(first <= at <= last for first, last in spans) for at, _ in spans)
if most != int(sys.argv[2]):
    sys.exit(f"expects {sys.argv[2]} units at once, but got {most}")
