"""Programs for a CUDA device that campaigns run on the emulated one."""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from seeds import seed_range

NUMBERS = ("step", "loss", "val_loss", "grad_norm", "skipped", "loss_scale")  # of a line of metrics
BROKEN = 99  # exit code of the emulated device on an error of a kernel or the program
NOT_FINITE = 6  # how a program ends on a number that is none
LONGEST = 120  # seconds that a run may take


def need(*command, **options):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=600, **options)
    if result.returncode != 0:
        raise RuntimeError(f"expects exit 0 of {' '.join(map(str, command))}, but got {result.returncode}:\n"
                           f"{(result.stdout + result.stderr)[-3000:]}")
    return result.stdout


def launch(command, longest=LONGEST, **options):
    """A process that has ended; None if it took too long."""
    try:
        return subprocess.run([str(part) for part in command], capture_output=True, text=True, errors="replace",
                              timeout=longest, **options)
    except subprocess.TimeoutExpired:
        return None


def last_line(text):
    return (text.strip().splitlines() or [""])[-1]


def finding(ended, known=()):
    """The error of a run that fails; an exit code that the removal does not explain ends the campaign."""
    if ended.returncode not in (BROKEN, *known) or (ended.returncode == BROKEN and "emulation: error: " not in ended.stderr):
        raise RuntimeError(f"expects exit 0, {', '.join(map(str, (BROKEN, *known)))}, but got {ended.returncode}:\n"
                           f"{(ended.stdout + ended.stderr)[-3000:]}")
    return last_line(ended.stderr) or f"exit {ended.returncode}"


