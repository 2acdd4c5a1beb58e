#!/usr/bin/env python3
"""Programs for a CUDA device, checked on a real one that has no weft.

usage: on-device.py build OUT --build BUILD [--models NAME...] [--target cuda:sm_90] [--twins]
       on-device.py run OUT [--sanitizer] [--jobs N] [--emulated BUILD] [--json FILE]

`build` compiles each model for the CPU and for the device, trains the CPU's
program, and leaves in OUT what `run` needs: programs, data, the CPU's losses.
OUT may then be carried to the device. `run` trains there and checks each model:

  losses     those of the CPU, within 1e-4 in f32 and 2e-2 in f16 and bf16
  again      a second run has the same bits in losses and weights
  no-graph   so has one that gives the device command by command
  resumed    and one that is stopped half-way and goes on
  tuned      with algorithms of products that --tune has measured: the same bounds
  cudnn      attention by cuDNN has losses within the same bounds; a second run, and
             one without a graph, have the same bits as the first
  recomputed programs that compute activations again have the bits of the first run
  gradients  those of a step, to the bit the CPU's: masks of dropout (model masks)
  skips      steps are skipped, and loss scales halved, as on the CPU (overflow-*)
  memcheck, racecheck, synccheck
             compute-sanitizer finds nothing in two steps (--sanitizer)

Of --jobs models at once: a device has room for many of them. It prints a line for
each check and ends with `N passed, N failed, N skipped`; a
machine that cannot run a program at all fails one check, `device`.
With --emulated (of a folder that `build --twins` wrote) the device is the emulated
one of the tests.
"""
import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys

import train

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOKENS = ["--batch=2", "--seq=64"]
WIDE = ["--batch=8", "--seq=64"]  # enough rows for products that run over the padding
# Folder or file of examples/, precision, flags of compile and of the run.
MODELS = {
    "mlp": ("mlp.mlir", "f32", [], []),
    "mlp-f16": ("mlp.mlir", "f16", [], []),
    "mlp-bf16": ("mlp.mlir", "bf16", [], []),
    "gpt2": ("gpt2-mini", "f32", TOKENS, []),
    "gpt2-f16": ("gpt2-mini", "f16", TOKENS, []),
    "gpt2-bf16": ("gpt2-mini", "bf16", TOKENS, ["--accum=2"]),
    # Rows of logits would be unaligned without padding between them.
    "gpt2-odd": ("../test/Cuda/Inputs/gpt-odd", "f32", WIDE, []),
    "gpt2-odd-f16": ("../test/Cuda/Inputs/gpt-odd", "f16", WIDE, []),
    "llama": ("llama-mini", "f32", TOKENS, []),
    "llama-f16": ("llama-mini", "f16", TOKENS, []),
}
CUDNN = ("gpt2-f16", "llama-f16")
# Rules of --recompute; the second gives up some values of each block.
RECOMPUTED = {"gpt2": ("blocks", "bytes:1000000"), "gpt2-bf16": ("blocks",), "llama": ("blocks", "bytes:1000000")}
# Models of test/Cuda that are checked in a way of their own, with the flags of both.
INPUTS = "../test/Cuda/Inputs/"
OVERFLOW = ["--scaler-init=32768"]
SPECIAL = {
    "masks": (INPUTS + "masks.mlir", "f32", [], ["--seed=7"]),
    "overflow-product": (INPUTS + "overflow-product.mlir", "f16", OVERFLOW, ["--lr=1e-4"]),
    "overflow-attention": (INPUTS + "overflow-attention.mlir", "f16", OVERFLOW, ["--lr=1e-4"]),
}
TOOLS = ("memcheck", "racecheck", "synccheck")
STEPS = 20


NO_DEVICE = 9  # how a program ends that this machine cannot run


class Failed(Exception):
    """A check that failed, and why; how a program ended, if one did."""

    def __init__(self, words, code=None):
        super().__init__(words)
        self.code = code


