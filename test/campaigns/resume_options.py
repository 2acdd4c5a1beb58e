"""Resumes a run with one thing changed, for every flag of the table.

Usage: resume_options.py --work DIR [--only-programs] PROGRAM [NAME=WAS=NOW=PROGRAM ...]

PROGRAM is a language model of bytes with AdamW. A run of 12 steps is stopped
after 6; then copies of it are resumed with each run flag of PROGRAM's own help
changed alone, with each thing that is no flag (data, folder, threads), and with
the other programs, which differ from PROGRAM by one compile flag NAME, WAS there
and NOW here. Each change must give exactly the warnings that are expected, or an
error with its exit code, or nothing; where no number depends on it, the weights
at the end are those of the undisturbed run, bit for bit. A flag that is not in
the list below is an error: say there what it does on resume.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

parser = argparse.ArgumentParser()
parser.add_argument("--work", required=True, type=pathlib.Path)
parser.add_argument("--only-programs", action="store_true")
parser.add_argument("program", type=pathlib.Path)
parser.add_argument("others", nargs="*")
args = parser.parse_args()
PROGRAM = args.program.resolve()

TEXT = "".join(f"the quick brown fox jumps over the lazy dog {i * 7 % 10}\n" for i in range(400))
BASE = {
    "data": "text", "val-data": "val", "steps": "12", "accum": "2", "shuffle": "on", "lr": "0.01",
    "lr-schedule": "cosine", "warmup": "2", "min-lr": "0.001", "weight-decay": "0.1", "clip": "0.01",
    "eval-every": "4", "eval-steps": "2", "save-every": "3", "log-every": "2", "metrics": "m.jsonl",
    "progress": "line", "seed": "3",
}
LAST = "step_00000012"
ANY = None  # a step that follows from the rows of PROGRAM


def warned(flag, was, now):
    return f"weft: warning: --{flag} was {was} in the checkpoint, now {now}"


def rows_warned(was, now, row):
    return f"weft: warning: a step had {was} rows in the checkpoint, now {now}: the data continue at row {row}"


class Change:
    """One flag, its new value, and what must come of it."""

    def __init__(self, value, warnings=(), code=0, error="", same=False, last=LAST):
        self.value, self.warnings, self.code, self.error = value, list(warnings), code, error
        self.same, self.last = same, last


def named(flag, value, was, now=None, **rest):
    return Change(value, [warned(flag, was, now or value)], **rest)


def nothing(value, **rest):
    return Change(value, same=True, **rest)


def data_text(path, text):
    return f"{path} (text, {len(text)} tokens, digest {DIGESTS[text]})"


# The digest of a text as the program itself records it.
DIGESTS = {}
OTHER = TEXT.replace("fox", "cat")  # as long as TEXT
VAL = TEXT[:2000]

OUTCOMES = {
    "data-name": nothing("books"),
    "val-data-name": nothing("books"),
    "data-format": nothing("text"),
    "tokenizer": nothing("bytes"),
    "shuffle": Change("off", code=2, error="--shuffle expects on, as in the checkpoint"),
    "steps": Change("9", [warned("steps", "12", "9"),
                          "weft: warning: the learning rate of step 7 is 0.00449866 instead of 0.00689058, since the training has "
                          "9 steps instead of 12; --lr-decay-steps=12 keeps the course"], last="step_00000009"),
    "epochs": Change("1", [warned("steps", "12", "not set"), warned("epochs", "not set", "1"),
                           "weft: warning: the learning rate of step 7 is 0.00999566 instead of 0.00689058, since the training "
                           "has 288 steps instead of 12; --lr-decay-steps=12 keeps the course"], last=ANY),
    "stop-after": nothing("100"),
    "accum": Change("1", [warned("accum", "2", "1"), rows_warned(8, 4, 6 * 8)]),
    "lr": named("lr", "0.02", "0.01"),
    "lr-schedule": named("lr-schedule", "wsd", "cosine"),
    "lr-decay-steps": named("lr-decay-steps", "20", "not set"),
    "warmup": named("warmup", "3", "2"),
    "min-lr": named("min-lr", "0.002", "0.001"),
    "weight-decay": named("weight-decay", "0.2", "0.1"),
    "beta1": named("beta1", "0.8", "0.9"),
    "beta2": named("beta2", "0.99", "0.999"),
    "eps": named("eps", "1e-07", "1e-08"),
    "momentum": Change("0.9", code=2, error="--momentum has no meaning for the optimizer of this program"),
    "clip": named("clip", "0.02", "0.01"),
    "seed": Change("4", code=2, error="--seed expects 3, the seed of the checkpoint, but got 4"),
    "init-from": Change("none", code=2, error="--init-from expects a run that does not resume"),
    "save-dir": nothing("elsewhere"),
    "save-every": nothing("5"),
    "keep": nothing("1"),
    "keep-best": nothing("on"),
    "resume": Change("never", code=5, error="expects an empty save directory, but it has 2 checkpoints"),
    "log-every": nothing("3"),
    "eval-every": nothing("2"),
    "eval-steps": named("eval-steps", "3", "2", same=True),
    "eval-only": nothing("on", last=""),
    "predictions": Change("x.safetensors", code=2, error="expects --data FILE"),
    "metrics": nothing("other.jsonl"),
    "tensorboard": nothing("events"),
    "progress": nothing("json"),
    "trace": nothing("trace.json"),
    "dump-grads": nothing("grads.safetensors"),
    "overwrite": nothing("on"),
    "threads": nothing("1"),
    "loopback": Change("2", code=2, error="--loopback expects 1 for a program of one rank, but got 2"),
    "timeout": Change("9", code=2, error="--timeout expects a program of several ranks"),
    "check-replicas": Change("9", code=2, error="--check-replicas expects a program of several ranks"),
    "dry-run": nothing("on", last=""),
    "generate": nothing("the", last=""),
    "generate-ids": nothing("5", last=""),
    "stop-ids": Change("5", code=2, error="--stop-ids expects --generate-ids"),
    "max-new-tokens": Change("3", code=2, error="--max-new-tokens expects --generate"),
    "temperature": Change("0.5", code=2, error="--temperature expects --generate"),
    "top-k": Change("3", code=2, error="--top-k expects --generate"),
    "top-p": Change("0.5", code=2, error="--top-p expects --generate"),
    "min-p": Change("0.5", code=2, error="--min-p expects --generate"),
    "repetition-penalty": Change("1.5", code=2, error="--repetition-penalty expects --generate"),
    "stop": Change("x", code=2, error="--stop expects --generate"),
    "sample-every": Change("3", code=2, error="--sample-every expects --generate"),
    "config": Change("more.toml", [warned("lr", "0.01", "0.02")]),
    "print-config": nothing("on", last=""),
    "version": nothing("on", last=""),
    "help": nothing("on", last=""),
    "help-all": nothing("on", last=""),
}


def flags(settings):
    return [f"--{name}={value}" for name, value in settings.items()]


def run(folder, arguments, program=PROGRAM, environment=None):
    return subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True,
                          env={**os.environ, **(environment or {})})


def make(folder):
    folder.mkdir(parents=True)
    for name, text in {"text": TEXT, "val": VAL, "other": OTHER, "copy": TEXT}.items():
        (folder / name).write_text(text)


def expect(condition, name, result, why):
    if not condition:
        command = " ".join(str(arg) for arg in result.args)
        sys.exit(f"{name}: {why}\n  command: {command}\n  exit: {result.returncode}\n{result.stderr}{result.stdout}")


def warnings_of(result):
    return [line for line in result.stderr.splitlines() if line.startswith("weft: warning: ")]


def check(name, result, folder, change, whole, saves="run"):
    expect(result.returncode == change.code, name, result, f"expects exit {change.code}")
    if change.code:
        expect(change.error in result.stderr, name, result, f"expects the error {change.error!r}")
        return
    expect(warnings_of(result) == change.warnings, name, result, f"expects the warnings {change.warnings}")
    names = sorted(path.name for path in (folder / saves).glob("step_*"))
    if change.last is ANY:
        expect(names[-1] > LAST, name, result, f"expects more steps, but got {names}")
        return
    if not change.last:
        expect(names == ["step_00000003", "step_00000006"], name, result, f"saved {names}")
        return
    expect(names and names[-1] == change.last, name, result, f"expects {change.last}, but got {names}")
    if change.last != LAST:
        return
    weights = (folder / saves / LAST / "rank_00000.safetensors").read_bytes()
    expect((weights == whole) == change.same, name, result,
           f"expects {'the same' if change.same else 'other'} weights at the end")


shutil.rmtree(args.work, ignore_errors=True)
make(args.work / "whole")
result = run(args.work / "whole", flags({**BASE, "save-dir": "run"}))
expect(result.returncode == 0 and not result.stderr, "undisturbed", result, "expects a quiet run")
whole_step = args.work / "whole" / "run" / LAST
whole = (whole_step / "rank_00000.safetensors").read_bytes()
make(args.work / "half")
result = run(args.work / "half", flags({**BASE, "save-dir": "run", "stop-after": "6"}))
expect(result.returncode == 0, "half", result, "expects a run")


def copy(name):
    """A folder of its own in which the half run is, so that relative paths and
    those that the checkpoint recorded are the same."""
    folder = args.work / "half"
    for path in folder.iterdir():
        if path.name not in ("text", "val", "other", "copy", "run", "m.jsonl", "more.toml"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.rmtree(folder / "run")
    shutil.copytree(SAVED, folder / "run")
    for path, text in {"text": TEXT, "val": VAL, "other": OTHER, "copy": TEXT, "more.toml": "lr = 0.02\n"}.items():
        (folder / path).write_text(text)
    shutil.copy(METRICS, folder / "m.jsonl")
    return folder


SAVED, METRICS = args.work / "saved", args.work / "metrics"
shutil.copytree(args.work / "half" / "run", SAVED)
shutil.copy(args.work / "half" / "m.jsonl", METRICS)
cases = 0

# Nothing changed, and nothing said: both ways to go on without flags.
for name, arguments in {"--resume run": ["--resume=run"],
                        "--resume=auto": ["--resume=auto", "--save-dir=run"]}.items():
    folder = copy(name)
    result = run(folder, arguments)
    check(name, result, folder, nothing(""), whole)
    text = (folder / "run" / LAST / "MANIFEST.json").read_text()
    here = (whole_step / "MANIFEST.json").read_text().replace(f"{args.work.resolve()}/whole/", f"{args.work.resolve()}/half/")
    own = re.compile(r'"xxh3": "[0-9a-f]{32}",\n  "weft_checkpoint"')
    expect(own.sub("", text) == own.sub("", here), name, result, "expects the manifest of the undisturbed run")
    lines = [re.sub(r'"(tokens_per_s|step_ms|compute_ms|data_ms|mem_bytes)":[^,}]*', "", line)
             for path in (folder, args.work / "whole") for line in (path / "m.jsonl").read_text().splitlines()[1:]
             if not line.startswith('{"step":6,"val_loss"')]  # a run that stops evaluates its last step
    expect(lines[:len(lines) // 2] == lines[len(lines) // 2:], name, result, "expects the metrics of the undisturbed run")
    cases += 1

# The digests of texts, as the warnings show them.
for path, text in {"text": TEXT, "val": VAL, "other": OTHER}.items():
    folder = copy("digests")
    result = run(folder, flags({"data": path, "steps": "1", "save-dir": "digest", "progress": "none"}))
    expect(result.returncode == 0, "digests", result, "expects a run")
    manifest = (folder / "digest" / "step_00000001" / "MANIFEST.json").read_text()
    DIGESTS[text] = re.search(r'"data": \{\s*"kind": "text",\s*"length": \d+,\s*"xxh3": "([0-9a-f]{8})', manifest).group(1)

OUTCOMES["data"] = Change("other", [warned("data", data_text("text", TEXT), data_text("other", OTHER))])
OUTCOMES["val-data"] = Change("other", [warned("val-data", data_text("val", VAL), data_text("other", OTHER))], same=True)
OUTCOMES["val-fraction"] = Change(
    "0.2", [warned("val-data", data_text("val", VAL), "not set"), warned("val-fraction", "0", "0.2")])

# Every flag of the table.
known = re.findall(r"^  (?:-\w, )?--([a-z0-9-]+)", run(args.work, ["--help-all"]).stdout, re.M)
unknown = sorted(set(known) ^ set(OUTCOMES))
if unknown:
    sys.exit(f"the flags and the list of outcomes differ in {unknown}")
for flag in [] if args.only_programs else known:
    change = OUTCOMES[flag]
    folder = copy(flag)
    settings = {"resume": "run", flag: change.value}
    if flag == "resume":
        settings = {**BASE, "save-dir": "run", "resume": "never"}
    check("--" + flag, run(folder, flags(settings)), folder, change, whole,
          saves=change.value if flag == "save-dir" else "run")
    cases += 1

# Changes other than flags.
folder = copy("data")
(folder / "text").write_text(OTHER)
check("contents of --data", run(folder, ["--resume=run"]), folder,
      Change("", [warned("data", data_text("text", TEXT), data_text("text", OTHER))]), whole)
folder = copy("longer data")
(folder / "text").write_text(TEXT + TEXT)
result = run(folder, ["--resume=run"])
expect("--data was text (text, %d tokens" % len(TEXT) in result.stderr and len(warnings_of(result)) == 1, "longer data",
       result, "expects one warning")
folder = copy("validation data")
(folder / "val").write_text(OTHER[:2000])
result = run(folder, ["--resume=run"])
expect(len(warnings_of(result)) == 1 and "--val-data was val (text, 2000 tokens, digest" in result.stderr, "val", result,
       "expects one warning")
folder = copy("data elsewhere")
check("the same data at another path", run(folder, ["--resume=run", "--data=copy"]), folder, nothing(""), whole)
folder = copy("no data")
(folder / "text").unlink()
check("no data", run(folder, ["--resume=run"]), folder,
      Change("", code=3, error="text: cannot open: no such file or directory"), whole)
folder = copy("another folder")
(folder / "below").mkdir()
result = run(folder / "below", ["--resume=../run"])
check("from another folder", result, folder, nothing(""), whole)
expect(LAST in "".join(os.listdir(folder / "run")) and '"step":12' in (folder / "m.jsonl").read_text(),
       "from another folder", result, "expects saves and metrics in their places")
folder = copy("moved")
moved = args.work / "moved"
shutil.rmtree(moved, ignore_errors=True)
folder.rename(moved)
result = run(moved, ["--resume=run"])
check("moved to another folder", result, moved, nothing(""), whole)
moved.rename(folder)
for name, environment in {"threads of OpenMP": {"OMP_NUM_THREADS": "1"}, "no spinning": {"GOMP_SPINCOUNT": "0"}}.items():
    folder = copy(name)
    check(name, run(folder, ["--resume=run"], environment=environment), folder, nothing(""), whole)
cases += 9

# Other programs of the same model.
PROGRAMS = {
    "batch": lambda was, now: Change("", [
        warned("batch", was, now), rows_warned(2 * int(was), 2 * int(now), 6 * 2 * int(was))]),
    "seq": lambda was, now: Change("", [warned("seq", was, now)]),
    "precision": lambda was, now: Change("", [warned("precision", was, now)]),
    "clip-norm": lambda was, now: Change("", [warned("clip-norm", was, now)]),
    "optimizer": lambda was, now: Change("", code=5, error="expects a checkpoint of optimizers"),
    "groups": lambda was, now: Change("", [warned("groups", was, now)]),
    "loss-chunks": lambda was, now: Change("", [warned("loss-chunks", was, now)]),
    "threads-max": lambda was, now: nothing(""),
}
for other in args.others:
    name, was, now, path = other.split("=")
    folder = copy(name)
    check(f"--{name} of the program", run(folder, ["--resume=run"], program=pathlib.Path(path).resolve()), folder,
          PROGRAMS[name](was, now), whole)
    cases += 1
print(f"{cases} changes, each with its outcome")
