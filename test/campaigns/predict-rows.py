"""Compares the results of rows for several batch sizes, ranks and ZeRO stages.

A seed gives a network of named tensors with a program of kind predict, or a small GPT-2 or Llama with random weights, and a
file of 1 to 40 rows. Each is compiled for several batch sizes and meshes, so that most last batches are not full. For all of
them

- the results are those of the first one: bit by bit with the same number of rows in a product, else within 1e-6 of the
  largest (f16 4e-3, bf16 3e-2);
- the scores of a network are numpy's;
- the log-likelihoods of text add up to its validation loss, and those of two halves of the targets to those of all.

Usage: predict-rows.py --work DIR [--seeds A:B] [--keep]
"""
import argparse
import json
import pathlib
import random
import shutil
import struct
import subprocess
import sys

import numpy as np

from seeds import seed_range

parser = argparse.ArgumentParser()
parser.add_argument("--work", type=pathlib.Path, required=True)
parser.add_argument("--seeds", default="0:2", type=seed_range)
parser.add_argument("--keep", action="store_true", help="files of cases that passed, too")
args = parser.parse_args()

KINDS = {"F32": np.float32, "I32": np.int32}
TOLERANCES = {"f32": 1e-6, "f16": 4e-3, "bf16": 3e-2}
IGNORED = -100


def call(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=600,
                            errors="replace")
    if result.returncode:
        raise RuntimeError(f"exit {result.returncode} of {' '.join(map(str, command))}:\n"
                           f"{(result.stdout + result.stderr)[-3000:]}")