class Skipped(Exception):
    """A check that could not be made, and why."""


def call(command, environment=None):
    try:
        result = subprocess.run(command, capture_output=True, text=True, env=environment)
    except OSError as error:
        raise Failed(f"cannot start {command[0]}: {error.strerror}") from None
    if result.returncode != 0:
        raise Failed(f"{os.path.basename(command[0])} ended with {result.returncode}: "
                     f"{(result.stderr or result.stdout).strip()[-500:]}", result.returncode)
    return result.stdout


#===----------------------------------------------------------------------===#
# Where weft is
#===----------------------------------------------------------------------===#


def data_of(name):
    return "digits.safetensors" if name.startswith("mlp") or name in SPECIAL else "text.txt"


def weft_of(options):
    return os.path.join(options.build, "bin", "weft")


def facts_of(name):
    return MODELS.get(name) or SPECIAL[name]


def recomputed(name, rule):
    """The program of a rule of --recompute."""
    return f"{name}-{rule.partition(':')[0]}"


def arguments_of(name):
    """The model and its flags, for weft compile."""
    model, precision, flags, _ = facts_of(name)
    return [os.path.join(ROOT, "examples", model), f"--precision={precision}", *flags]


def compile_program(options, name, output, *flags):
    call([weft_of(options), "compile", *arguments_of(name), *flags, "-o", output])


def compile_for_device(options, name, program, *flags):
    device = [f"--target={options.target}", *flags]
    compile_program(options, name, program, *device)
    if options.twins:
        call([weft_of(options) + "-twins", "--checked", *arguments_of(name), *device, "-o", program + ".so"])


def build(options):
    call([weft_of(options), "--version"])
    shutil.rmtree(options.out, ignore_errors=True)
    os.makedirs(options.out)
    inside = lambda name: os.path.join(options.out, name)
    call([sys.executable, os.path.join(ROOT, "examples", "make_mlp_data.py"),
          inside("digits.safetensors"), "--rows", "64"])
    shutil.copy(os.path.join(ROOT, "test/Inputs/corpus.txt"), inside("text.txt"))
    expected = {}
    for name in options.models or [*MODELS, *SPECIAL]:
        compile_program(options, name, inside("cpu"))
        expected[name] = Model(options, name).expect()
        # Where the machine has cuDNN, the default would leave own kernels unchecked.
        own = ["--attention=own"] if name in CUDNN else []
        compile_for_device(options, name, inside(name), *own)
        if name in CUDNN:
            compile_for_device(options, name, inside(name + "-cudnn"), "--attention=cudnn")
        for rule in RECOMPUTED.get(name, ()):
            compile_for_device(options, name, inside(recomputed(name, rule)), f"--recompute={rule}", *own)
        os.remove(inside("cpu"))
    shutil.rmtree(inside("on-cpu"), ignore_errors=True)
    with open(inside("expected.json"), "w") as file:
        json.dump(expected, file)
    print(f"{len(expected)} models in {options.out}")


#===----------------------------------------------------------------------===#
# Where the device is
#===----------------------------------------------------------------------===#


