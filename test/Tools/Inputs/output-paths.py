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
    for command in COMMANDS:
        result = run(command)
        after = snapshot()
        if result.returncode != 2 or b"expects a file" not in result.stderr or after != before:
            failures += 1
            changed = [path for path in {**before, **after} if before.get(path) != after.get(path)]
            print(f"{' '.join(command)}: exit {result.returncode}, changed {changed}\n"
                  f"{result.stderr.decode()}")
            before = after
    # Outputs may share a device, and may replace a file that is no input.
    must(RUN + ["--metrics", "/dev/null", "--trace", "/dev/null"])
    must(COMPILE + ["-o", "mlp"])
    print(f"{len(COMMANDS)} commands, {failures} wrong")


main()
