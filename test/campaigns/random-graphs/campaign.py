#!/usr/bin/env python3
"""Random models through every pass and the executable.

usage: campaign.py [--seeds FIRST:LAST] [--jobs N] [--precision f32|bf16|f16]
                   [--work DIR] [--no-reduce]

Each seed grows a model (growth.py). It is compiled with a dump of every phase;
the model and the graph after fuse must be equal in the interpreter
(f64), the graph and its finished plan exactly; the program runs a step, and its loss and all its gradients must be those
of the interpreter. In some, the rows of matrices get room between them. A model that fails is made smaller and printed with its
seed. `--seeds 0:3000` is the long form; seeds are independent, so that it can
go on at any of them. Exit 1 if a model failed.
"""
import argparse
import concurrent.futures
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import recompute  # noqa: E402
from graph import read_tensors, write_tensors  # noqa: E402
from growth import grow  # noqa: E402
from reduction import reduce  # noqa: E402
from seeds import seed_range  # noqa: E402

# Constants of formulas (eps, sqrt(2/pi), ...) become f32 in weft-fuse: 6e-8, which
# a later op may magnify.
PASS_BOUND = "2e-5"
# Of the largest element of a tensor: f32 rounding, magnified by what follows.
RUN_BOUND = 1e-4
# Counts of rows, divided by their number.
METRIC_BOUND = 1e-6
# Another order of sums may multiply the rounding errors of f32 (or f16, bf16),
# measured by the interpreter in both modes, by this factor.
NOISE = 30
TIMEOUT = 120


class Failure(Exception):
    """`kind` says what failed, without names and numbers: equal for a model and
    what is left of it."""

    def __init__(self, stage, text):
        line = next((l for l in text.splitlines() if "error" in l), text.strip()[-400:])
        kind = re.sub(r"\S*\.mlir:\d+:?|[%@]\w+|tensor<[^>]*>|k_[0-9a-f]+|[-+.\d]+(e[-+]?\d+)?",
                      "", line)
        super().__init__(stage, text)
        self.stage, self.text, self.kind = stage, text, f"{stage}: {kind}"


def call(stage, *command):
    environment = dict(os.environ, OMP_WAIT_POLICY="passive")
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT,
                                env=environment)
    except subprocess.TimeoutExpired:
        raise Failure(stage, f"error: no end within {TIMEOUT} s")
    if result.returncode != 0:
        raise Failure(stage, f"exit {result.returncode} of {' '.join(command)}\n"
                             f"{result.stdout[-3000:]}{result.stderr[-3000:]}")