class Model:
    def __init__(self, options, name, losses=()):
        self.options, self.name, self.losses = options, name, losses
        self.bound = train.BOUND[facts_of(name)[1]]

    def path(self, name):
        return os.path.join(os.path.abspath(self.options.out), name)

    def environment(self, program):
        build = getattr(self.options, "emulated", None)
        if not build:
            return None
        emulation = os.path.join(build, "test", "emulation")
        twins = [self.path(program + ".so"), os.path.join(emulation, "kernels.so")]
        return dict(os.environ, LD_LIBRARY_PATH=emulation, WEFT_TWINS=":".join(twins))

    def run(self, program, *flags, before=(), steps=STEPS):
        """`before` is what runs the program: a sanitizer."""
        return call([*before, self.path(program), "--data", self.path(data_of(self.name)),
                     "--steps", str(steps), "--progress", "none", *facts_of(self.name)[3], *flags],
                    self.environment(program))

    def expect(self):
        """Runs the CPU's program: the expected results."""
        if self.name == "masks":
            self.run("cpu", "--dump-grads", self.path("masks-cpu.safetensors"), steps=1)
            return None
        if self.name in SPECIAL:
            return self.skips("cpu")
        return self.train("cpu", "on-cpu")[0]

    def skips(self, program):
        """Of six steps: whether it was skipped, and its loss scale."""
        metrics = self.path(self.name + ".jsonl")
        if os.path.exists(metrics):
            os.remove(metrics)
        self.run(program, "--metrics", metrics, steps=6)
        with open(metrics) as lines:
            steps = [step for step in map(json.loads, lines) if "loss" in step]
        return [[step["skipped"], step["loss_scale"]] for step in steps]

    def train(self, program, folder, *flags):
        """Losses, and a digest of the last checkpoint."""
        saves = self.path(f"{self.name}-{folder}" if self.losses else folder)
        shutil.rmtree(saves, ignore_errors=True)
        os.makedirs(saves)
        metrics = os.path.join(saves, "metrics.jsonl")
        return self.go_on(program, saves, metrics, *flags)

    def go_on(self, program, saves, metrics, *flags):
        self.run(program, "--save-dir", saves, "--keep", "1", "--metrics", metrics, *flags)
        return train.losses_of(metrics), train.weights_of(saves)

    def check_losses(self):
        self.first = self.train(self.name, "first")
        return self.near(self.first[0])

    def near(self, losses):
        try:
            return f"largest difference {train.compare(self.losses, losses, self.bound):.1e}"
        except SystemExit as error:
            raise Failed(str(error)) from None

    def check_equal(self, run):
        if not hasattr(self, "first"):
            raise Skipped("the first run failed")
        if run[0] != self.first[0]:
            raise Failed(f"other losses: {run[0]}, first {self.first[0]}")
        if run[1] != self.first[1]:
            raise Failed("the same losses, other weights")
        return f"{len(run[0])} steps"

    def check_again(self):
        return self.check_equal(self.train(self.name, "again"))

    def check_no_graph(self):
        return self.check_equal(self.train(self.name, "no-graph", "--no-graph"))

    def check_resumed(self):
        self.train(self.name, "resumed", f"--stop-after={STEPS // 2}")
        saves = self.path(self.name + "-resumed")
        return self.check_equal(self.go_on(self.name, saves, os.path.join(saves, "metrics.jsonl"),
                                           "--resume=must"))

    def check_tuned(self):
        tuning = self.path(self.name + "-tuning.json")
        if os.path.exists(tuning):
            os.remove(tuning)
        call([self.path(self.name), "--tune", tuning], self.environment(self.name))
        return self.near(self.train(self.name, "tuned", "--tuning", tuning)[0])

    def check_gradients(self):
        ours, theirs = self.path("masks.safetensors"), self.path("masks-cpu.safetensors")
        self.run(self.name, "--dump-grads", ours, steps=1)
        with open(ours, "rb") as first, open(theirs, "rb") as second:
            if first.read() != second.read():
                raise Failed("other gradients")
        return "the same bytes"

    def check_skips(self):
        skips = self.skips(self.name)
        if skips != self.losses:
            raise Failed(f"{skips}, on the CPU {self.losses}")
        return f"{sum(skipped for skipped, _ in skips)} of {len(skips)} steps"

    def check_cudnn(self):
        runs = [self.train(self.name + "-cudnn", "by-cudnn", *flags) for flags in ((), (), ("--no-graph",))]
        if runs.count(runs[0]) != len(runs):
            raise Failed("a second run, or one without a graph, has other bits")
        return self.near(runs[0][0])

    def check_recomputed(self):
        said = [self.check_equal(self.train(recomputed(self.name, rule), "recomputed")) for rule in RECOMPUTED[self.name]]
        return f"{len(said)} programs, {said[0]}"

    def check_sanitizer(self, tool):
        sanitizer = shutil.which("compute-sanitizer")
        if not sanitizer:
            raise Skipped("no compute-sanitizer on PATH")
        # Hand-written kernels are looked for in one image after the other: a call that
        # finds none fails, which is no fault.
        self.run(self.name, steps=2, before=(sanitizer, "--tool", tool, "--report-api-errors", "no",
                                             "--error-exitcode", "99"))
        return "2 steps"

    def checks(self):
        """Checks by name, in order."""
        if self.name == "masks":
            return {"gradients": self.check_gradients}
        if self.name in SPECIAL:
            return {"skips": self.check_skips}
        checks = {"losses": self.check_losses, "again": self.check_again,
                  "no-graph": self.check_no_graph, "resumed": self.check_resumed,
                  "tuned": self.check_tuned}
        if self.name in CUDNN:
            checks["cudnn"] = self.check_cudnn
        if self.name in RECOMPUTED:
            checks["recomputed"] = self.check_recomputed
        if self.options.sanitizer:
            checks.update({tool: lambda tool=tool: self.check_sanitizer(tool) for tool in TOOLS})
        return checks


