"""Kernels for a CUDA device without one of their barriers.

usage: barriers.py --work DIR --source DIR --build DIR [--models A,B] [--hand-written FILTER] [--seeds A:B]

Runs programs on the emulated device, which records the barriers that kernels come to, and then leaves them out, one at
a time (WEFT_EMULATION_SKIP). Some order of threads has to show each: a race, a read of what nobody has written, or
other bits than those of the whole kernels. Models stand for the generated kernels, tests of CudaKernelsTests (a
filter of GoogleTest) for the hand-written ones; every barrier in the code has to be among those that ran.
"""
import argparse
import collections
import re
import subprocess
import sys

from emulated import BROKEN, Emulated, absolute, empty_folder, examples, need, parse_seeds

RUN = ("--steps", "1", "--eval-steps", "1")
CALL = re.compile(r"call void @llvm\.nvvm\.(barrier\.cta\.sync\.aligned\.\w+|bar\.warp\.sync)\(")


def recorded(path):
    """Kernel and place of each barrier that ran."""
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
        ended, self.expected = compiled.run(self.program, 0, RUN, WEFT_EMULATION_RECORD=str(record))
        if ended.returncode != 0:
            raise RuntimeError(f"the whole program: {self.expected}")
        self.barriers = [name for name in recorded(record) if not name.startswith("weft_")]

    def in_code(self):
        """How many barriers each kernel has."""
        code = self.compiled.folder / "kernels.ll"
        self.compiled.make("--emit=llvm", "-o", code)
        counts, kernel = collections.Counter(), None
        for line in code.read_text().splitlines():
            if match := re.match(r"define .*@(\w+)\(", line):
                kernel = match[1]
            counts[kernel] += bool(CALL.search(line))
        return +counts

    def unseen(self):
        """Barriers of the code that have not run."""
        ran = collections.Counter(name.split(":")[0] for name in self.barriers)
        return [f"{kernel}: {count - ran[kernel]} of {count} have not run"
                for kernel, count in self.in_code().items() if ran[kernel] != count]

    def show(self, barrier, seed):
        ended, made = self.compiled.run(self.program, seed, RUN, WEFT_EMULATION_SKIP=barrier)
        if ended.returncode != 0:
            return made.strip().splitlines()[-1]
        return "" if made == self.expected else "other bits"


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
            if ended.returncode != 0:
                raise RuntimeError(f"{test} of whole kernels: {ended.stdout[-500:]}{ended.stderr[-500:]}")
            for barrier in recorded(record):
                self.test_of.setdefault(barrier, test)
        self.barriers = list(self.test_of)

    def run(self, test, **environment):
        return subprocess.run([self.tests, f"--gtest_filter={test}"], capture_output=True, text=True, timeout=600,
                              env=environment)

    def unseen(self):
        """Lines of kernels/cuda with a barrier that no kernel has come to."""
        ran = {int(name.split(":")[1]) for name in self.barriers}
        return [f"{path.name}:{number} has not run" for path in sorted((self.source / "kernels/cuda").iterdir())
                if path.suffix in (".cu", ".h") and not path.name.startswith("Device")
                for number, line in enumerate(path.read_text().splitlines(), 1)
                if re.search(r"\bbarrier\(\)", line) and number not in ran]

    def show(self, barrier, seed):
        ended = self.run(self.test_of[barrier], WEFT_EMULATION_SKIP=barrier, WEFT_EMULATION_SEED=str(seed))
        if ended.returncode == BROKEN:
            return (ended.stderr.strip().splitlines() or [f"exit {ended.returncode}"])[-1]
        return "wrong results" if ended.returncode else ""


def try_all(name, kernels, seeds):
    """How many barriers were tried, how many not found, and the most orders that it took."""
    missed, most = 0, 0
    for barrier in kernels.barriers:
        for tried, seed in enumerate(seeds, 1):
            if how := kernels.show(barrier, seed):
                most = max(most, tried)
                break
        missed += not how
        print(f"{name}, {barrier}: {f'seed {seed}: {how}' if how else 'not found'}", flush=True)
    unseen = kernels.unseen()
    for line in unseen:
        print(f"{name}, {line}", flush=True)
    return len(kernels.barriers), missed, len(unseen), most


def main():
    parser = argparse.ArgumentParser()
    for name in ("work", "source", "build"):
        parser.add_argument(f"--{name}", type=absolute, required=True)
    parser.add_argument("--models", default="")
    parser.add_argument("--hand-written", default="")
    parser.add_argument("--seeds", default="0:8")
    args = parser.parse_args()
    work, seeds, results = empty_folder(args.work), parse_seeds(args.seeds), []
    models = examples(args.source, work)
    for name in filter(None, args.models.split(",")):
        kernels = Generated(Emulated(models[name], work / name, args.build))
        results.append(try_all(name, kernels, seeds))
    if args.hand_written:
        kernels = HandWritten(args.build, args.source, work, args.hand_written)
        results.append(try_all("hand-written", kernels, seeds))
    tried, missed, unseen, _ = map(sum, zip(*results)) if results else (0, 0, 0, 0)
    print(f"{tried} barriers, {missed} not found, {unseen} not run; "
          f"at most {max((result[3] for result in results), default=0)} orders")
    sys.exit(1 if missed or unseen or not tried else 0)


main()
