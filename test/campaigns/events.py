"""Programs for a CUDA device without one of the events of their plan.

usage: events.py --work DIR --source DIR --build DIR [--models A,B] [--seeds A:B] [--jobs N]

Each plan.record and plan.wait of a plan is taken out in turn, behind all verifiers, and what is left runs on the
emulated device in the order of every seed, with evaluations and saves in between. Some order has to show it: an error,
or other bits in losses or checkpoints; a run that takes too long shows nothing. The whole plan gives the same bits in all of them, and so does one where every
wait stands twice. Programs that run alone, since the host waits for them, are ordered with others by that: of these,
events that order two commands of one run are taken out.
"""
import functools
import re
import sys

from emulated import NOT_FINITE, Tally, compiled, empty_folder, make_parser, search, search_all

EVENT = re.compile(r"\s*plan\.(record|wait) (@\w+)")
# No number of a run is what memory holds that nobody has written since it was cleared, and most steps follow another
# one without an evaluation or a save in between, for which the host waits.
RUN = ("--seed", "7", "--steps", "9", "--accum", "2", "--eval-every", "8", "--eval-steps", "2", "--save-every", "8")


# The host waits for a run of these before it starts another one.
ALONE = ("init", "eval", "logits", "refresh")


def events_of(lines):
    """Number of the line, program and name of each event that orders something."""
    events, program = [], None
    for number, line in enumerate(lines):
        if match := re.match(r'\s*plan\.program "(\w+)"', line):
            program = match[1]
        if match := EVENT.match(line):
            events.append((number, program, *match.groups()))
    for number, program, what, event in events:
        partners = [other for other, *rest in events if rest == [program, "wait" if what == "record" else "record", event]
                    and (other > number) == (what == "record")]
        if program not in ALONE or partners:
            yield number, program, f"{what} {event}"


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
        for program, seeds in ((self.whole, self.seeds), (twice, self.seeds[:2])):
            for seed in seeds:
                made = self.compiled.run_whole(program, seed, RUN)
                if made != (self.expected or made):
                    raise RuntimeError(f"seed {seed}: expects the bits of other orders, but got {made}")
                self.expected = made

    def search(self, number):
        """The order that shows that the event of a line is missing."""
        program = self.build(f"without-{number + 1}", self.lines[:number] + self.lines[number + 1:])
        found = search(self.seeds, lambda seed: self.compiled.show(program, seed, RUN, self.expected, known=[NOT_FINITE]))
        program.unlink()
        return found

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