def outcome(check):
    try:
        return "passed", check()
    except Failed as failure:
        return "failed", str(failure)
    except Skipped as reason:
        return "skipped", str(reason)


def read_expected(options):
    try:
        with open(os.path.join(options.out, "expected.json")) as file:
            return json.load(file)
    except OSError as error:
        raise Failed(f"expects a folder that build wrote, but got {options.out}: "
                     f"expected.json: {error.strerror}") from None


def why_no_device(options, name):
    """The error of a program that finds no device; None if it finds one."""
    try:
        Model(options, name).run(name, steps=1)
    except Failed as failure:
        return str(failure) if failure.code == NO_DEVICE else None
    return None


def check_all(options, expected):
    """Results of all checks of all models."""
    missing = why_no_device(options, next(iter(expected)))
    if missing:
        yield {"model": None, "check": "device", "outcome": "failed", "words": missing}
        return
    def check(entry):
        name, losses = entry
        found = []
        for title, run_check in Model(options, name, losses).checks().items():
            how, words = outcome(run_check)
            found.append({"model": name, "check": title, "outcome": how, "words": words})
        return found

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for found in pool.map(check, expected.items()):
            yield from found


def run(options):
    results = []
    for result in check_all(options, read_expected(options)):
        results.append(result)
        print("{outcome}: {title}: {words}".format(
            title=" ".join(filter(None, (result["model"], result["check"]))), **result), flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(results, file, indent=1)
    counts = {how: sum(result["outcome"] == how for result in results)
              for how in ("passed", "failed", "skipped")}
    print(", ".join(f"{count} {how}" for how, count in counts.items()))
    sys.exit(1 if counts["failed"] else 0)


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    make = commands.add_parser("build", help="compile, and train on the CPU")
    make.set_defaults(command=build, sanitizer=False)
    make.add_argument("out")
    make.add_argument("--build", required=True, help="build folder of weft")
    make.add_argument("--models", nargs="+", choices=[*MODELS, *SPECIAL])
    make.add_argument("--target", default="cuda:sm_90")
    make.add_argument("--twins", action="store_true", help="for --emulated")
    check = commands.add_parser("run", help="train on the device, and compare")
    check.set_defaults(command=run)
    check.add_argument("out")
    check.add_argument("--sanitizer", action="store_true")
    check.add_argument("--jobs", type=int, default=1)
    check.add_argument("--emulated", metavar="BUILD")
    check.add_argument("--json", metavar="FILE")
    return parser.parse_args()


if __name__ == "__main__":
    arguments = parse()
    try:
        arguments.command(arguments)
    except Failed as failure:
        sys.exit(f"on-device.py: error: {failure}")