class Check:
    """One model in a folder of its own."""

    def __init__(self, graph, folder, precision):
        self.graph, self.folder, self.precision = graph, folder, precision
        text = graph.text()
        self.drops = "weft.dropout" in text or "weft.layer_drop" in text
        self.is_low = precision != "f32" or "xf16>" in text or "xbf16>" in text \
            or "tensor<f16>" in text or "tensor<bf16>" in text

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, text, rows):
        with open(self.path("model.mlir"), "w") as file:
            file.write(text)
        write_tensors(self.path("rows.safetensors"), rows)
        write_tensors(self.path("start.safetensors"), self.graph.tensors("param"))

    def run(self):
        self.write(self.graph.text(), self.graph.tensors("input"))
        # A kernel for each op, in some.
        flags = ["--debug-nan"] if self.graph.seed % 10 == 3 else []
        call("compile", "weft", "compile", self.path("model.mlir"), "-o", self.path("program"),
             "--dump-dir=" + self.path("dumps"), "--optimizer=sgd",
             "--precision=" + self.precision, "--loss-scale=none", *flags)
        self.compare_phases()
        self.compare_run()
        if self.graph.seed % 5 == 0:
            self.compare_narrow()
        if self.graph.seed % 4 == 1:
            self.compare_padded()
        if self.graph.seed % 3 == 2:
            self.compare_recomputed()
        if self.graph.seed % 3 == 1:
            self.compare_regions()

    def compare_recomputed(self):
        """The same gradients, to the bit, from values that are computed again."""
        derived = self.dumps()["derive-programs"]
        passes = "weft-autodiff,weft.program(canonicalize,cse,weft-recompute)"
        call("recompute", "weft-opt", "--mlir-print-op-generic", derived, "-o", self.path("generic.mlir"))
        with open(self.path("generic.mlir")) as file:
            text = file.read()
        with open(self.path("marked.mlir"), "w") as file:
            file.write(recompute.mark(text, self.graph.seed))
        for name in ("generic", "marked"):
            call("recompute", "weft-opt", self.path(f"{name}.mlir"), "-o", self.path(f"{name}-grad.mlir"),
                 f"--pass-pipeline=builtin.module({passes})")
        self.compare_modules(self.path("generic-grad.mlir"), self.path("marked-grad.mlir"), "0")
        self.compare_programs("generic", "marked", "derive-programs")

    def compare_programs(self, first, second, phase):
        """The same losses and gradients, to the bit, whatever runs as one kernel."""
        found = []
        for name in (first, second):
            call("programs", "weft", "compile", self.path(f"{name}.mlir"), f"--from={phase}",
                 "-o", self.path("program"))
            found.append(self.execute())
        wrong = [name for name in found[0] if found[0][name] != found[1].get(name)]
        if wrong:
            raise Failure("programs", f"error: {second} computes other bits of " + ", ".join(sorted(wrong)))

    def compare_regions(self):
        """The same model, and the same gradients to the bit, with regions that are computed again."""
        with open(self.path("regions.mlir"), "w") as file:
            file.write(recompute.Enclosure(self.graph).text())
        prints = set()
        for name in ("model", "regions"):
            call("regions", "weft", "compile", self.path(f"{name}.mlir"), "--to=autodiff", "--precision=" + self.precision,
                 "--loss-scale=none", "-o", self.path(f"{name}-grad.mlir"))
            with open(self.path(f"{name}-grad.mlir")) as file:
                prints.add(re.search('weft.fingerprint = "([0-9a-f]*)"', file.read())[1])
        if len(prints) != 1:
            raise Failure("regions", "error: regions change the fingerprint")
        self.compare_modules(self.path("model-grad.mlir"), self.path("regions-grad.mlir"), "0")
        if not self.drops:
            self.compare_modules(self.path("model.mlir"), self.path("regions.mlir"), "0")

    def compare_phases(self):
        dumps = self.dumps()
        # A model has no random numbers before derive-programs.
        first = dumps["derive-programs" if self.drops else "import"]
        self.last, self.unfused = dumps["fuse"], dumps["working-copies"]
        self.compare_modules(first, self.last)
        # A command does the arithmetic of its op.
        self.compare_modules(self.last, dumps["verify-plan"], "0")

    def dumps(self):
        """The file of each phase."""
        return {name.split("-", 1)[1][:-5]: os.path.join(self.path("dumps"), name)
                for name in os.listdir(self.path("dumps"))}

    def compare_modules(self, before, after, bound=PASS_BOUND, *more):
        call("passes", "weft-interp", "--compare", before, after, "--tolerance=" + bound,
             "--inputs=" + self.path("rows.safetensors"),
             "--state=" + self.path("start.safetensors"), *more)

    def compare_narrow(self):
        """Other kernels, since they may hold few ops or buffers, or products
        that do all they can."""
        ops, buffers = [(2, 24), (5, 4), (9, 6), (64, 3)][self.graph.seed // 5 % 4]
        libraries = ["", "{library=interpreter}"]
        select = "weft-select-kernels" + libraries[self.graph.seed // 20 % 2]
        call("narrow", "weft-opt", self.unfused, "-o", self.path("narrow.mlir"),
             "--pass-pipeline=builtin.module(weft-fold-casts," + select + ",weft.program(weft-decompose),weft-fuse{"
             f"max-ops={ops} max-buffers={buffers}}},weft-verify-contract{{phase=fuse}})")
        self.compare_modules(self.unfused, self.path("narrow.mlir"))

    def compare_padded(self):
        """Padding between the rows of matrices and behind gradients, which
        products run over."""
        least, most = [(8, 8), (16, 16), (16, 128), (64, 64), (4, 32)][self.graph.seed // 4 % 5]
        plan = self.dumps()["lower-to-plan"]
        call("padded", "weft-opt", plan, "-o", self.path("padded.mlir"),
             f"--weft-pad-rows=least={least} most={most} share=0", "--weft-widen-products=rows=1 share=0",
             "--weft-pad-gradients=rows=1 share=0")
        self.compare_modules(plan, self.path("padded.mlir"), "0")
        call("padded", "weft", "compile", self.path("padded.mlir"), "--from=lower-to-plan",
             "-o", self.path("program"))
        self.compare_run()

    def interpret(self, mode):
        call("interpreter", "weft-interp", self.last, "--steps=1", "--print=off",
             "--mode=" + mode, "--inputs=" + self.path("rows.safetensors"),
             "--state=" + self.path("start.safetensors"),
             "--outputs=" + self.path("outputs.safetensors"),
             "--save-state=" + self.path("state.safetensors"))
        found = {name: values for name, values in
                 read_tensors(self.path("outputs.safetensors")).items()}
        found.update((name[:-5], values) for name, values in
                     read_tensors(self.path("state.safetensors")).items()
                     if name.endswith(".grad"))
        return found

    def execute(self):
        # Twice the same rows in one step, which average to the same, unless the
        # second time other elements are dropped.
        accumulations = 1 if self.drops else 2
        call("run", self.path("program"), "--data", self.path("rows.safetensors"), "--no-shuffle",
             "--init-from", self.path("start.safetensors"), "--steps=1", "--progress=none",
             f"--accum={accumulations}", f"--threads={1 + self.graph.seed % 2}",
             "--metrics", self.path("metrics.jsonl"),
             "--dump-grads", self.path("gradients.safetensors"))
        found = read_tensors(self.path("gradients.safetensors"))
        with open(self.path("metrics.jsonl")) as file:
            record = [entry for entry in map(json.loads, file) if "loss" in entry][-1]
        found.update((name, (record[name],)) for name in ("loss", "grad_norm"))
        for field in ("losses", "metrics"):
            found.update((name, (value,)) for name, value in record.get(field, {}).items())
        return found

    def compare_run(self):
        found = self.execute()
        expected = self.interpret("f32" if self.is_low else "f64")
        wrong = self.find_wrong(found, expected)
        if wrong:  # the graph itself may magnify what rounding does
            noise = self.interpret("f64" if self.is_low else "f32")
            wrong = self.find_wrong(found, expected, noise)
        if wrong:
            raise Failure("numbers", "error: the program computes other numbers\n"
                          + "\n".join(wrong))

    def find_wrong(self, found, expected, other=None):
        wrong = []
        # A gradient that is nothing beside others is a difference of large ones.
        largest = max(abs(value) for values in expected.values() for value in values)
        for name, want in sorted(expected.items()):
            got = found.get(name)
            if got is None or len(got) != len(want):
                wrong.append(f"{name}: no such tensor of {len(want)} elements")
                continue
            if not all(map(math.isfinite, want)):
                raise Failure("bounds", f"error: {name} is not finite in the interpreter")
            scale = max(max(map(abs, want)), 1e-3, 1e-2 * largest)
            bound = scale * RUN_BOUND if not name.startswith("metric") else METRIC_BOUND
            if other:
                bound += NOISE * max(abs(a - b) for a, b in zip(want, other[name]))
            error = max((abs(a - b) if math.isfinite(a) else math.inf
                         for a, b in zip(got, want)))
            if not error <= bound:
                wrong.append(f"{name}: off by {error:.3g}, allowed {bound:.3g}, "
                             f"largest {scale:.3g}")
        return wrong


def examine(graph, options):
    """The failure of a graph, or None."""
    with tempfile.TemporaryDirectory(prefix="weft-graph-") as folder:
        try:
            options.check(graph, folder, options.precision).run()
        except Failure as failure:
            return failure
    return None


def attempt(task):
    seed, options = task
    try:
        return seed, examine(grow(seed, options.precision), options)
    except Exception as error:  # a mistake of the campaign names its seed as well
        return seed, Failure("campaign", f"error: {error!r}")


def report(seed, failure, options):
    print(f"seed {seed} fails: {failure.kind}\n{failure.text}", flush=True)
    if options.work:
        os.makedirs(options.work, exist_ok=True)
        with open(os.path.join(options.work, f"{seed}.mlir"), "w") as file:
            file.write(grow(seed, options.precision).text(failure.kind))
    if options.reduce and failure.stage != "campaign":
        def fails(graph):
            found = examine(graph, options)
            return found is not None and found.kind == failure.kind
        small = reduce(grow(seed, options.precision), fails)
        print(small.text(f"seed {seed}, reduced"), flush=True)
        if options.work:
            with open(os.path.join(options.work, f"{seed}-reduced.mlir"), "w") as file:
                file.write(small.text(failure.kind))


def main(check=Check, about=__doc__):
    parser = argparse.ArgumentParser(description=about.split("\n")[0])
    parser.set_defaults(check=check)
    parser.add_argument("--seeds", default="0:60", type=seed_range)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--precision", choices=["f32", "bf16", "f16"], default="f32")
    parser.add_argument("--work", help="where models that fail are written")
    parser.add_argument("--no-reduce", dest="reduce", action="store_false")
    options = parser.parse_args()
    if not shutil.which("weft"):
        sys.exit("campaign.py: expects weft and weft-interp in PATH")
    tasks = [(seed, options) for seed in options.seeds]
    failed, done = 0, 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for seed, failure in pool.map(attempt, tasks):
            done += 1
            if failure:
                failed += 1
                report(seed, failure, options)
            if done % 100 == 0:
                print(f"{done} of {len(tasks)}, {failed} failed", flush=True)
    print(f"{len(tasks)} graphs, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
