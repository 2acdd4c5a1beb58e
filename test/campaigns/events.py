"""Programs for a CUDA device without one of the events of their plan.

usage: events.py --work DIR --source DIR --build DIR [--models A,B] [--seeds A:B] [--jobs N]

Each plan.record and plan.wait of a plan is taken out in turn, behind all verifiers, and what is left runs on the
emulated device in the order of every seed, with evaluations and saves in between. Some order has to show it: an error,
or other bits in losses or checkpoints; a run that takes too long shows nothing. Runs replay graphs, and then run
without graphs: a graph begins after everything before it, so only runs without graphs show an event that orders
commands of two programs. The whole plan gives the same bits in all of them, and so does one where every wait stands
twice.

Two kinds of events change no order and stay: the host waits for programs that run alone, so an event of theirs counts
only if it orders two commands of one run that share bytes; and a wait does nothing if the same stream waits next for a
later record of the same stream.
"""
import functools
import re
import sys

from emulated import NOT_FINITE, Tally, compiled, empty_folder, make_parser, search, search_all

EVENT = re.compile(r"\s*plan\.(record|wait) (@[\w.]+)")
# No number of a run is what memory holds that nobody has written since it was cleared, and most steps follow another
# one without an evaluation or a save in between, for which the host waits.
RUN = ("--seed", "7", "--steps", "9", "--accum", "2", "--eval-every", "8", "--eval-steps", "2", "--save-every", "8")


# The host waits for a run of these before it starts another one.
ALONE = ("init", "eval", "logits", "refresh")

PROGRAM = re.compile(r'\s*plan\.program "(\w+)"')
BUFFER = re.compile(r"\s*(%\d+) = plan\.\w+ .*\{offset = (\d+) : i64.*\} : memref<(.*?)[,>]")
VIEW = re.compile(r"\s*(%\d+) = plan\.view (%\d+)")
STREAM = re.compile(r"\bstream = (\d+)")
BITS = re.compile(r"(\d+)$")


def size_of(text):
    """Bytes of a type like 32x64xf32."""
    *shape, element = text.split("x")
    size = int(BITS.search(element)[1]) // 8 or 1
    for dim in shape:
        size *= int(dim)
    return size


class Line:
    """A line of a plan that a stream runs."""

    def __init__(self, number, text, program, ranges):
        match, stream = EVENT.match(text), STREAM.search(text)
        self.number, self.program = number, program
        self.kind, self.event = match.groups() if match else ("command", None)
        self.stream = int(stream[1]) if stream else 0
        # From the first byte of each operand to its end.
        self.ranges = [] if match else [ranges[name] for name in re.findall(r"%\d+", text) if name in ranges]

    def shares_bytes(self, other):
        return any(a < d and c < b for a, b in self.ranges for c, d in other.ranges)


def lines_of(texts):
    """The records, waits and commands of all programs, by program."""
    programs, program, ranges = [], None, {}
    for number, text in enumerate(texts):
        if match := PROGRAM.match(text):
            program, ranges = match[1], {}
            programs.append([])
        elif match := BUFFER.match(text):
            begin = int(match[2])
            ranges[match[1]] = begin, begin + size_of(match[3])
        elif match := VIEW.match(text):
            ranges[match[1]] = ranges[match[2]]
        elif program and re.match(r"\s*plan\.(?!output|event|state)", text):
            programs[-1].append(Line(number, text, program, ranges))
    return programs


def pairs_of(lines):
    """Each record of a program with each wait for it there."""
    for i, wait in enumerate(lines):
        records = [k for k in range(i) if lines[k].kind == "record" and lines[k].event == wait.event]
        if wait.kind == "wait" and records:
            yield records[-1], i


def orders_bytes(lines, record, wait):
    """Whether a command before the record shares bytes with one that the waiting stream runs later."""
    return any(before.shares_bytes(after) for before in lines[:record] for after in lines[wait + 1:]
               if after.stream == lines[wait].stream)


def is_covered(lines, record, wait):
    """Whether the next thing that the waiting stream does is to wait for a later record of the same stream."""
    following = next((i for i in range(wait + 1, len(lines)) if lines[i].stream == lines[wait].stream), None)
    return any(i == following and other > record and lines[other].stream == lines[record].stream
               for other, i in pairs_of(lines))


def events_of(texts):
    """Number of the line, program and name of each event that orders something."""
    for lines in lines_of(texts):
        pairs = list(pairs_of(lines))
        kept = {i for pair in pairs for i in pair if is_covered(lines, *pair)}
        if lines and lines[0].program in ALONE:
            ordering = {i for pair in pairs for i in pair if orders_bytes(lines, *pair)}
            kept |= set(range(len(lines))) - ordering
        for i, line in enumerate(lines):
            if line.event and i not in kept:
                yield line.number, line.program, f"{line.kind} {line.event}"


class Campaign:
    def __init__(self, compiled, seeds):
        self.compiled, self.seeds = compiled, seeds
        self.lines = (compiled.folder / "plan.mlir").read_text().splitlines(keepends=True)
        self.whole = self.build("whole", self.lines)
        self.expected = None

    def build(self, name, lines):
        folder = self.compiled.folder
        plan = folder / f"{name}.mlir"
        plan.write_text("".join(lines))
        self.compiled.make("-o", folder / name, plan=plan)
        return folder / name

    def check_whole(self):
        twice = self.build("twice", [line * 2 if " plan.wait " in line else line for line in self.lines])
        for program, seeds, flags in ((self.whole, self.seeds, RUN), (twice, self.seeds[:2], RUN),
                                      (self.whole, self.seeds[:2], (*RUN, "--no-graph"))):
            for seed in seeds:
                made = self.compiled.run_whole(program, seed, flags)
                if made != (self.expected or made):
                    raise RuntimeError(f"seed {seed}: expects the bits of other orders, but got {made}")
                self.expected = made

    def search(self, number):
        """The order that shows that the event of a line is missing."""
        program = self.build(f"without-{number + 1}", self.lines[:number] + self.lines[number + 1:])
        ways = [(seed, flags) for flags in ((), ("--no-graph",)) for seed in self.seeds]
        found = search(ways, lambda way: self.compiled.show(program, way[0], (*RUN, *way[1]), self.expected,
                                                            known=[NOT_FINITE]))
        program.unlink()
        if found.seed is None:
            return found
        seed, flags = found.seed
        return found._replace(seed=" ".join((str(seed), *flags)))

    def run(self, name, jobs, tally, every=1):
        """Takes out one event after the other, or each `every`th one."""
        self.check_whole()
        tasks = [(f"{name}, {kind} without {event}, line {number + 1}", functools.partial(self.search, number))
                 for number, kind, event in list(events_of(self.lines))[::every]]
        for what, result in search_all(jobs, tasks):
            tally.add(what, result)


def main():
    args = make_parser(models="mlp", seeds="0:9").parse_args()
    tally = Tally()
    for name, model in compiled(args.models, args.source, empty_folder(args.work), args.build):
        Campaign(model, args.seeds).run(name, args.jobs, tally)
    print(tally.describe("events"))
    sys.exit(0 if tally.good() else 1)


if __name__ == "__main__":
    main()