def search_all(jobs, tasks):
    """The result of each task, which is a name and what searches, in their order. `jobs` of them run at once; the
    first error ends all."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        searches = [(what, pool.submit(run)) for what, run in tasks]
        try:
            for what, running in searches:
                yield what, running.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


Result = collections.namedtuple("Result", "seed how orders late")


def search(seeds, show):
    """The first seed that shows something. `show` says what; "" for nothing, None if the run took too long."""
    late = 0
    for orders, seed in enumerate(seeds, 1):
        how = show(seed)
        if how:
            return Result(seed, how, orders, late)
        late += how is None
    return Result(None, "", len(seeds), late)


class Tally:
    """The trials of a campaign."""

    def __init__(self):
        self.results = []

    def add(self, what, result):
        self.results.append(result)
        found = "not found" if result.seed is None else f"seed {result.seed}: {result.how}"
        print(f"{what}: {found}{f', {result.late} runs took too long' if result.late else ''}", flush=True)

    def missed(self):
        return sum(result.seed is None for result in self.results)

    def late(self):
        return sum(result.late for result in self.results)

    def most(self):
        return max((result.orders for result in self.results if result.seed is not None), default=0)

    def describe(self, things):
        return f"{len(self.results)} {things}, {self.missed()} not found, {self.late()} too long"

    def good(self):
        return bool(self.results) and not self.missed() and not self.late()


class Model:
    """A model with its data, and how it is compiled and trained."""

    def __init__(self, path, data, compile=(), run=()):
        self.path, self.data, self.compile, self.run = path, data, compile, run


def examples(source, work):
    """Models by name: each kind of generated kernel is in some of them."""
    digits = work / "digits.safetensors"
    need(sys.executable, source / "examples/make_mlp_data.py", digits, "--rows", "64")
    text, models = source / "test/Inputs/corpus.txt", source / "examples"
    config = json.loads((models / "gpt2-mini/config.json").read_text())
    # Rows of classes are the work of a block, and so are 640 rows of a bias gradient.
    config.update(n_layer=2, n_embd=32, n_head=2, vocab_size=1100)
    drops = dict(config, resid_pdrop=0.1, embd_pdrop=0.1, attn_pdrop=0.1)
    for name, content in (("gpt", config), ("gpt-dropout", drops)):
        (work / "models" / name).mkdir(parents=True)
        (work / "models" / name / "config.json").write_text(json.dumps(content))
    tokens, more = ("--batch=2", "--seq=16"), ("--batch=5", "--seq=128")
    sample = ("--generate", "a", "--max-new-tokens", "2")

    def language(folder, sizes, *flags):
        return Model(folder, text, (*sizes, *flags), sample)

    return {
        "mlp": Model(models / "mlp.mlir", digits),
        "mlp-ranks": Model(models / "mlp.mlir", digits, ("--mesh=dp:2", "--zero=3", "--prefetch=2"), ("--loopback", "2")),
        "mlp-f16": Model(models / "mlp.mlir", digits, ("--precision=f16",)),
        "gpt": language(work / "models/gpt", tokens),
        "gpt-bf16": language(work / "models/gpt", tokens, "--precision=bf16"),
        "gpt-f16": language(work / "models/gpt-dropout", tokens, "--precision=f16"),
        "gpt-long": language(work / "models/gpt", more),
        "gpt2-mini": language(models / "gpt2-mini", tokens),
        "llama-mini": language(models / "llama-mini", tokens),
    }


class Emulated:
    """A model that is compiled into a folder, with the twins of its kernels."""

    def __init__(self, model, folder, build):
        self.model, self.folder, self.build = model, folder, build
        folder.mkdir(parents=True)
        self.compile("-o", folder / "plan.mlir", "--to=lower-to-cuda")
        need(self.build / "bin/weft-twins", "--checked", folder / "plan.mlir", "--from=lower-to-cuda",
             "-o", folder / "twins.so")

    def compile(self, *flags):
        return need(self.build / "bin/weft", "compile", self.model.path, *self.model.compile, "--target=cuda:sm_90", *flags)

    def make(self, *flags, plan=None):
        """From a lowered plan, which nobody verifies any more."""
        return need(self.build / "bin/weft", "compile", plan or self.folder / "plan.mlir", "--from=lower-to-cuda", *flags)

    def run(self, program, seed=0, flags=(), **environment):
        """The end of a run, and its output, losses and all files of its checkpoints. None if it took
        too long."""
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="made-") as made:
            made = pathlib.Path(made)
            emulation = self.build / "test/emulation"
            ended = launch(
                [program, "--data", self.model.data, "--val-data", self.model.data, "--progress", "none", "--save-dir", "saves",
                 "--metrics", "m.jsonl", *self.model.run, *flags], cwd=made,
                env=dict(os.environ, LD_LIBRARY_PATH=str(emulation), WEFT_EMULATION_SEED=str(seed),
                         WEFT_TWINS=f"{self.folder / 'twins.so'}:{emulation / 'kernels.so'}", **environment))
            return ended, self.digest(made, ended.stdout) if ended and ended.returncode == 0 else None

    def run_whole(self, program, seed, flags, **environment):
        """The results of the complete program."""
        ended, made = self.run(program, seed, flags, **environment)
        if not made:
            raise RuntimeError(f"seed {seed}: expects a whole program to end well, but it "
                               f"{'ends with ' + str(ended.returncode) + ': ' + ended.stderr[-3000:] if ended else 'takes too long'}")
        return made

    def show(self, program, seed, flags, expected, known=(), **environment):
        """The evidence that something is missing, for `search`."""
        ended, made = self.run(program, seed, flags, **environment)
        if not ended:
            return None
        if ended.returncode != 0:
            return finding(ended, known)
        return "" if made == expected else "other bits"

    @staticmethod
    def digest(made, printed):
        digest = hashlib.sha256(printed.encode())
        lines = [json.loads(line) for line in (made / "m.jsonl").read_text().splitlines()]
        for values in lines:
            digest.update(repr([values.get(name) for name in NUMBERS]).encode())
        files = sorted(made.glob("saves/step_*/*.safetensors"))
        if not files or not any("loss" in values for values in lines):
            raise RuntimeError("expects losses and a checkpoint")
        for path in files:
            digest.update(path.read_bytes())
        return digest.hexdigest()


def compiled(names, source, work, build):
    """Each of the models, compiled into a folder of its own."""
    models = examples(source, work)
    for name in filter(None, names.split(",")):
        yield name, Emulated(models[name], work / name, build)


def make_parser(models, seeds):
    parser = argparse.ArgumentParser()
    for name in ("work", "source", "build"):
        parser.add_argument(f"--{name}", type=lambda text: pathlib.Path(text).absolute(), required=True)
    parser.add_argument("--models", default=models)
    parser.add_argument("--seeds", default=seeds, type=seed_range)
    parser.add_argument("--jobs", type=int, default=1, help="searches that run at once")
    return parser


def empty_folder(path):
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path