def write_tensors(path, tensors):
    names = {value: key for key, value in KINDS.items()}
    header, data = {}, b""
    for name, value in tensors.items():
        raw = np.ascontiguousarray(value).tobytes()
        header[name] = {"dtype": names[value.dtype.type], "shape": list(value.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read_tensors(path):
    raw = path.read_bytes()
    size = struct.unpack("<Q", raw[:8])[0]
    header, data = json.loads(raw[8:8 + size]), raw[8 + size:]
    header.pop("__metadata__", None)
    return {name: np.frombuffer(data[slice(*entry["data_offsets"])], KINDS[entry["dtype"]]).reshape(entry["shape"])
            for name, entry in header.items()}


def check(what, made, wanted, bound):
    made, wanted = made.astype(np.float64), np.asarray(wanted, np.float64)
    if made.shape != wanted.shape:
        raise RuntimeError(f"{what}: shape {made.shape} instead of {wanted.shape}")
    error = np.abs(made - wanted).max() / max(np.abs(wanted).max(), 1e-30)
    if not error <= bound:
        raise RuntimeError(f"{what}: relative difference {error:.2e}, more than {bound}")


class Network:
    """Named tensors: x W1, an activation, W2, and sums of squares."""

    def __init__(self, dice, work, rows):
        self.inner = dice.choice([(3,), (5,), (2, 4)])
        self.hidden, self.classes = dice.choice([4, 7, 16]), dice.choice([1, 3, 10])
        self.activation = dice.choice(["relu", "tanh", "sigmoid"])
        width = int(np.prod(self.inner))
        draw = np.random.RandomState(dice.randrange(2**31))
        self.weights = {"w1": draw.standard_normal((width, self.hidden)).astype(np.float32),
                        "w2": draw.standard_normal((self.hidden, self.classes)).astype(np.float32)}
        self.x = draw.standard_normal((rows, *self.inner)).astype(np.float32)
        self.data, self.start = work / "rows.safetensors", work / "weights.safetensors"
        write_tensors(self.data, {"x": self.x})
        write_tensors(self.start, self.weights)

    def flags(self):
        return ["--init-from", self.start]

    def body(self, batch):
        x = "x".join(map(str, (batch, *self.inner)))
        width, b = int(np.prod(self.inner)), batch
        h, c = self.hidden, self.classes
        return f"""
    %w1 = weft.read @w1 : tensor<{width}x{h}xf32>
    %w2 = weft.read @w2 : tensor<{h}x{c}xf32>
    %flat = weft.reshape %x : tensor<{x}xf32> to tensor<{b}x{width}xf32>
    %m = weft.matmul %flat, %w1 : tensor<{b}x{width}xf32>, tensor<{width}x{h}xf32>
    %h = weft.{self.activation} %m : tensor<{b}x{h}xf32>
    %y = weft.matmul %h, %w2 : tensor<{b}x{h}xf32>, tensor<{h}x{c}xf32>
"""

    def model(self, work, batch):
        x = "x".join(map(str, (batch, *self.inner)))
        width, b, h, c = int(np.prod(self.inner)), batch, self.hidden, self.classes
        path = work / f"model{batch}.mlir"
        path.write_text(f"""module @network {{
  weft.param @w1 : tensor<{width}x{h}xf32> {{init = #weft.init<normal, 0.0, 1.0>}}
  weft.param @w2 : tensor<{h}x{c}xf32> {{init = #weft.init<normal, 0.0, 1.0>}}
  weft.program @model(%x: tensor<{x}xf32> {{weft.input = "x"}}, %t: tensor<{b}xi32> {{weft.input = "t"}})
      -> (tensor<f32> {{weft.output = "loss"}}) attributes {{kind = #weft.kind<model>}} {{{self.body(batch)}
    %loss, %lse, %denom = weft.cross_entropy %y, %t : tensor<{b}x{c}xf32>, tensor<{b}xi32>
    weft.return %loss : tensor<f32>
  }}
  weft.program @predict(%x: tensor<{x}xf32> {{weft.input = "x"}})
      -> (tensor<{b}xf32> {{weft.output = "squares"}}, tensor<{b}x{c}xf32> {{weft.output = "scores"}})
      attributes {{kind = #weft.kind<predict>}} {{{self.body(batch)}
    %yy = weft.mul %y, %y : tensor<{b}x{c}xf32>, tensor<{b}x{c}xf32>
    %s = weft.reduce sum %yy dims [1] : tensor<{b}x{c}xf32>
    weft.return %s, %y : tensor<{b}xf32>, tensor<{b}x{c}xf32>
  }}
}}
""")
        return path, []

    def verify(self, made, precision, program, ranks):
        x = self.x.reshape(len(self.x), -1).astype(np.float64) @ self.weights["w1"]
        x = {"relu": lambda v: np.maximum(v, 0), "tanh": np.tanh, "sigmoid": lambda v: 1 / (1 + np.exp(-v))}[
            self.activation](x)
        y = x @ self.weights["w2"]
        bound = max(TOLERANCES[precision], 2e-6)
        check("scores", made["scores"], y, bound)
        check("squares", made["squares"], (y * y).sum(1), 2 * bound)


GPT2 = {"model_type": "gpt2", "vocab_size": 128, "n_positions": 32, "n_embd": 16, "n_layer": 2, "n_head": 2}
LLAMA = {"model_type": "llama", "vocab_size": 128, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2,
         "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 32}


class Language:
    """Bytes below 128 and a model of random weights."""

    def __init__(self, dice, work, rows):
        self.work, self.seq, self.rows = work, dice.choice([4, 8, 32]), rows
        folder = work / "model"
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps(dice.choice([GPT2, LLAMA])))
        self.folder, self.seed = folder, dice.randrange(100)
        draw = np.random.RandomState(dice.randrange(2**31))
        text = draw.randint(32, 127, rows * self.seq + 1).astype(np.uint8)
        self.data = work / "text.txt"
        self.data.write_bytes(text.tobytes())
        tokens = text[:-1].reshape(rows, self.seq).astype(np.int32)
        targets = text[1:].reshape(rows, self.seq).astype(np.int32)
        self.counted = draw.rand(rows, self.seq) < 0.5
        for name, counted in (("some", self.counted), ("others", ~self.counted)):
            write_tensors(work / name, {"tokens": tokens, "targets": np.where(counted, targets, IGNORED).astype(np.int32)})

    def flags(self):
        return ["--init-from", "none", "--seed", self.seed]

    def model(self, work, batch):
        return self.folder, ["--batch", batch, "--seq", self.seq]

    def verify(self, made, precision, program, ranks):
        bound = TOLERANCES[precision]
        if not (made["tokens"] == self.seq).all():
            raise RuntimeError("tokens are not all counted")
        flags = [*self.flags(), *ranks]
        metrics = self.work / "metrics.jsonl"
        metrics.unlink(missing_ok=True)
        call(program, "--eval-only", "--val-data", self.data, "--metrics", metrics, *flags)
        loss = json.loads(metrics.read_text().splitlines()[-1])["val_loss"]
        total = made["log_likelihood"].astype(np.float64).sum() / made["tokens"].sum()
        check("mean", -total.reshape(1), [loss], bound)
        parts = []
        for name in ("some", "others"):
            out = self.work / f"{name}-out"
            call(program, "--data", self.work / name, "--predictions", out, *flags)
            parts.append(read_tensors(out))
        if not (parts[0]["tokens"] == self.counted.sum(1)).all():
            raise RuntimeError("tokens are not the counted ones")
        check("halves", parts[0]["log_likelihood"].astype(np.float64) + parts[1]["log_likelihood"],
              made["log_likelihood"], bound)


def variants(dice):
    """Batch, ranks and stage; the first two have one batch size."""
    batch = dice.choice([1, 2, 3, 5, 8])
    return [(batch, 1, 0), (batch, dice.choice([2, 3]), dice.choice([0, 1, 3])),
            (dice.choice([1, 4, 7, 64]), dice.choice([1, 2]), dice.choice([0, 2, 3]))]


def test(seed):
    dice = random.Random(seed)
    work = args.work / str(seed)
    work.mkdir(parents=True)
    case = (Language if seed % 2 else Network)(dice, work, dice.randrange(1, 41))
    precision = dice.choice(["f32", "f32", "bf16", "f16"])
    first = None
    for batch, ranks, stage in variants(dice):
        model, flags = case.model(work, batch)
        program, out = work / "program", work / "out.safetensors"
        mesh = ["--mesh", f"dp:{ranks}", "--zero", stage] if ranks > 1 else []
        call("weft", "compile", model, "--predict", "--precision", precision, *flags, *mesh, "-o", program)
        loopback = ["--loopback", ranks] if ranks > 1 else []
        call(program, "--data", case.data, "--predictions", out, *case.flags(), *loopback)
        made = read_tensors(out)
        if first is None:
            first, first_batch = made, batch
        for name, values in made.items():
            same = batch == first_batch
            check(f"{name} of batch {batch}, {ranks} ranks, stage {stage}, {precision}", values, first[name],
                  0 if same else TOLERANCES[precision])
        case.verify(made, precision, program, loopback)
    if not args.keep:
        shutil.rmtree(work)


wrong = 0
for seed in args.seeds:
    try:
        test(seed)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        wrong += 1
        print(f"seed {seed}: {error}", flush=True)
print(f"{len(args.seeds)} models, {wrong} wrong")
sys.exit(wrong != 0)
