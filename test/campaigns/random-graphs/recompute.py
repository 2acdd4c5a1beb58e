"""Marks of ops that the backward pass computes again, and regions of such ops, at random.

A mark is put on the generic text of a module behind weft-derive-programs, so that segments
are of any shape: not in a row, and each reads what the others made.
"""
import random
import re

OP = re.compile(r'^\s+%[^=]+ = "weft\.(\w+)"\(')
KEPT = {"read", "constant", "iota"}


def mark(text, seed):
    dice = random.Random(f"recompute {seed}")
    segments = dice.choice([1, 2, 3, 5])
    share = dice.choice([0.3, 0.7, 1.0])
    lines, is_micro = text.split("\n"), False
    for number, line in enumerate(lines):
        if '"weft.program"' in line:
            is_micro = "kind = #weft.kind<micro>" in line or "kind = #weft<kind micro>" in line
        op = OP.match(line)
        if not is_micro or not op or op[1] in KEPT or dice.random() > share:
            continue
        segment = f'weft.recompute = "s{dice.randrange(segments)}"'
        head, colon, types = line.rpartition(" : (")
        if head.endswith("}") and not head.endswith("}>"):
            lines[number] = f"{head[:-1]}, {segment}}}{colon}{types}"
        else:
            lines[number] = f"{head} {{{segment}}}{colon}{types}"
    return "\n".join(lines)


class Enclosure:
    """Regions around ops of a graph that stand in a row, some of them in one another."""

    def __init__(self, graph):
        self.graph = graph
        self.dice = random.Random(f"regions {graph.seed}")
        self.regions = 0
        self.nodes = [i for i in graph.needed() if graph.nodes[i].form != "input"]
        self.outputs = set(graph.outputs())

    def text(self):
        plain = "\n".join(map(self.graph.line, self.nodes))
        found = self.lines(self.nodes, 0)
        while not self.regions:
            found = self.lines(self.nodes, 0)
        assert plain in self.graph.text()
        return self.graph.text().replace(plain, "\n".join(found))

    def lines(self, nodes, depth):
        found, at = [], 0
        while at < len(nodes):
            size = self.dice.randint(1, len(nodes) - at)
            run = nodes[at:at + size]
            at += size
            if depth < 3 and self.dice.random() < 0.5:
                found += self.region(run, depth)
            else:
                found += map(self.graph.line, run)
        return found

    def region(self, run, depth):
        inside, name = set(run), f"r{self.regions}"
        self.regions += 1
        handed = [i for i in run if i in self.outputs
                  or any(i in self.graph.nodes[j].args for j in self.nodes if j not in inside)]
        names = ", ".join(f"%v{i}" for i in handed)
        types = ", ".join(self.graph.nodes[i].type for i in handed)
        results, colon = (f"{names} = ", " : ") if handed else ("", "")
        return [f'    {results}weft.recompute "{name}" {{',
                *self.lines(run, depth + 1),
                f"    weft.yield {names}{colon}{types}", f"    }}{colon}{types}"]
