#!/usr/bin/env python3
"""Programs for a CUDA device that run at the same time.

usage: two-processes.py PROGRAM DATA EMULATION TWINS WORK [--rounds N]

Each process has an emulated device of its own, so this shows what they share
beside it: the files. Runs that write one file of tuning at once leave a whole
one, with the bytes of a run alone, which a run then takes; runs that fill one
cache of measured algorithms at once all end well, with the same algorithms; of
runs that start with one save directory one gets it and saves what it saves
alone, and the others end with exit 5 before they write.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys

# The holder writes its number when it has the lock: who comes in between reads none.
IN_USE = re.compile(r"expects a save directory that no other run uses, but (?:process \d+ on |another process does)")
IN_WRITING = re.compile(r"no other run writes|another program has made it")


class Programs:
    def __init__(self, options):
        self.options = options
        twins = [options.twins, os.path.join(options.emulation, "kernels.so")]
        self.environment = dict(os.environ, LD_LIBRARY_PATH=options.emulation,
                                WEFT_TWINS=":".join(twins))

    def start(self, *flags, seed=0, **variables):
        return subprocess.Popen(
            [self.options.program, "--progress", "none", *flags], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=dict(self.environment, WEFT_EMULATION_SEED=str(seed), **variables))

    def train(self, folder, *flags, seed=0, **variables):
        return self.start("--data", self.options.data, "--steps", "4", "--save-every", "1",
                          "--save-dir", folder, *flags, seed=seed, **variables)


def expect(holds, text, *ended):
    if not holds:
        sys.exit("".join([text, *(f"\nexit {code}: {err}" for code, err in ended)]))


def end(process):
    _, err = process.communicate(timeout=600)
    return process.returncode, err


def read(*parts):
    with open(os.path.join(*parts), "rb") as file:
        return file.read()


def algorithms(path):
    """The algorithms, which decide bits; times differ from run to run."""
    return re.findall(rb'"algorithm": "[0-9a-f]*"', read(path))


def tune_together(programs, work, alone):
    path = os.path.join(work, "together.json")
    if os.path.exists(path):
        os.remove(path)
    ended = [end(process) for process in
             [programs.start("--tune", path, seed=seed) for seed in range(2)]]
    for code, err in ended:
        expect(code == 0 or (code == 8 and IN_WRITING.search(err)),
               "a run neither measures nor says that another one writes", *ended)
    expect(any(code == 0 for code, _ in ended), "no run measures", *ended)
    expect(algorithms(path) == algorithms(alone), "the file is not that of a run alone", *ended)
    code, err = end(programs.train(os.path.join(work, "tuned"), "--tuning", path))
    shutil.rmtree(os.path.join(work, "tuned"))
    expect(code == 0, "the file cannot be used", (code, err))
    return sum(code == 0 for code, _ in ended)


def digest_of(folder):
    """The digest of the algorithms of a run, in its last checkpoint."""
    found = re.findall(rb'"tuning": "([0-9a-f]+)"', read(folder, "step_00000004", "MANIFEST.json"))
    return found[0] if found else None


def fill_cache_together(programs, work, products):
    cache = os.path.join(work, "cache")
    shutil.rmtree(cache, ignore_errors=True)
    folders = [os.path.join(work, f"filled{seed}") for seed in range(3)]
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    ended = [end(process) for process in
             [programs.train(folder, "--tuning", "auto", seed=seed, XDG_CACHE_HOME=cache)
              for seed, folder in enumerate(folders)]]
    expect(all(code == 0 for code, _ in ended), "a run cannot fill the cache", *ended)
    files = os.listdir(os.path.join(cache, "weft", "tuning"))
    expect(len(files) == products and all(name.endswith(".json") for name in files),
           f"the cache has other files than one for each of {products} products: {files}", *ended)
    digests = {digest_of(folder) for folder in folders}
    expect(len(digests) == 1 and None not in digests, "runs have other algorithms", *ended)


def save_together(programs, work, alone):
    folder = os.path.join(work, "together")
    shutil.rmtree(folder, ignore_errors=True)
    ended = [end(process) for process in
             [programs.train(folder, "--resume", "auto", seed=seed) for seed in range(3)]]
    for code, err in ended:
        expect(code == 0 or (code == 5 and IN_USE.search(err)),
               "a run neither ends well nor says that the directory is in use", *ended)
    expect(any(code == 0 for code, _ in ended), "no run gets the directory", *ended)
    expect(sorted(os.listdir(folder)) == sorted(os.listdir(alone)), "other steps are saved", *ended)
    for step in os.listdir(alone):
        if step.startswith("step_"):
            name = "rank_00000.safetensors"
            expect(read(folder, step, name) == read(alone, step, name),
                   f"{step} is not that of a run alone", *ended)
    return sum(code != 0 for code, _ in ended)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("program", "data", "emulation", "twins", "work"):
        parser.add_argument(name, type=os.path.abspath)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    shutil.rmtree(options.work, ignore_errors=True)
    os.makedirs(options.work)
    programs = Programs(options)
    tuned, saved = (os.path.join(options.work, name) for name in ("alone.json", "alone"))
    for process in (programs.start("--tune", tuned), programs.train(saved)):
        code, err = end(process)
        expect(code == 0, "a run alone fails", (code, err))
    products = len(algorithms(tuned))
    counts = []
    for _ in range(options.rounds):
        fill_cache_together(programs, options.work, products)
        counts.append((tune_together(programs, options.work, tuned),
                       save_together(programs, options.work, saved)))
    print(f"{options.rounds} rounds: {sum(c[0] for c in counts)} files of tuning, "
          f"{sum(c[1] for c in counts)} runs refused")


if __name__ == "__main__":
    main()
