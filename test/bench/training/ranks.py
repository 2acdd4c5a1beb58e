#!/usr/bin/env python3
"""Speed of a GPT-2 on several ranks of a CPU: weft's stages beside PyTorch's DDP.

usage: ranks.py --weft WEFT [--python PYTHON]... [--one-rank] [--rounds 15] [--warmup 3] [--steps 10] ...

Compiles the model for each stage (--zero) and for one thread a rank, then runs
all sides in turns, one after the other, from the same weights on the same
tokens: weft's programs as processes of MPI (weft launch), and PyTorch's DDP on
gloo with each Python that is given. Short runs choose the fastest attention,
AdamW, mode and binding of each Python first. With --one-rank a program of one
rank with as many threads trains on all rows of a step, too. A run times --steps steps behind --warmup ones, without
compilation and reading. Printed are medians of the rounds, and the medians of
the rounds' ratios: of the faster PyTorch, if there are several. Losses of all
sides have to agree.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CHOICES = {"attention": ("fused", "plain"), "optimizer": ("foreach", "loop", "fused"),
           "mode": ("eager", "compile"), "bind": ("none", "core")}
LONGEST = 1800  # seconds of one run of PyTorch
TOLERANCE = 1e-3  # relative; of the losses of a few steps in f32
ONE_RANK = "one"  # beside stages


def fail(words):
    sys.exit(f"ranks.py: error: {words}")


class Bench:
    """The options, and the inputs of all sides in the folder `work`."""

    def __init__(self, options, work):
        self.options, self.work = options, work
        self.config = config_of(options)
        sides.write_inputs(work, self.config, options.seq,
                           options.ranks * options.batch * (options.warmup + options.steps))
        os.makedirs(self.path("model"))
        with open(self.path("model/config.json"), "w") as file:
            json.dump(self.config, file)

    def path(self, name):
        return os.path.join(self.work, name)

    def program(self, stage):
        return self.path(f"zero-{stage}")

    def stages(self):
        return [*self.options.zero, *([ONE_RANK] if self.options.one_rank else [])]

    def name(self, stage):
        return ranks_report.ONE_RANK if stage == ONE_RANK else f"weft --zero={stage}"

    def compile(self, stage):
        options = self.options
        if stage == ONE_RANK:
            layout = [f"--batch={options.ranks * options.batch}", f"--threads-max={options.ranks}"]
        else:
            layout = [f"--mesh=dp:{options.ranks}", f"--zero={stage}", f"--batch={options.batch}",
                      *threads_of(options.compile)]
        call([options.weft, "compile", self.path("model"), "-o", self.program(stage), *layout,
              "--optimizer=adamw", f"--seq={options.seq}", *options.compile])

    def start(self, stage):
        if stage == ONE_RANK:
            return [self.program(stage), f"--threads={self.options.ranks}"]
        return [self.options.weft, "launch", "-n", str(self.options.ranks), self.program(stage), "--threads=1"]

    def weft(self, stage):
        """`ms` of a timed step without what went into reading rows, and `losses`."""
        options, metrics = self.options, self.path("metrics.jsonl")
        if os.path.exists(metrics):
            os.remove(metrics)
        clip = [f"--clip={options.clip:g}"] if options.clip else []
        call([*self.start(stage), "--data", self.path("tokens.bin"), "--data-format=u16", "--no-shuffle",
              "--init-from", self.path("weights.safetensors"),
              f"--steps={options.warmup + options.steps}", f"--lr={sides.RATE}",
              f"--weight-decay={sides.DECAY}", "--progress=none", "--metrics", metrics,
              *clip, *options.run])
        with open(metrics) as file:
            lines = [line for line in map(json.loads, file) if "loss" in line]
        timed = lines[options.warmup:]
        return {"ms": sum(line["step_ms"] - line["data_ms"] for line in timed) / len(timed),
                "losses": [line["loss"] for line in lines]}

    def torch(self, python, way, steps=None, may_fail=False):
        """The same of PyTorch, and its `version`; `error` and no `ms`, if it may fail and does."""
        options = self.options
        for name in ("meeting", "result.json"):
            if os.path.exists(self.path(name)):
                os.remove(self.path(name))
        job = {**way, "config": self.config, "ranks": options.ranks, "batch": options.batch,
               "seq": options.seq, "tokens": self.path("tokens.bin"),
               "weights": self.path("weights.safetensors"), "warmup": options.warmup,
               "steps": steps or options.steps, "rate": sides.RATE, "clip": options.clip,
               "decay": sides.DECAY}
        with open(self.path("job.json"), "w") as file:
            json.dump(job, file)
        error = self.run_processes(python)
        if error is None:
            with open(self.path("result.json")) as file:
                return json.load(file)
        if not may_fail:
            fail(f"PyTorch of {python}: {error}")
        return {"ms": None, "error": error}

    def run_processes(self, python):
        """The problem of the first rank that failed, or nothing."""
        script = os.path.join(HERE, "torch_ranks.py")
        # Ranks of one machine need no other address, whatever its name resolves to.
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
        processes = []
        for rank in range(self.options.ranks):
            with open(self.path(f"words-{rank}"), "w") as words:
                processes.append(subprocess.Popen([python, script, self.path("job.json"), str(rank)],
                                                  stderr=words, env=environment))
        failed = wait_for(processes)
        if failed is None:
            return None
        with open(self.path(f"words-{failed}")) as words:
            return sides.message_of(words.read(), processes[failed].returncode)


def wait_for(processes):
    """The number of the first that failed; the others, which would wait for it, end too."""
    end = time.monotonic() + LONGEST
    try:
        while any([process.poll() is None for process in processes]):
            if time.monotonic() > end:
                fail(f"expects the ranks of PyTorch to end within {LONGEST} s")
            if any(process.returncode for process in processes):
                break
            time.sleep(0.05)
        codes = [process.returncode for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return next((rank for rank, code in enumerate(codes) if code), None)


def threads_of(flags):
    """A rank runs one thread, so it is compiled for one, unless the flags say otherwise."""
    return [] if any(flag.startswith("--threads-max") for flag in flags) else ["--threads-max=1"]


def call(command):
    try:
        result = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        fail(f"cannot start {command[0]}: {error.strerror}")
    if result.returncode != 0:
        fail(f"{' '.join(command)}: ended with {result.returncode}\n{result.stderr[-3000:]}")


def config_of(options):
    if options.width % options.heads:
        fail(f"expects a --width that --heads divides, but got {options.width} and {options.heads}")
    return {"model_type": "gpt2", "vocab_size": options.vocab, "n_positions": options.seq,
            "n_embd": options.width, "n_layer": options.layers, "n_head": options.heads,
            "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "resid_pdrop": 0.0,
            "embd_pdrop": 0.0, "attn_pdrop": 0.0}


def check_python(python):
    """Once, before anything runs for minutes."""
    code = "import numpy, torch.distributed as d; assert d.is_gloo_available(), 'no gloo'"
    try:
        result = subprocess.run([python, "-c", code], capture_output=True, text=True)
    except OSError as error:
        fail(f"cannot start {python}: {error.strerror}")
    if result.returncode != 0:
        fail(f"expects a Python with PyTorch, gloo and numpy, but {python} says: "
             f"{sides.message_of(result.stderr, result.returncode)}")


def fastest_way(bench, python):
    """One choice after the other, each in a short run; what fails is not chosen."""
    print(f"PyTorch of {python}:", flush=True)
    choices = {**CHOICES, "mode": bench.options.modes}
    way, best, tried = {key: values[0] for key, values in choices.items()}, None, {}
    for key, values in choices.items():
        for value in values:
            candidate = {**way, key: value}
            name = ", ".join(candidate.values())
            if name not in tried:
                tried[name] = bench.torch(python, candidate, bench.options.survey_steps, may_fail=True)
                print(f"  {name}: {text_of(tried[name])}", flush=True)
            result = tried[name]
            if result["ms"] and (best is None or result["ms"] < best):
                way, best = candidate, result["ms"]
    if best is None:
        fail(f"expects a way in which PyTorch of {python} runs")
    return way


def text_of(result):
    return f"{result['ms']:.2f} ms" if result["ms"] else result["error"]


def runs_of(bench):
    """All sides by name, as functions that make a run."""
    options = bench.options
    runs = {bench.name(stage): lambda stage=stage: bench.weft(stage) for stage in bench.stages()}
    for python in options.python:
        way = fastest_way(bench, python)
        name = f"PyTorch of {python} ({', '.join(way.values())})"
        runs[name] = lambda python=python, way=way: bench.torch(python, way)
    return runs


def check_losses(results):
    """Checks that both sides train the same model; otherwise the comparison is void."""
    first, *others = results
    wanted = results[first][0]["losses"]
    if not wanted[-1] < wanted[0]:
        fail(f"expects losses of {first} that fall, but got {wanted}")
    for name in others:
        got = results[name][0]["losses"]
        if any(not abs(a - b) <= TOLERANCE * abs(b) for a, b in zip(got, wanted)):
            fail(f"expects the losses of {first} from {name}, {wanted}, but got {got}")


def measure(bench):
    runs = runs_of(bench)
    results = {name: [] for name in runs}
    for number in range(bench.options.rounds):
        # Each round begins with another side: none runs behind the same one always.
        names = list(runs)[number % len(runs):] + list(runs)[:number % len(runs)]
        for name in names:
            results[name].append(runs[name]())
        times = ", ".join(f"{results[name][-1]['ms']:.2f}" for name in runs)
        print(f"round {number + 1}: {times} ms", flush=True)
        if number == 0:
            check_losses(results)
    return results


def main():
    options = parse()
    try:
        global sides, ranks_report
        import sides
        import ranks_report
    except ImportError as error:
        fail(f"needs numpy: {error}")
    for python in options.python:
        check_python(python)
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(options, work)
        for stage in bench.stages():
            bench.compile(stage)
        results = measure(bench)
    print(ranks_report.table(options, bench.config, results))
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"config": bench.config, "options": vars(options), "results": results}, file, indent=1)


def at_least(least):
    """The type of an option: a whole number."""
    def number(text):
        if not text.lstrip("-").isdigit() or int(text) < least:
            raise argparse.ArgumentTypeError(f"expects a whole number of at least {least}, but got {text}")
        return int(text)
    return number


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", required=True)
    parser.add_argument("--python", action="append", default=[], help="one with PyTorch; none: weft alone")
    parser.add_argument("--zero", nargs="+", default=["0", "3"], help="stages; the first is the base")
    parser.add_argument("--one-rank", action="store_true", help="beside one rank with a thread for each")
    parser.add_argument("--rounds", type=at_least(1), default=15)
    parser.add_argument("--warmup", type=at_least(0), default=3)
    parser.add_argument("--steps", type=at_least(1), default=10)
    parser.add_argument("--survey-steps", type=at_least(1), default=5)
    parser.add_argument("--modes", nargs="+", default=CHOICES["mode"], choices=CHOICES["mode"],
                        help="of PyTorch; compile takes minutes to begin")
    parser.add_argument("--ranks", type=at_least(1), default=2)
    parser.add_argument("--batch", type=at_least(1), default=8, help="rows of a rank and step")
    parser.add_argument("--seq", type=at_least(1), default=256, help="tokens of a row")
    parser.add_argument("--vocab", type=at_least(1), default=65)
    parser.add_argument("--width", type=at_least(1), default=384)
    parser.add_argument("--layers", type=at_least(1), default=6)
    parser.add_argument("--heads", type=at_least(1), default=6)
    parser.add_argument("--clip", type=float, default=1.0, help="limit of the gradient norm; 0: none")
    parser.add_argument("--compile", action="append", default=[], metavar="FLAG",
                        help="a flag of weft compile, as --compile=--bucket=scope")
    parser.add_argument("--run", action="append", default=[], metavar="FLAG",
                        help="a flag of weft's programs")
    parser.add_argument("--json", help="all numbers")
    return parser.parse_args()


if __name__ == "__main__":
    main()
