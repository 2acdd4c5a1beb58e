"""Programs for a CUDA device under memory limits.

usage: device-limits.py --work DIR --source DIR --build DIR [--models A,B] [--seeds A:B] [--limits N] [--every N] [--jobs N]

Between the smallest limit that works and the memory without one, N limits are set. The programs, most of which compute
something again, take no more than that, and have the bits of the program without a limit on the emulated device in
the order of every seed, with evaluations, saves and samples in between. So have those of --recompute=blocks and of
marks for some bytes. Of the program of the smallest limit one event after the other is taken out (each `every`th): some
order shows that it is missing.
"""
import json
import sys

import events
from emulated import Emulated, Model, Tally, empty_folder, examples, make_parser, need

RUN = ("--seed", "7", "--steps", "5", "--accum", "2", "--eval-every", "4", "--eval-steps", "2", "--save-every", "4")


class Limits:
    def __init__(self, name, model, folder, build, seeds):
        self.name, self.model, self.folder, self.build, self.seeds = name, model, folder, build, seeds
        self.expected = None

    def weft(self, *words):
        return need(self.build / "bin/weft", *words)

    def curve(self):
        flags = (*self.model.compile, "--target=cuda:sm_90")
        return json.loads(self.weft("inspect", self.model.path, *flags, "--tradeoff", "--json"))["tradeoff"]

    def make(self, name, *flags):
        """A program of other flags, with twins of its own."""
        model = Model(self.model.path, self.model.data, (*self.model.compile, *flags), self.model.run)
        made = Emulated(model, self.folder / name, self.build)
        made.make("-o", made.folder / "program")
        return made

    def check(self, what, made):
        """The bits of the first program that was checked, in every order."""
        for seed in self.seeds:
            bits = made.run_whole(made.folder / "program", seed, RUN)
            self.expected = self.expected or bits
            if bits != self.expected:
                raise RuntimeError(f"{self.name}, {what}, seed {seed}: expects the bits of the program without a limit")
        memory = json.loads(self.weft("inspect", made.folder / "program", "--memory", "--json"))["memory"]
        reserved = sum(each["bytes"] for each in memory["reserved"])
        return memory["arena_bytes"] + memory.get("constant_bytes", 0) + reserved

    @staticmethod
    def recomputes(made):
        return ' recompute = "' in (made.folder / "plan.mlir").read_text().replace("{recompute", " recompute")

    def run(self, count):
        """The program of the smallest limit."""
        curve = self.curve()
        free = self.check("no limit", self.make("free"))
        smallest, again, last = curve[-1]["limit"], 0, None
        for number in range(count):
            limit = smallest + (free - smallest) * number // max(count - 1, 1)
            made = self.make(f"limit-{number}", f"--memory-limit={limit}")
            taken = self.check(f"limit {limit}", made)
            if taken > limit:
                raise RuntimeError(f"{self.name}: expects at most {limit} bytes, but the program takes {taken}")
            again += self.recomputes(made)
            last = last or made
        for rule in ("blocks", f"bytes:{(free - smallest) // 2 + 1}"):
            self.check(rule, self.make(rule.partition(":")[0], f"--recompute={rule}"))
        print(f"{self.name}: {count} limits from {smallest} to {free} bytes, {again} of them recompute, equal bits in "
              f"{len(self.seeds)} orders", flush=True)
        return last


def main():
    parser = make_parser(models="gpt", seeds="0:10")
    parser.add_argument("--limits", type=int, default=10)
    parser.add_argument("--every", type=int, default=1)
    args = parser.parse_args()
    work, tally = empty_folder(args.work), Tally()
    models = examples(args.source, work)
    for name in args.models.split(","):
        smallest = Limits(name, models[name], work / name, args.build, args.seeds).run(args.limits)
        events.Campaign(smallest, args.seeds).run(name, args.jobs, tally, args.every)
    print(tally.describe("events"))
    sys.exit(0 if tally.good() else 1)


main()
