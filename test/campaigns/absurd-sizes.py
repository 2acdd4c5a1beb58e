"""Puts absurd numbers into the dumps of every phase and continues from them.

A size that does not fit ends with exit 3 (or 4: the machine has no memory for it) and a message with a
place; no input ends in a signal or without a message. A change that does not matter may end with 0.
Usage: absurd-sizes.py --weft WEFT --work DIR --source DIR [--seed N] [--cases N] [--only PHASE:CASE]
"""
import argparse
import pathlib
import random
import re
import resource
import subprocess
import sys

parser = argparse.ArgumentParser()
parser.add_argument("--weft", default="weft")
parser.add_argument("--work", type=pathlib.Path, required=True)
parser.add_argument("--source", type=pathlib.Path, required=True)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--cases", type=int, default=2, help="of each phase and model")
parser.add_argument("--only", help="one case again, as a failure names it")
args = parser.parse_args()

NUMBERS = ["0", "1", "3", "2147483648", "4294967296", "1099511627776", "17592186044417",
           "4611686018427387904", "9223372036854775807", "-1", "-9223372036854775808"]
MODELS = {"mlp": ("mlp.mlir", []), "llama-mini": ("llama-mini", ["--batch", "2", "--seq", "8"])}
# Sizes of types, integers of attributes and lists of them; no names, no floats.
SIZE = re.compile(r"(?<=[<x ])\d+(?=x)|(?<== )-?\d+(?= : i64)|(?<=[ \[])-?\d+(?=[,\]>])")


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))


def call(command):
    try:
        result = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                                errors="replace", timeout=120, preexec_fn=limit)
    except subprocess.TimeoutExpired:
        return None, ""
    return result.returncode, result.stderr


def mutate(text, choice):
    """One or all numbers of a line that are equal become another number."""
    places = list(SIZE.finditer(text))
    place = choice.choice(places)
    number = choice.choice(NUMBERS)
    if choice.random() < 0.3:  # wherever it stands: types stay consistent
        whole = re.compile(r"(?<=[<x])" + re.escape(place.group()) + r"(?=x)")
        if len(whole.findall(text)) > 1:
            return whole.sub(number, text), f"every {place.group()}x becomes {number}x"
    line = text.count("\n", 0, place.start()) + 1
    return (text[:place.start()] + number + text[place.end():],
            f"line {line}: {place.group()} becomes {number}")


def check(dump, phase, case):
    name = f"{dump.parent.name}/{phase}"
    choice = random.Random(f"{args.seed} {name} {case}")
    changed, what = mutate(dump.read_text(), choice)
    path = args.work / f"changed-{dump.parent.name}-{phase}-{case}.mlir"
    path.write_text(changed)
    code, text = call([args.weft, "compile", path, "--from", phase, "-o", args.work / "program"])
    good = code == 0 or (code in (3, 4) and re.search("^weft: error: ", text, re.M) and str(path) in text)
    if good:
        path.unlink()
        return code
    sys.exit(f"expects exit 0, or 3 or 4 with a message at a place, but got {code} from {name} with {what}\n"
             f"again: --seed {args.seed} --only {name}:{case}, the input is {path}\n{text[:2000]}")


args.work.mkdir(parents=True, exist_ok=True)
codes = {}
for model, (source, flags) in MODELS.items():
    dumps = args.work / model
    code, text = call([args.weft, "compile", args.source / "examples" / source, *flags, "--dump-dir", dumps,
                       "-o", args.work / "program"])
    assert code == 0, text
    for dump in sorted(dumps.glob("*.mlir")):
        phase = dump.stem.split("-", 1)[1]
        if dump.stat().st_size > 4 << 20:
            continue
        for case in range(args.cases):
            if args.only and args.only != f"{model}/{phase}:{case}":
                continue
            code = check(dump, phase, case)
            codes[code] = codes.get(code, 0) + 1
if not args.only and not (codes.get(0) and codes.get(3)):
    sys.exit(f"expects dumps that compile and dumps that are refused, but got {codes}")
print(f"{sum(codes.values())} dumps with absurd sizes ended well: {codes}")
