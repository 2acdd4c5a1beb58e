"""run-files.py PROGRAM DATA --work FOLDER [--seeds FIRST:LAST]: flags in a file.

A seed draws flags of `weft train` with values, and gives them on the command
line, in a file, and as a mixture whose command line wins over other values in
the file. --print-config has to print equal values for all three, read back by
Python's TOML parser they are the drawn ones, and the printed file gives them
again. Run flags are also given to PROGRAM with --dry-run: all three print the
same plan. Then a file is spoilt: it is taken, or refused with one error that
names it. Prints one line a problem and `N seeds, N wrong`.
"""
import argparse
import pathlib
import random
import subprocess
import tomllib

from seeds import seed_range

# Flags of several kinds, with values that a dry run of PROGRAM takes.
RUN = {
    "steps": [1, 7, 1000], "accum": [1, 3], "lr": [0.1, 1e-3, 2.5e-4], "warmup": [0, 1],
    "lr-schedule": ["cosine", "linear"], "min-lr": [0.0, 1e-5], "beta1": [0.8], "beta2": [0.95, 0.99],
    "weight-decay": [0.0, 0.125], "clip": [1.0, 0.5, float("inf")], "seed": [0, 42], "shuffle": [True, False],
    "val-fraction": [0.25], "log-every": [1, 5], "threads": [1, 2], "progress": ["line"],
}
COMPILE = {
    "batch": [1, 8], "precision": ["f32", "bf16"], "optimizer": ["sgd", "adamw"], "nesterov": [True, False],
    "memory-limit": ["8G", "1.5GiB"], "recompute": ["blocks", "none"], "ignore-field": [["a"], ["a", "b c"]],
    "clip-norm": ["2", "inf"], "scaler-growth": [2.0, 1.5], "mesh": ["dp:2"], "zero": [0, 3],
    "groups": ["a \"b\"\\.toml", "\u00e4\t.toml"],
}
TABLES = {"lr": "optimizer", "steps": "steps", "seed": "weights-and-seed", "threads": "ranks-and-threads",
          "batch": "model", "zero": "sharding", "precision": "precision", "memory-limit": "memory"}


def toml(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(toml(part) for part in value) + "]"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
        return f'"{escaped}"'
    return repr(value)


def argument(name, value):
    if isinstance(value, bool):
        value = "on" if value else "off"
    if isinstance(value, list):
        value = ",".join(value)
    return f"--{name}={value}"


def file_of(draw, settings):
    """The settings as a file, some of them in tables."""
    top, tables = [], {}
    # A table may have the name of a flag, which then stands in the table.
    in_tables = {name for name in TABLES if draw.random() < 0.5}
    used = {TABLES[name] for name in in_tables & set(settings)}
    places = {name: TABLES[name] for name in in_tables} | {name: name for name in used}
    names = list(settings)
    draw.shuffle(names)
    for name in names:
        line = f"{name} = {toml(settings[name])}"
        if name in places:
            tables.setdefault(places[name], []).append(line)
        else:
            top.append(line)
    for table, lines in tables.items():
        top += [f"[{table}]", *lines]
    return "\n".join(top) + "\n"


def ways(draw, folder, settings, choices):
    """The settings on the command line, in a file, and in both."""
    (folder / "all.toml").write_text(file_of(draw, settings))
    given = {name: value for name, value in settings.items() if draw.random() < 0.5}
    filed = {name: value for name, value in settings.items() if name not in given}
    for name in given:
        if draw.random() < 0.5:
            filed[name] = draw.choice(choices[name])  # the command line wins
    (folder / "part.toml").write_text(file_of(draw, filed))
    line = [argument(name, value) for name, value in settings.items()]
    part = [argument(name, value) for name, value in given.items()]
    mixture = [*part, "--config", "part.toml"]
    draw.shuffle(part)
    return {"command line": line, "file": ["--config=all.toml"], "mixture": mixture}


def run(command, folder):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)


def values_of(text):
    """The flags of a printed file, without their tables."""
    flat = {}
    for name, value in tomllib.loads(text).items():
        flat.update(value if isinstance(value, dict) else {name: value})
    return flat


def some(draw, choices):
    names = [name for name in choices if draw.random() < 0.5]
    return {name: draw.choice(choices[name]) for name in names}


def check_values(draw, folder):
    """An error of --print-config, or nothing."""
    settings = some(draw, RUN) | some(draw, COMPILE)
    printed = {}
    for way, arguments in ways(draw, folder, settings, RUN | COMPILE).items():
        done = run(["weft", "train", *arguments, "--print-config"], folder)
        if done.returncode != 0:
            return f"{way}: exit {done.returncode}: {done.stderr}"
        printed[way] = values_of(done.stdout)
        if printed[way] != settings:
            return f"{way}: expects {settings}, but got {printed[way]}"
        (folder / "printed.toml").write_text(done.stdout)
        again = run(["weft", "train", "--config", "printed.toml", "--print-config"], folder)
        if again.returncode != 0 or values_of(again.stdout) != settings:
            return f"{way}: printed and read again: {again.stderr or values_of(again.stdout)}"
    return ""


def check_plan(draw, folder, program, data):
    """A difference between dry runs, or nothing."""
    settings = some(draw, RUN) | {"steps": draw.choice(RUN["steps"]), "data": data}
    if "lr-schedule" not in settings:
        settings.pop("min-lr", None)
    plans = {}
    for way, arguments in ways(draw, folder, settings, RUN | {"data": [data, "elsewhere"]}).items():
        done = run([program, *arguments, "--dry-run"], folder)
        plans[way] = (done.returncode, done.stdout, done.stderr)
    if len(set(plans.values())) > 1:
        return f"plans of {settings} differ: {plans}"
    return ""


def check_spoilt(draw, folder):
    """A file with changes, which may be wrong; the problem with its answer, or nothing."""
    text = bytearray(file_of(draw, some(draw, RUN) | some(draw, COMPILE)).encode())
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(text) + 1)
        how = draw.randrange(4)
        if how == 0:
            text[at:at + draw.randint(1, 5)] = b""
        elif how == 1:
            text[at:at] = draw.choice([b"\n", b"[", b"]", b"=", b"\"", b".", b"\xff", b"\0", b"{", b"# ", b"x = 1\n"])
        elif how == 2 and at < len(text):
            text[at] = draw.randrange(256)
        else:
            text[at:at] = text[at // 2:at]
    (folder / "spoilt.toml").write_bytes(text)
    done = subprocess.run(["weft", "train", "--config", "spoilt.toml", "--print-config"], cwd=folder,
                          capture_output=True, timeout=60)
    error = done.stderr
    if done.returncode == 0:
        return "" if not error else f"taken with {error}"
    if done.returncode not in (2, 3) or not error.startswith(b"weft: error: spoilt.toml:") or done.stdout:
        return f"exit {done.returncode}: {error}"
    if any(byte < 32 and byte != 10 for byte in error):
        return f"control bytes: {error}"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--seeds", type=seed_range, default=range(200))
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    wrong = 0
    for seed in args.seeds:
        draw = random.Random(seed)
        problem = check_values(draw, args.work) or \
            check_plan(draw, args.work, args.program.resolve(), str(args.data.resolve())) or \
            check_spoilt(draw, args.work)
        if problem:
            wrong += 1
            print(f"seed {seed}: {problem}")
    print(f"{len(args.seeds)} seeds, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
