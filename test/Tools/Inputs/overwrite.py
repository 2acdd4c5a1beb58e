"""overwrite.py EXAMPLES: each output of each tool, over files of others and its own.

A file of somebody is kept with exit 2 and a hint, byte for byte; --overwrite
replaces it; what the command wrote is replaced by the same command without a
word; an empty file and /dev/null are taken.
"""

import os
import sys

from programs import make_programs, must, run

RUN = ["./mlp", "--data", "digits.safetensors", "--steps", "1", "--threads", "1", "--progress", "none"]
COMPILE = ["weft", "compile", "model.mlir"]
THESIS = b"my thesis, ten years of work\n" * 50

# Role in the message, command before the name of the output, exit of success.
OUTPUTS = [
    ("--output", COMPILE + ["-o"]),
    ("--output", COMPILE + ["--emit", "obj", "-o"]),
    ("--output", COMPILE + ["--emit", "llvm", "-o"]),
    ("--output", COMPILE + ["--emit", "graph", "-o"]),
    ("--output", COMPILE + ["--emit", "plan", "-o"]),
    ("--output", COMPILE + ["--emit", "timeline", "-o"]),
    ("--output", COMPILE + ["--to", "fuse", "-o"]),
    ("--trace", RUN + ["--trace"]),
    ("--dump-grads", RUN + ["--dump-grads"]),
    ("--trace", ["weft", "train", *COMPILE[2:], *RUN[1:], "--trace"]),
    ("--outputs", ["weft-interp", "import.mlir", "--print=off", "--outputs"]),
    ("--save-state", ["weft-interp", "import.mlir", "--print=off", "--save-state"]),
    ("-o", ["weft-opt", "model.mlir", "-o"]),
]

failures = 0


def expect(condition, *words):
    global failures
    if not condition:
        failures += 1
        print("wrong:", *words)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def check(role, command):
    line = " ".join(command)
    write("out", THESIS)
    kept = run(command + ["out"])
    said = kept.stderr.decode()
    expect(kept.returncode == 2 and read("out") == THESIS, line, "does not keep", kept.returncode, said)
    expect(f"{role} expects a new file, or one that weft wrote, but got another file" in said, line, said)
    expect("hint: it stays as it is; choose another name, or --overwrite replaces it" in said, line, said)
    for before in (["--overwrite"], []):
        result = run(command + ["out"] + before)
        expect(result.returncode == 0, line, before, result.returncode, result.stderr.decode())
        expect(read("out") != THESIS, line, before, "writes nothing")
        expect(not [name for name in os.listdir(".") if ".tmp" in name], line, "leaves temporaries")
    write("out", b"")
    result = run(command + ["out"])
    expect(result.returncode == 0 and read("out"), line, "empty file", result.stderr.decode())
    result = run(command + ["/dev/null"])
    expect(result.returncode == 0, line, "/dev/null", result.stderr.decode())


def check_dumps():
    command = COMPILE + ["--to", "autocast", "--dump-dir", "dumps", "-o", "/dev/null"]
    must(command)
    must(command)  # unedited dumps are replaced
    name = "dumps/" + sorted(os.listdir("dumps"))[1]
    edited = read(name) + b"// my experiment\n"
    write(name, edited)
    for more in ([], ["--overwrite"]):
        result = run(command + more)
        said = result.stderr.decode()
        expect(result.returncode == 2 and read(name) == edited, "an edited dump", result.returncode, said)
        expect("but got one that was edited since\nhint: it stays as it is; move it" in said, said)
    # Such a dump is one to go on from, elsewhere.
    phase = os.path.basename(name)[3:-5]
    must(["weft", "compile", name, "--from", phase, "--to", "autocast", "--dump-dir", "other", "-o", "/dev/null"])


def check_metrics():
    write("out", THESIS)
    result = run(RUN + ["--metrics", "out"])
    expect(result.returncode == 2 and read("out") == THESIS, "--metrics", result.stderr.decode())
    for more in (["--overwrite"], []):
        result = run(RUN + ["--metrics", "out"] + more)
        expect(result.returncode == 0 and b"my thesis" not in read("out"), "--metrics", result.stderr.decode())
    # Another output does not replace metrics.
    metrics = read("out")
    result = run(RUN + ["--trace", "out"])
    expect(result.returncode == 2 and read("out") == metrics, "--trace over metrics", result.stderr.decode())
    result = run(RUN + ["--overwrite"])
    expect(result.returncode == 2 and b"--overwrite expects --metrics, --trace" in result.stderr, result.stderr)


def check_default_name():
    os.makedirs("elsewhere")
    write("elsewhere/model", THESIS)
    result = run(["weft", "compile", "../model.mlir"], cwd="elsewhere")
    expect(result.returncode == 2 and read("elsewhere/model") == THESIS, "the default name", result.stderr.decode())
    expect(b"the program expects a new file" in result.stderr, result.stderr)


def check_export():
    must(["weft", "ckpt", "export", "ck", "export"])
    weights = read("export/model.safetensors")
    write("export/model.safetensors", THESIS)
    result = run(["weft", "ckpt", "export", "ck", "export"])
    expect(result.returncode == 2 and read("export/model.safetensors") == THESIS, "export", result.stderr)
    expect(b"--overwrite replaces it" in result.stderr, result.stderr)
    must(["weft", "ckpt", "export", "ck", "export", "--overwrite"])
    expect(read("export/model.safetensors") == weights, "export --overwrite")


def main():
    make_programs(sys.argv[1])
    must(COMPILE + ["--to", "import", "-o", "import.mlir"])
    for role, command in OUTPUTS:
        check(role, command)
    check_dumps()
    check_metrics()
    check_default_name()
    check_export()
    print(f"{len(OUTPUTS)} outputs, {failures} wrong")


main()
