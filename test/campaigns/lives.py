"""Programs for a CUDA device whose buffers are poisoned where they end.

usage: lives.py --work DIR --source DIR --build DIR [--models A,B] [--seeds A:B] [--jobs N] [--early N]

plan-lives says of a lowered plan which bytes of the arena mean nothing any more behind which command, by the lifetimes
that the arena was laid out with; there the emulated device makes them what no command has written, in every run of
every program, in recorded graphs too. In the order of every seed, with evaluations, saves and samples in between, such a
program has the bits of the program as it is. Then one life after the other ends before the last command that reads
its buffer: that has to be found. --early N tries N of them, spread over all; without it all are tried.
"""
import functools
import re
import sys

from emulated import NOT_FINITE, Tally, compiled, empty_folder, make_parser, need, search, search_all

RUN = ("--seed", "7", "--steps", "5", "--accum", "2", "--eval-every", "4", "--eval-steps", "2", "--save-every", "4")
POISON = re.compile(r'"poison \d+ in (\w+) after \d+:((?: \d+\+\d+)+)"')


class Campaign:
    def __init__(self, compiled, build, seeds):
        self.compiled, self.build, self.seeds = compiled, build, seeds
        self.tool = {"NVTX_INJECTION64_PATH": str(build / "test/emulation/nvtx-tool.so")}
        self.plan = compiled.folder / "plan.mlir"
        self.lives, self.whole = self.make("poisoned")
        self.expected = None

    def make(self, name, *early):
        """The output of plan-lives, and a program that knows the live ranges of its buffers."""
        plan, program = self.compiled.folder / f"{name}.mlir", self.compiled.folder / name
        said = need(self.build / "test/bin/plan-lives", self.plan, plan, *early)
        self.compiled.make("-o", program, plan=plan)
        return said.splitlines(), program

    def count(self):
        """Ends of lives, and the programs that have them."""
        found = POISON.findall((self.compiled.folder / "poisoned.mlir").read_text())
        return sum(len(ranges.split()) for _, ranges in found), sorted({program for program, _ in found})

    def check_whole(self):
        plain = self.compiled.folder / "plain"
        self.compiled.make("-o", plain)
        self.expected = self.compiled.run_whole(plain, self.seeds[0], RUN)
        for seed in self.seeds:
            for flags in ((), ("--no-graph",)):
                if self.compiled.run_whole(self.whole, seed, (*RUN, *flags), **self.tool) != self.expected:
                    raise RuntimeError(f"seed {seed} {flags}: expects the bits of the program that is not poisoned")

    def search(self, number):
        """The order that shows that a buffer is read behind its end."""
        program = self.make(f"early-{number}", str(number))[1]
        found = search(self.seeds, lambda seed: self.compiled.show(program, seed, RUN, self.expected, known=[NOT_FINITE],
                                                                   **self.tool))
        program.unlink()
        return found

    def run(self, name, jobs, early, tally):
        self.check_whole()
        ends, programs = self.count()
        print(f"{name}: {ends} buffers end in {', '.join(programs)}, equal bits in {len(self.seeds)} orders", flush=True)
        step = max(1, len(self.lives) // early) if early else 1
        tasks = []
        for number in range(0, len(self.lives), step):
            _, program, command, size = self.lives[number].split()
            tasks.append((f"{name}, {program}, {size} bytes end before {command}", functools.partial(self.search, number)))
        for what, result in search_all(jobs, tasks):
            tally.add(what, result)


def main():
    parser = make_parser(models="mlp", seeds="0:4")
    parser.add_argument("--early", type=int, default=0)
    args = parser.parse_args()
    tally = Tally()
    for name, model in compiled(args.models, args.source, empty_folder(args.work), args.build):
        Campaign(model, args.build, args.seeds).run(name, args.jobs, args.early, tally)
    print(tally.describe("early ends"))
    sys.exit(0 if tally.good() else 1)


main()
