"""flag-extremes.py EXAMPLES COUNT: every flag of every tool with extreme values.

The flags are those of each tool's own --help, so that a new one is tried too;
positional arguments count as flags. COUNT cases are drawn by the seed, 0 takes
all. A case is right if it ends in time with an exit code that the documents
name, with a message without control bytes when it is not 0, and with all inputs
as they were.
"""

import hashlib
import os
import random
import re
import shutil
import stat
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "Tools", "Inputs"))
from programs import make_language_model, make_programs, must, run  # noqa: E402

CODES = {0, 2, 3, 4, 5, 6, 8, 9}
TIMEOUT = 120

NUMBERS = ["0", "1", "-1", "-0", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
           "1000000000000000", "4294967296", "1e308", "1e400", "1e-400", "4.9e-324", "nan", "inf", "-inf",
           "0x10", "1.5", "1_000", " 1", "1K", "9999999999G"]
TEXTS = ["", "a" * 70000, "\x1b[31mred\x07\r\n", b"\xff\xfe\xc2\x9b", "%s%n", "'\"{}", ",,,", "none", "auto",
         "cpu:x", "é"]
FILES = ["fifo", "/dev/zero", "/dev/full", "/dev/null", "folder", "missing", "missing/file", "garbage", "empty",
         "deep.json", "unreadable", "loop", "socketless/", "x" * 300]
VALUES = NUMBERS + TEXTS + FILES

# Values that each kind of number in the help must refuse.
REFUSED = {
    "N": {"nan", "inf", "-inf", "1e308", "1e400", "1.5", "1_000", "9223372036854775808", "", "none", "missing"},
    "X": {"nan", "inf", "-inf", "1e400", "1_000", "", "none", "missing"},
    "BYTES": {"nan", "-1", "1.5", "1_000", "9223372036854775808", "9999999999G", "", "none", "missing"},
}

# No limit and no bound are meant.
MAY_BE_INFINITE = {"clip", "tolerance"}

# Flags that give another flag an effect, or limit the time that its legal values take.
NEEDS = {
    "steps": ["--dry-run"],
    "epochs": ["--dry-run"],
    "accum": ["--dry-run"],
    "max-new-tokens": ["--dry-run", "--generate=a"],
    "temperature": ["--generate=a", "--max-new-tokens=2"],
    "top-k": ["--generate=a", "--max-new-tokens=2"],
    "top-p": ["--generate=a", "--max-new-tokens=2"],
    "min-p": ["--generate=a", "--max-new-tokens=2"],
    "repetition-penalty": ["--generate=a", "--max-new-tokens=2"],
    "stop": ["--generate=a", "--max-new-tokens=2"],
    "generate": ["--max-new-tokens=2"],
    "min-lr": ["--lr-schedule=cosine"],
    "lr-decay-steps": ["--lr-schedule=linear"],
    "warmup": ["--lr-schedule=wsd", "--lr-decay-steps=1000000000000000"],
    "eval-every": ["--val-fraction=0.2"],
    "eval-steps": ["--val-fraction=0.2"],
    "save-every": ["--save-dir=out"],
    "keep": ["--save-dir=out"],
    "stop-after": ["--save-dir=out"],
    "seq": ["--dry-run"],
    "batch": ["--dry-run"],
    "scaler-growth": ["--precision=f16"],
    "scaler-backoff": ["--precision=f16"],
    "scaler-init": ["--precision=f16"],
    "scaler-interval": ["--precision=f16"],
    "scaler-min": ["--precision=f16"],
    "autocast-lists": ["--precision=bf16"],
    "shard-min": ["--mesh=dp:2"],
    "shard-rules": ["--mesh=dp:2"],
    "elements": ["--seq=1"],
}


class Tool:
    """`command` with a flag behind it, and the arguments it has anyway."""

    def __init__(self, command, base, extra=(), help_of=None):
        self.command, self.base, self.extra = command, base, list(extra)
        shown = run((help_of or command) + ["--help-all"])
        if shown.returncode != 0:  # a command with few flags
            shown = must((help_of or command) + ["--help"])
        text = shown.stdout.decode()
        self.kinds = dict(re.findall(r"^  (?:-\w, )?--([a-z0-9-]+) ([A-Z]+) ", text, re.MULTILINE))
        self.flags = re.findall(r"^  (?:-\w, )?--([a-z0-9-]+)", text, re.MULTILINE)

    def cases(self):
        for flag in self.flags + self.extra:
            for value in VALUES:
                yield self, flag, value

    def arguments(self, flag, value):
        value = value if isinstance(value, bytes) else value.encode()
        if flag == "":  # the positional argument
            return [*self.command, value, *self.base[1:]]
        taken = "steps" if flag == "epochs" else flag  # they exclude each other
        base = [arg for arg in self.base if not arg.startswith(f"--{taken}=")]
        if flag in ("output", "emit"):
            base = [arg for arg in base if not arg.startswith(("-o", "--to="))]
        needs = [arg for arg in NEEDS.get(flag, []) if arg.split("=")[0][2:] in self.flags]
        return [*self.command, *base, *needs, f"--{flag}=".encode() + value]


