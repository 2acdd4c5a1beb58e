"""output-paths.py EXAMPLES: no command overwrites its inputs.

Every command of the table ends with 2 and leaves the folder byte for byte.
"""

import hashlib
import os
import sys

from programs import make_language_model, make_programs, must, run

RUN = ["./mlp", "--data", "digits.safetensors", "--steps", "1", "--threads", "1"]
LM = ["./gpt", "--data", "text.txt", "--steps", "1", "--threads", "1"]
TRAIN = ["weft", "train", "model.mlir", "--data", "digits.safetensors", "--steps", "1"]
COMPILE = ["weft", "compile", "model.mlir"]
STEP = "ck/step_00000001/"

COMMANDS = [
    *[RUN + [flag, file]
      for flag in ("--metrics", "--trace", "--dump-grads")
      for file in ("digits.safetensors", "link", "mlp", STEP + "MANIFEST.json",
                   STEP + "rank_00000.safetensors", STEP + "new")],
    RUN + ["--val-data", "val.safetensors", "--metrics", "val.safetensors"],
    RUN + ["--metrics", "new", "--trace", "new"],
    RUN + ["--trace", "here/new", "--dump-grads", "new"],
    LM + ["--metrics", "small/model.safetensors"],
    LM + ["--init-from", "shards", "--metrics", "shards/a.safetensors"],
    LM + ["--init-from", "shards", "--trace", "shards/model.safetensors.index.json"],
    TRAIN + ["--metrics", "model.mlir"],
    TRAIN + ["--groups", "groups.toml", "--trace", "groups.toml"],
    TRAIN + ["--metrics", "digits.safetensors"],
    ["weft", "train", "small", "--data", "text.txt", "--steps", "1", "--metrics", "small/config.json"],
    COMPILE + ["-o", "model.mlir"],
    COMPILE + ["--groups", "groups.toml", "-o", "groups.toml"],
    COMPILE + ["--cost-table", "costs.toml", "-o", "here/costs.toml"],
    COMPILE + ["--emit", "graph", "-o", "model.mlir"],
    COMPILE + ["--emit", "obj", "-o", "model.mlir"],
    COMPILE + ["--to", "fuse", "-o", "model.mlir"],
    COMPILE + ["-o", "new", "--reproducer", "new"],
    COMPILE + ["-o", "dumps/17-fuse.mlir", "--dump-dir", "dumps"],
    ["weft", "compile", "dumps/00-import.mlir", "--from", "import", "-o", "dumps/00-import.mlir"],
    ["weft", "compile", "small", "-o", "small/config.json"],
    ["weft", "compile", "small", "-o", "small/model.safetensors"],
    ["weft", "compile", "weights.mlir", "--from", "import", "--overwrite", "-o", "small/model.safetensors"],
    ["weft", "ckpt", "export", "ck", STEP[:-1]],
    ["weft-interp", "dumps/00-import.mlir", "--outputs", "dumps/00-import.mlir"],
    ["weft-interp", "dumps/00-import.mlir", "--inputs", "digits.safetensors", "--outputs", "link"],
    ["weft-interp", "dumps/00-import.mlir", "--outputs", "new", "--save-state", "new"],
    ["weft-opt", "model.mlir", "-o", "model.mlir"],
    # The name of standard output is no file, and these are no text for it.
    *[RUN + [flag, "-"] for flag in ("--metrics", "--trace", "--dump-grads")],
    TRAIN + ["--metrics", "-"],
    COMPILE + ["-o", "-"],
    COMPILE + ["--emit", "obj", "-o", "-"],
    COMPILE + ["-o", "new", "--reproducer", "-"],
    ["weft", "predict", "small", "--data", "text.txt", "-o", "-"],
    ["weft", "predict", "gpt", "--data", "text.txt", "-o", "-"],
    ["weft", "data", "prepare", "text.txt", "--tokenizer", "bytes", "--end-of-text", "none", "-o", "-"],
    ["weft-interp", "dumps/00-import.mlir", "--outputs", "-"],
    ["weft-interp", "dumps/00-import.mlir", "--save-state", "-"],
]

FOLDERS = [
    RUN + ["--save-dir", "-"],
    RUN + ["--tensorboard", "-"],
    TRAIN + ["--save-dir", "-"],
    COMPILE + ["-o", "new", "--dump-dir", "-"],
    ["weft", "ckpt", "export", "ck", "-"],
]

TEXTS = [
    COMPILE + ["--emit", "graph"],
    COMPILE + ["--to", "fuse"],
    ["weft", "tokenize", "text.txt", "--tokenizer", "bytes"],
    ["weft", "tokenize", "ids.txt", "--tokenizer", "bytes", "--decode"],
]


def snapshot():
    """Every file with its digest."""
    state = {}
    for folder, _, files in os.walk("."):
        for name in files:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                state[path] = hashlib.sha256(file.read()).hexdigest()
    return state


def prepare(examples):
    make_programs(examples)
    make_language_model(examples)
    os.symlink("digits.safetensors", "link")
    os.symlink(".", "here")
    os.link("digits.safetensors", "val.safetensors")
    must(RUN + ["--metrics", "metrics.jsonl"])
    with open("ids.txt", "w") as ids:
        ids.write("104 105\n")
    os.makedirs("dumps")
    os.makedirs("shards")
    for name in ("groups.toml", "costs.toml"):
        open(name, "w").close()
    must(["weft", "compile", "model.mlir", "--to", "import", "-o", "dumps/00-import.mlir"])
    must(["weft", "compile", "small", "--to", "import", "-o", "weights.mlir"])
    with open("shards/model.safetensors.index.json", "w") as index:
        index.write('{"weight_map": {"x": "a.safetensors"}}')
    with open("shards/a.safetensors", "w") as shard:
        shard.write("weights")


def main():
    prepare(sys.argv[1])
    before, failures = snapshot(), 0
    for command in COMMANDS + FOLDERS:
        result = run(command)
        after = snapshot()
        rule = b"expects a folder" if command in FOLDERS else b"expects a file"
        if result.returncode != 2 or rule not in result.stderr or after != before:
            failures += 1
            changed = [path for path in {**before, **after} if before.get(path) != after.get(path)]
            print(f"{' '.join(command)}: exit {result.returncode}, changed {changed}\n"
                  f"{result.stderr.decode()}")
            before = after
    # Text goes to standard output by the name `-`, as it does without a name.
    for command in TEXTS:
        named = must(command + ["-o", "-"]).stdout
        if not named or named != must(command).stdout or snapshot() != before:
            failures += 1
            print(f"{' '.join(command)}: other output with -o -, or a file")
    page = must(["weft", "report", "metrics.jsonl", "-o", "-"]).stdout
    if not page.startswith(b"<!DOCTYPE html>") or snapshot() != before:
        failures += 1
        print(f"weft report -o -: expects a page, but got {page[:80]}")
    # Outputs may share a device, and may replace a file that is no input.
    must(RUN + ["--metrics", "/dev/null", "--trace", "/dev/null"])
    must(COMPILE + ["-o", "mlp"])
    print(f"{len(COMMANDS) + len(FOLDERS) + len(TEXTS) + 1} commands, {failures} wrong")


main()
