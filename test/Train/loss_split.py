"""Trains a step on the same eight rows as one batch, and split into micro-steps and ranks.

Prints the loss of each split, and how far gradients are from those of one batch. With --none a run of three steps has
no counted target in its second one; prints its metrics, warnings, and what that step changed.

Usage: loss_split.py WORK DATA [--none [RANKS [COMPILE FLAG...]]]
"""
import json
import pathlib
import struct
import subprocess
import sys

import numpy as np

work, data = pathlib.Path(sys.argv[1]), sys.argv[2]
inputs = pathlib.Path(__file__).parent / "Inputs" / "loss-split"
work.mkdir(parents=True, exist_ok=True)


def read(path):
    raw = pathlib.Path(path).read_bytes()
    size = struct.unpack("<Q", raw[:8])[0]
    header, body = json.loads(raw[8:8 + size]), raw[8 + size:]
    header.pop("__metadata__", None)
    kinds = {"F32": np.float32, "I64": np.int64, "I32": np.int32}
    return {name: np.frombuffer(body[slice(*entry["data_offsets"])], kinds[entry["dtype"]]).reshape(entry["shape"])
            for name, entry in header.items()}


def write(path, tensors):
    header, body = {}, b""
    for name, value in tensors.items():
        header[name] = {"dtype": "I32", "shape": list(value.shape),
                        "data_offsets": [len(body), len(body) + value.nbytes]}
        body += value.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stdout}{done.stderr}")
    return done.stderr


def loopback(ranks):
    return [f"--loopback={ranks}"] if ranks > 1 else []


def build(batch, ranks, *flags):
    name = f"{batch}-{ranks}"
    model, program = work / f"{name}.mlir", work / name
    model.write_text((inputs / "model.mlir").read_text().replace("<8x6x", f"<{batch}x6x"))
    mesh = [f"--mesh=dp:{ranks}"] if ranks > 1 else []
    run("weft", "compile", model, "-o", program, *mesh, *flags)
    return program


def lines(path):
    return [line for line in map(json.loads, path.read_text().splitlines()) if "loss" in line]


def split():
    first = None
    for batch, ranks in ((8, 1), (4, 1), (2, 1), (1, 1), (4, 2), (1, 2), (2, 4)):
        program, grads, metrics = build(batch, ranks), work / "g", work / "m"
        accum = 8 // (batch * ranks)
        run(program, "--data", data, "--no-shuffle", "--steps=1", f"--accum={accum}", "--init-from",
            inputs / "weights.safetensors", "--dump-grads", grads, "--metrics", metrics, "--progress=none",
            *loopback(ranks))
        loss, found = lines(metrics)[0]["loss"], read(grads)
        metrics.unlink()
        first = first or (loss, found)
        worst = max(np.abs(found[name] - value).max() / np.abs(value).max() for name, value in first[1].items())
        verdict = "equal" if abs(loss - first[0]) < 1e-6 * first[0] and worst < 3e-6 else f"differ by {worst:.1e}"
        print(f"batch {batch}, {accum} micro-steps, {ranks} ranks: loss {loss:.6f}, {verdict}")


def none():
    rows = {name: value[:8] for name, value in read(data).items()}
    blank = dict(rows, y=np.full_like(rows["y"], -100))
    write(work / "d", {name: np.concatenate([rows[name], blank[name], rows[name]]) for name in rows})
    ranks = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    program = build(4, ranks, *sys.argv[5:])
    said = run(program, "--data", work / "d", "--no-shuffle", "--steps=3", f"--accum={2 // ranks}", "--metrics",
               work / "m", "--progress=none", "--save-dir", work / "s", "--save-every=1", "--keep=9", *loopback(ranks))
    print(said, end="")
    for line in lines(work / "m"):
        print(f"step {line['step']}: loss {'null' if line['loss'] is None else 'known'}, skipped {line['skipped']}")
    for number in (2, 3):
        code = subprocess.run(["weft", "ckpt", "diff", work / "s" / f"step_{number - 1:08d}",
                               work / "s" / f"step_{number:08d}"], capture_output=True, text=True)
        changed = [row for row in code.stdout.splitlines() if " elements differ" in row]
        print(f"step {number} changes {len(changed)} tensors")


none() if "--none" in sys.argv else split()
