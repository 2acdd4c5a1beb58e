"""Programs for a CUDA device without one of the events of their plan.

usage: events.py --work DIR --source DIR --build DIR [--models A,B] [--seeds A:B]

Each plan.record and plan.wait of a plan is taken out in turn, behind all verifiers, and what is left runs on the
emulated device in the order of every seed, with evaluations and saves in between. Some order has to show it: an error,
or other bits in losses or checkpoints. The whole plan gives the same bits in all of them, and so does one where every
wait stands twice. Programs that run alone, since the host waits for them, are ordered with others by that: of these,
events that order two commands of one run are taken out.
"""
import argparse
import re
import sys

from emulated import Emulated, absolute, empty_folder, examples, parse_seeds

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
                ended, made = self.compiled.run(program, seed, RUN)
                if ended.returncode != 0 or made != (self.expected or made):
                    raise RuntimeError(f"seed {seed}: expects the bits of other orders, but got {made}")
                self.expected = made

    def find(self, program):
        """The seed that shows what is wrong, and how."""
        for seed in self.seeds:
            ended, made = self.compiled.run(program, seed, RUN)
            if made != self.expected:
                return seed, (made.strip().splitlines() or [f"exit {ended.returncode}"])[-1] if ended.returncode else "other bits"
        return None, ""

    def run(self, name):
        self.check_whole()
        tried = missed = 0
        for number, kind, event in events_of(self.lines):
            program = self.build("mutant", self.lines[:number] + self.lines[number + 1:])
            seed, how = self.find(program)
            tried, missed = tried + 1, missed + (seed is None)
            found = "not found" if seed is None else f"seed {seed}: {how}"
            print(f"{name}, {kind} without {event}, line {number + 1}: {found}", flush=True)
        return tried, missed


def main():
    parser = argparse.ArgumentParser()
    for name in ("work", "source", "build"):
        parser.add_argument(f"--{name}", type=absolute, required=True)
    parser.add_argument("--models", default="mlp")
    parser.add_argument("--seeds", default="0:9")
    args = parser.parse_args()
    work = empty_folder(args.work)
    models = examples(args.source, work)
    tried = missed = 0
    for name in args.models.split(","):
        compiled = Emulated(models[name], work / name, args.build)
        results = Campaign(compiled, parse_seeds(args.seeds)).run(name)
        tried, missed = tried + results[0], missed + results[1]
    print(f"{tried} events, {missed} not found")
    sys.exit(1 if missed or not tried else 0)


main()