def tools():
    model = "in/model.mlir"
    small = ["in/small", "--seq=16", "--batch=2"]
    mlir = ["mlir-timing", "mlir-print-ir-after", "mlir-nonsense"]
    return [
        Tool(["weft", "compile"], [model, "--to=estimate", "-o=out/x"], ["", *mlir]),
        Tool(["weft", "compile"], [*small, "--to=estimate"]),
        Tool(["weft", "train"], [model, "--data=in/digits.safetensors", "--steps=1"], [""]),
        Tool(["weft", "generate"], ["in/gpt", "--prompt=a", "--max-new-tokens=1", "--threads=1"], [""]),
        Tool(["weft", "evaluate"], ["in/gpt", "--val-data=in/text.txt", "--threads=1"], [""]),
        Tool(["weft", "check"], [model, "--grad"], [""]),
        Tool(["weft", "inspect"], ["in/mlp"], [""]),
        Tool(["weft", "ckpt", "ls"], ["in/ck"], [""], ["weft", "ckpt"]),
        Tool(["weft", "ckpt", "verify"], ["in/ck"], [""], ["weft", "ckpt"]),
        Tool(["weft", "ckpt", "diff", "in/ck"], ["in/ck"], [""], ["weft", "ckpt"]),
        Tool(["weft", "ckpt", "export", "in/ck"], ["out"], [""], ["weft", "ckpt"]),
        Tool(["weft", "cache"], ["ls"], [""]),
        Tool(["in/mlp"], ["--data=in/digits.safetensors", "--steps=1"]),
        Tool(["in/gpt"], ["--data=in/text.txt", "--steps=1", "--threads=1"]),
        Tool(["weft-interp"], ["in/graph.mlir", "--print=off"], [""]),
    ]


def make_specials():
    shutil.rmtree("scratch", ignore_errors=True)
    os.makedirs("scratch/folder")
    os.symlink(os.path.abspath("in"), "scratch/in")
    os.mkfifo("scratch/fifo")
    os.symlink("loop", "scratch/loop")
    for name, text in (("garbage", bytes(range(256)) * 9), ("empty", b""), ("unreadable", b"x"),
                       ("deep.json", b"[" * 100000)):
        with open(os.path.join("scratch", name), "wb") as out:
            out.write(text)
    os.chmod("scratch/unreadable", 0)


def digest_inputs():
    digest = hashlib.sha256()
    for folder, _, files in sorted(os.walk("in")):
        for name in sorted(files):
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                digest.update(path.encode() + file.read())
    return digest.hexdigest()


def spoils(text):
    """Whether the text has control bytes other than line ends, or is no UTF-8."""
    try:
        return any(byte < " " and byte != "\n" or "\x7f" <= byte < "\xa0" for byte in text.decode())
    except UnicodeDecodeError:
        return True


def try_case(tool, flag, value):
    """The problem, or nothing."""
    command = [arg.encode() if isinstance(arg, str) else arg for arg in tool.arguments(flag, value)]
    try:
        result = subprocess.run(command, cwd="scratch", stdin=subprocess.DEVNULL, capture_output=True,
                                timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return "hangs"
    except OSError as error:
        return str(error)
    if result.returncode not in CODES:
        return f"exit {result.returncode}: {result.stderr[-500:]!r}"
    refused = value in REFUSED.get(tool.kinds.get(flag), ()) and not (value == "inf" and flag in MAY_BE_INFINITE)
    if refused and result.returncode != 2:
        return f"exit {result.returncode} with a value that is none: {result.stderr[-500:]!r}"
    if spoils(result.stderr):
        return f"control bytes: {result.stderr[:500]!r}"
    if result.returncode and b"weft: error: " not in result.stderr and b"error:" not in result.stderr:
        return f"exit {result.returncode} without a message: {result.stderr[:300]!r}"
    return None


def prepare(examples):
    os.makedirs("in", exist_ok=True)
    os.chdir("in")
    make_programs(examples)
    make_language_model(examples)
    must(["weft", "compile", "model.mlir", "--to=import", "-o", "graph.mlir"])
    os.chdir("..")
    # Programs are found from the scratch folder, too.
    for name in ("mlp", "gpt"):
        os.chmod(os.path.join("in", name), stat.S_IRWXU)


def main():
    examples, count = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    seed = int(os.environ.get("WEFT_CAMPAIGN_SEED", "1"))
    only = sys.argv[3] if len(sys.argv) > 3 else ""
    prepare(examples)
    before, wrong = digest_inputs(), 0
    cases = [case for tool in tools() for case in tool.cases() if only in " ".join(tool.command) + " --" + case[1]]
    if count:
        cases = random.Random(seed).sample(cases, min(count, len(cases)))
    for tool, flag, value in cases:
        make_specials()
        problem = try_case(tool, flag, value)
        if not problem and digest_inputs() != before:
            problem, before = "changed an input", digest_inputs()
        if problem:
            wrong += 1
            print(f"seed {seed}: {' '.join(map(str, tool.arguments(flag, value)))[:300]}: {problem}", flush=True)
    print(f"{len(cases)} cases, {wrong} wrong")


main()
