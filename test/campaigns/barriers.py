"""Kernels for a CUDA device without one of their barriers.

usage: barriers.py --work DIR --source DIR --build DIR [--models A,B] [--hand-written FILTER] [--seeds A:B]
                   [--jobs N]

Runs programs on the emulated device, which records the barriers that kernels come to, and then leaves them out, one at
a time (WEFT_EMULATION_SKIP). Some order of threads has to show each: a race, a read of what nobody has written, or
other bits than those of the whole kernels; a run that takes too long shows nothing. Models stand for the generated kernels, tests of CudaKernelsTests (a
filter of GoogleTest) for the hand-written ones; every barrier in the code has to be among those that ran.
"""
import collections
import functools
import re
import sys

from emulated import Tally, compiled, empty_folder, finding, launch, make_parser, need, search, search_all

RUN = ("--steps", "1", "--eval-steps", "1")
CALL = re.compile(r"call void @llvm\.nvvm\.(barrier\.cta\.sync\.aligned\.\w+|bar\.warp\.sync)\(")


FAILED = 1  # how a test ends whose numbers are wrong


def recorded(path):
    """Kernel, op (block or warp) and place of each barrier that ran."""
    lines = path.read_text().splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    return list(dict.fromkeys(line.split()[1] for line in lines if line.startswith("barrier ")))


class Generated:
    """The kernels of a model."""

    def __init__(self, compiled):
        self.compiled = compiled
        self.program = compiled.folder / "program"
        compiled.make("-o", self.program)
        record = compiled.folder / "record"
        self.expected = compiled.run_whole(self.program, 0, RUN, WEFT_EMULATION_RECORD=str(record))
        self.barriers = [name for name in recorded(record) if not name.startswith("weft_")]

    def in_code(self):
        """How many barriers of each kind each kernel has."""
        code = self.compiled.folder / "kernels.ll"
        self.compiled.make("--emit=llvm", "-o", code)
        counts, kernel = collections.Counter(), None
        for line in code.read_text().splitlines():
            if match := re.match(r"define .*@(\w+)\(", line):
                kernel = match[1]
            if match := CALL.search(line):
                counts[f"{kernel}:{'warp' if match[1] == 'bar.warp.sync' else 'block'}"] += 1
        return counts

    def unseen(self):
        """Barriers of the code that have not run."""
        ran = collections.Counter(name.rsplit(":", 1)[0] for name in self.barriers)
        return [f"{name}: {count - ran[name]} of {count} have not run"
                for name, count in self.in_code().items() if ran[name] != count]

    def show(self, barrier, seed):
        return self.compiled.show(self.program, seed, RUN, self.expected, WEFT_EMULATION_SKIP=barrier)


class HandWritten:
    """The kernels that some unit tests run."""

    def __init__(self, build, source, work, chosen):
        self.tests, self.source = build / "test/unit/CudaKernelsTests", source
        self.test_of = {}
        listed, suite = need(self.tests, "--gtest_list_tests", f"--gtest_filter={chosen}"), ""
        for line in listed.splitlines():
            if not line.startswith(" "):
                suite = line.split()[0]
                continue
            test, record = suite + line.split()[0], work / "record"
            ended = self.run(test, WEFT_EMULATION_RECORD=str(record))
            if not ended or ended.returncode != 0:
                raise RuntimeError(f"{test} of whole kernels: "
                                   f"{ended.stdout[-500:] + ended.stderr[-500:] if ended else 'takes too long'}")
            for barrier in recorded(record):
                self.test_of.setdefault(barrier, test)
        self.barriers = list(self.test_of)

    def run(self, test, **environment):
        return launch([self.tests, f"--gtest_filter={test}"], env=environment)

    def unseen(self):
        """Lines of kernels/cuda with a barrier that no kernel has come to."""
        ran = {int(place) for _, op, place in (name.split(":") for name in self.barriers) if op == "block"}
        return [f"{path.name}:{number} has not run" for path in sorted((self.source / "kernels/cuda").iterdir())
                if path.suffix in (".cu", ".h") and not path.name.startswith("Device")
                for number, line in enumerate(path.read_text().splitlines(), 1)
                if re.search(r"\bbarrier\(\)", line) and number not in ran]

    def show(self, barrier, seed):
        ended = self.run(self.test_of[barrier], WEFT_EMULATION_SKIP=barrier, WEFT_EMULATION_SEED=str(seed))
        if not ended:
            return None
        if ended.returncode == FAILED:
            return "wrong results"
        return finding(ended, known=[FAILED]) if ended.returncode else ""


def try_all(name, kernels, args, tally):
    """How many barriers of the code have not run."""
    def search_one(barrier):
        return search(args.seeds, lambda seed: kernels.show(barrier, seed))

    tasks = [(f"{name}, {barrier}", functools.partial(search_one, barrier)) for barrier in kernels.barriers]
    for what, result in search_all(args.jobs, tasks):
        tally.add(what, result)
    unseen = kernels.unseen()
    for line in unseen:
        print(f"{name}, {line}", flush=True)
    return len(unseen)


def main():
    parser = make_parser(models="", seeds="0:8")
    parser.add_argument("--hand-written", default="")
    args = parser.parse_args()
    work, tally, unseen = empty_folder(args.work), Tally(), 0
    for name, model in compiled(args.models, args.source, work, args.build):
        unseen += try_all(name, Generated(model), args, tally)
    if args.hand_written:
        unseen += try_all("hand-written", HandWritten(args.build, args.source, work, args.hand_written), args, tally)
    print(f"{tally.describe('barriers')}, {unseen} not run; at most {tally.most()} orders")
    sys.exit(0 if tally.good() and not unseen else 1)


main()
