"""Reads a checkpoint of several blocks, whole and damaged, and data that changes.

Usage: reading.py --weft WEFT --work DIR

 * a resumed run holds the program's memory and little more (the checkpoint is
   read in pieces, straight to its place), and goes on bit for bit;
 * a flipped bit in any block is found by `weft ckpt verify` and by a resume,
   both name file and block, and nothing is written before; --resume=auto goes
   on from the step before;
 * data that is replaced by a rename changes nothing; data that is cut or gets
   wrong values ends the run with exit 3 after a save, from which it goes on.
"""

import argparse
import array
import filecmp
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import time

ROWS, WIDE, BATCH = 4096, 65536, 4
BLOCK = 16 << 20
MODEL = f"""
module @wide {{
  weft.param @a : tensor<{WIDE}x64xf32> {{init = #weft.init<uniform, -0.125, 0.125>}}
  weft.param @b : tensor<10x{WIDE}xf32> {{init = #weft.init<uniform, -0.01, 0.01>}}
  weft.program @model(%x: tensor<{BATCH}x64xf32> {{weft.input = "x"}},
                      %y: tensor<{BATCH}xi32> {{weft.input = "y"}})
      -> (tensor<f32> {{weft.output = "loss"}}) attributes {{kind = #weft.kind<model>}} {{
    %a = weft.read @a : tensor<{WIDE}x64xf32>
    %h = weft.matmul %x, %a {{transpose_rhs}} : tensor<{BATCH}x64xf32>, tensor<{WIDE}x64xf32>
    %r = weft.relu %h : tensor<{BATCH}x{WIDE}xf32>
    %b = weft.read @b : tensor<10x{WIDE}xf32>
    %s = weft.matmul %r, %b {{transpose_rhs}} : tensor<{BATCH}x{WIDE}xf32>, tensor<10x{WIDE}xf32>
    %loss, %lse, %denom = weft.cross_entropy %s, %y : tensor<{BATCH}x10xf32>, tensor<{BATCH}xi32>
    weft.return %loss : tensor<f32>
  }}
}}
"""

parser = argparse.ArgumentParser()
parser.add_argument("--weft", default="weft")
parser.add_argument("--work", required=True, type=pathlib.Path)
args = parser.parse_args()
shutil.rmtree(args.work, ignore_errors=True)
args.work.mkdir(parents=True)
args.weft = os.path.abspath(shutil.which(args.weft) or args.weft)
os.chdir(args.work)


def check(condition, text):
    if not condition:
        sys.exit(text)


