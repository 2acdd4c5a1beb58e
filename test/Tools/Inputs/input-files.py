"""input-files.py EXAMPLES FLAGS.md: no command accepts a file that cannot be what its flag names.

Each command of the table gets a missing file, a folder, an empty file, one of a
line end and one of random bytes. It ends with 2, 3 or 5 and one error that names
the file, and writes nothing. The table has every flag of FLAGS.md that reads a
file.
"""

import os
import random
import re
import shutil
import sys

from programs import make_language_model, make_programs, must, run

COMPILE = ["weft", "compile", "small", "--batch", "2", "--seq", "16", "-o", "out/program"]
DIGITS = ["--data", "digits.safetensors"]
RUN = ["./mlp", "--steps", "1", "--threads", "1"]
LM = ["./gpt", "--steps", "1", "--threads", "1", "--metrics", "out/metrics"]
# @ is the name of the file.
COMMANDS = [
    COMPILE + ["--groups", "@"],
    COMPILE + ["--precision", "bf16", "--autocast-lists", "@"],
    COMPILE + ["--mesh", "dp:2", "--shard-rules", "@"],
    COMPILE + ["--cost-table", "@"],
    COMPILE + ["--mesh", "dp:2", "--cluster", "@"],
    ["weft", "compile", "small", "--mesh", "dp:2", "--cluster", "@", "--dry-run"],
    COMPILE + ["--load-pass-plugin", "@"],
    COMPILE + ["--config", "@"],
    ["weft", "compile", "@", "-o", "out/program"],
    ["weft", "compile", "@", "--from", "import", "-o", "out/program"],
    RUN + DIGITS + ["--config", "@"],
    RUN + ["--data", "@"],
    RUN + DIGITS + ["--val-data", "@"],
    RUN + DIGITS + ["--init-from", "@"],
    RUN + DIGITS + ["--resume", "@"],
    LM + ["--data", "text.txt", "--init-from", "@"],
    ["weft", "train", "@", "--steps", "1", "--data", "text.txt", "--save-dir", "out/run"],
    ["weft", "evaluate", "@", "--val-data", "text.txt"],
    ["weft", "generate", "@", "--prompt", "a"],
    ["weft", "generate", "gpt", "--resume", "@", "--prompt", "a"],
    ["weft", "predict", "small", "--data", "text.txt", "--init-from", "@", "-o", "out/results"],
    ["weft", "inspect", "@"],
    ["weft", "inspect", "@", "--memory"],
    ["weft", "inspect", "mlp", "--profile", "@"],
    ["weft", "inspect", "mlp", "--roofline", "--device", "@.toml"],
    ["weft", "inspect", "mlp", "--roofline", "--device", "costs.toml", "--instructions", "@"],
    ["weft", "ckpt", "verify", "@"],
    ["weft", "ckpt", "export", "@", "out/model"],
    ["weft", "ckpt", "diff", "ck", "@"],
    ["weft", "report", "@", "-o", "out/report.html"],
    ["weft", "tokenize", "--tokenizer", "@", "text.txt"],
    ["weft", "data", "prepare", "text.txt", "--tokenizer", "@", "-o", "out/tokens.bin"],
    ["weft", "check", "@", "--grad"],
    ["weft", "launch", "@"],
]
# Here any bytes but none are a text or tokens.
TEXTS = [
    LM + ["--data", "@"],
    LM + ["--data", "text.txt", "--val-data", "@"],
    LM + ["--data", "@", "--data-format", "u16"],
    ["weft", "train", "small", "--steps", "1", "--data", "@", "--metrics", "out/metrics"],
    ["weft", "evaluate", "small", "--val-data", "@", "--metrics", "out/metrics"],
    ["weft", "predict", "small", "--data", "@", "-o", "out/results"],
    ["weft", "data", "prepare", "@", "--tokenizer", "bytes", "--end-of-text", "none", "-o", "out/tokens.bin"],
]
# Files that commands write, and the one that a program for the CPU refuses.
OTHER_FLAGS = {"output", "reproducer", "predictions", "metrics", "trace", "dump-grads", "tune", "tuning"}


def make_files():
    make_programs(sys.argv[1])
    make_language_model(sys.argv[1])
    with open("costs.toml", "w") as file:
        file.write('format = 2\ntarget = "cpu"\ngflops = 20\n')
    contents = {"empty": b"", "line": b"\n", "random": random.Random(1).randbytes(5000)}
    for ending in ("", ".toml"):
        os.makedirs("folder" + ending, exist_ok=True)
        for name, content in contents.items():
            with open(name + ending, "wb") as file:
                file.write(content)


def find_problem(command, name):
    shutil.rmtree("out", ignore_errors=True)
    os.mkdir("out")
    result = run(command)
    said = result.stderr.decode()
    if result.returncode not in (2, 3, 5):
        return f"ends with {result.returncode}", said
    if said.count("weft: error: ") != 1 or said.count("\n") > 2:
        return "does not say one error", said
    if not re.match(rf"weft: error: (\S*/)?{name}(\.toml)?(:[1-9][0-9]*)*: ", said):
        return "does not begin with the name of the file", said
    return ("writes " + ", ".join(os.listdir("out")), said) if os.listdir("out") else None


def check_flags():
    with open(sys.argv[2]) as file:
        flags = set(re.findall(r"^\| `(?:-\w, )?--([\w-]+) (?:FILE|FILE\\\|[\w|\\]+)` ", file.read(), re.MULTILINE))
    used = {word[2:] for command in COMMANDS + TEXTS for word in command if word.startswith("--")}
    assert len(flags) > 12, flags
    for flag in sorted(flags - used - OTHER_FLAGS):
        raise SystemExit(f"expects a command with --{flag} in the table, but found none")


check_flags()
make_files()
wrong = 0
kinds = {"missing": COMMANDS + TEXTS, "folder": COMMANDS + TEXTS, "empty": COMMANDS + TEXTS, "line": COMMANDS,
         "random": COMMANDS}
for name, commands in kinds.items():
    for command in commands:
        problem = find_problem([word.replace("@", name) for word in command], name)
        if problem:
            wrong += 1
            print(" ".join(command).replace("@", name), *problem, sep=": ")
print(f"{wrong} of {sum(map(len, kinds.values()))} wrong")
sys.exit(wrong > 0)