def write_data(path, seed):
    values = random.Random(seed)
    x = array.array("f", (values.random() for _ in range(ROWS * 64)))
    y = array.array("i", (values.randrange(10) for _ in range(ROWS)))
    header = json.dumps({
        "x": {"dtype": "F32", "shape": [ROWS, 64], "data_offsets": [0, ROWS * 256]},
        "y": {"dtype": "I32", "shape": [ROWS], "data_offsets": [ROWS * 256, ROWS * 260]}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + x.tobytes() + y.tobytes())


def command(*more, data="data.safetensors"):
    return ["./program", f"--data={data}", "--threads=1", "--shuffle", "--lr=1e-4", "--progress=none", *map(str, more)]


def run(*more, expect=0, data="data.safetensors"):
    result = subprocess.run(command(*more, data=data), capture_output=True, text=True)
    check(result.returncode == expect, f"{more}: exit {result.returncode}, not {expect}: {result.stderr}")
    return result.stderr


def equal(a, b):
    for name in ("rank_00000.safetensors", "model.json"):
        check(filecmp.cmp(f"{a}/{name}", f"{b}/{name}", shallow=False), f"{name} of {a} and {b} differ")


pathlib.Path("model.mlir").write_text(MODEL)
write_data(pathlib.Path("data.safetensors"), seed=1)
subprocess.run([args.weft, "compile", "model.mlir", "-o", "program"], check=True)

# Memory of a resumed run, by the kernel's count of the process.
run("--steps=3", "--save-dir=whole")
run("--steps=2", "--save-dir=ck", "--save-every=1")
child = subprocess.Popen(command("--steps=3", "--save-dir=other", "--resume=ck", "--metrics=m.jsonl"))
_, status, usage = os.wait4(child.pid, 0)
check(status == 0, f"the resumed run ended with {status}")
equal("whole/step_00000003", "other/step_00000003")
arena = json.loads(open("m.jsonl").readline())["arena_bytes"]
peak, saved = usage.ru_maxrss * 1024, os.path.getsize("ck/step_00000002/rank_00000.safetensors")
print(f"arena {arena >> 20} MiB, checkpoint {saved >> 20} MiB, peak {peak >> 20} MiB")
check(peak < arena + (48 << 20), "a resumed run holds more than its arena and 48 MiB")

# One bit of every block.
step = "ck/step_00000002"
rank = f"{step}/rank_00000.safetensors"


def flip(place):
    with open(rank, "r+b") as file:
        file.seek(place)
        byte = file.read(1)[0]
        file.seek(place)
        file.write(bytes([byte ^ 4]))


blocks = (saved + BLOCK - 1) // BLOCK
check(blocks >= 3, f"expects several blocks, but got {blocks}")
values = random.Random(7)
for block in range(blocks):
    place = values.randrange(block * BLOCK, min(saved, (block + 1) * BLOCK))
    flip(place)
    wanted = f"{rank}: expects digest "
    for found in (
            run("--steps=3", "--resume=" + step, "--save-dir=new", "--metrics=new.jsonl", expect=5),
            run("--steps=3", "--resume=" + step, "--dry-run", expect=5),
            subprocess.run([args.weft, "ckpt", "verify", "ck"], capture_output=True, text=True).stderr):
        check(wanted in found and f" of block {block} (bytes " in found, f"bit flipped at {place}: {found}")
    check(not os.path.exists("new") and not os.path.exists("new.jsonl"), "something was written before the check")
    if block == blocks // 2:
        found = run("--steps=3", "--save-dir=ck", "--resume=auto")
        check("passing over a damaged checkpoint: " + wanted in found, found)
        equal("whole/step_00000003", "ck/step_00000003")
        shutil.rmtree("ck")
        run("--steps=2", "--save-dir=ck", "--save-every=1")
    else:
        flip(place)
print(f"{blocks} blocks")


def remove(*names):
    subprocess.run(["rm", "-rf", *names], check=True)


def steps_of(metrics):
    return len(open(metrics).readlines()) if os.path.exists(metrics) else 0


def started(*more, data):
    """A run whose third step is behind it."""
    child = subprocess.Popen(command(*more, "--metrics=run.jsonl", data=data), stderr=subprocess.PIPE, text=True)
    while child.poll() is None and steps_of("run.jsonl") < 4:
        time.sleep(0.005)
    return child


def newest(folder):
    return max(pathlib.Path(folder).glob("step_????????"))


def change(name, what, accum):
    """Changes the data while a run reads it; the steps that were whole are saved."""
    remove("run.jsonl", "saves", "clean")
    shutil.copy("data.safetensors", name)
    child = started("--steps=1000", f"--accum={accum}", "--save-dir=saves", data=name)
    what(name)
    error = child.communicate()[1]
    check(child.returncode == 3, f"{name}: exit {child.returncode}: {error}")
    check(f"weft: error: {name}: " in error and "all complete steps are saved" in error, error)
    last = newest("saves")
    print(f"{name}: {error.splitlines()[0]}; saved {last.name}")
    run(f"--steps={int(last.name[5:])}", f"--accum={accum}", "--save-dir=clean")
    equal(last, f"clean/{last.name}")
    # With the data back the run resumes.
    run(f"--steps={int(last.name[5:]) + 1}", f"--accum={accum}", "--save-dir=saves", "--resume=auto")


def cut(name):
    os.truncate(name, 20000)


def spoil(name):
    with open(name, "r+b") as file:
        file.seek(-4 * ROWS, os.SEEK_END)
        file.write(struct.pack("<i", 10) * ROWS)


change("cut.safetensors", cut, accum=3)
change("spoiled.safetensors", spoil, accum=1)

# Another file under the same name: the run keeps reading the one it opened.
remove("run.jsonl", "saves", "clean")
shutil.copy("data.safetensors", "replaced.safetensors")
child = started("--steps=30", "--save-dir=saves", data="replaced.safetensors")
write_data(pathlib.Path("new.safetensors"), seed=2)
os.rename("new.safetensors", "replaced.safetensors")
check(child.wait() == 0, child.stderr.read())
run("--steps=30", "--save-dir=clean")
equal("saves/step_00000030", "clean/step_00000030")
print("replaced: the same")
