#!/usr/bin/env python3
"""A head that is the embedding, against one of its own, on ranks that share both.

usage: tied.py WORK MODEL --ranks 2,3,4

For W ranks the vocabulary is 4 W + 1. At each stage the gradient of the tied weight is
the sum of those of an embedding and a head with equal weights; norm and clipping count
it once, a rank has it once, and it is one after a save and a resume.
"""
import json
import math
import random

from ranks import Program, call, expect, expect_close, parse_case, write_tensors

RATE, CLIP = 0.5, 0.125


def write_inputs(work, ranks, vocab):
    rng = random.Random(vocab)
    table = [rng.uniform(-1, 1) for _ in range(3 * vocab)]
    start = {"emb.weight": ("F32", [vocab, 3], table),
             "h.0.fc": ("F32", [3, 3], [rng.uniform(-1, 1) for _ in range(9)])}
    write_tensors(f"{work}/tied.st", start)
    write_tensors(f"{work}/apart.st", {**start, "head.weight": start["emb.weight"]})
    write_tensors(f"{work}/rows.st", {name: ("I32", [2 * ranks], [rng.randrange(vocab) for _ in range(2 * ranks)])
                                      for name in ("x", "label")})
    return {name: values for name, (_, _, values) in start.items()}


def write_models(work, model, vocab):
    with open(model) as file:
        text = file.read().replace("VOCAB", str(vocab))
    with open(f"{work}/tied.mlir", "w") as file:
        file.write(text)
    with open(f"{work}/apart.mlir", "w") as file:
        file.write(text.replace("tie = @emb.weight", "init = #weft.init<zeros>"))


class Model:
    def __init__(self, work, kind, ranks, stage):
        self.work, self.kind = work, kind
        self.program = Program(f"{work}/{kind}", f"{work}/{kind}.mlir", ranks, stage, "--optimizer=sgd", rows=2)

    def train(self, name, *flags, steps=1):
        begin = [] if "--resume=auto" in flags else ["--init-from", f"{self.work}/{self.kind}.st"]
        return self.program.train(name, f"{self.work}/rows.st", "--lr", RATE, "--steps", steps, *begin, *flags)


def gradients(run, start):
    """Gradients from the first update; `head` starts from the embedding's values."""
    return {name: [(old - new) / RATE for old, new in zip(start.get(name, start["emb.weight"]), values)]
            for name, values in run.weights().items()}


def check_step(tied, apart, start):
    """The gradient, the norm and what clipping makes of it."""
    run = tied.train("first")
    sums, parts = gradients(run, start), gradients(apart.train("first"), start)
    wanted = [a + b for a, b in zip(parts["emb.weight"], parts["head.weight"])]
    expect_close(wanted, sums["emb.weight"], 1e-6, "the gradient of both uses")
    expect_close(parts["h.0.fc"], sums["h.0.fc"], 1e-6, "the gradient of the layer between")
    expect(["emb.weight", "h.0.fc"], sorted(sums), "weights")
    norm = math.sqrt(sum(g * g for values in sums.values() for g in values))
    expect_close([norm], run.metrics("grad_norm"), 1e-6, "the norm")
    clipped = gradients(tied.train("clipped", "--clip", CLIP), start)
    expect_close([g * CLIP / norm for g in wanted], clipped["emb.weight"], 1e-5, "the clipped gradient")


def check_resume(tied):
    whole = tied.train("whole", steps=4)
    tied.train("parts", "--stop-after", 2, steps=4)
    parts = tied.train("parts", "--resume=auto", steps=4)
    expect(whole.steps()[-1], parts.steps()[-1], "states after a resume")


def check_memory(program, vocab):
    report = json.loads(call("weft", "inspect", program.path, "--sharding", "--json"))["sharding"]
    expect(["emb.weight", "h.0.fc"], sorted(param["name"] for param in report["parameters"]), "parameters")
    expect(3 * vocab + 9, sum(bucket["elements"] - bucket["padding"] for bucket in report["buckets"]), "elements")


def main():
    args = parse_case("--ranks")
    for ranks in map(int, args.ranks.split(",")):
        vocab = 4 * ranks + 1
        start = write_inputs(args.work, ranks, vocab)
        write_models(args.work, args.model, vocab)
        for stage in range(4):
            tied = Model(args.work, "tied", ranks, stage)
            check_step(tied, Model(args.work, "apart", ranks, stage), start)
            check_resume(tied)
            check_memory(tied.program, vocab)
        print(f"{ranks} ranks: {vocab} tokens, tied at 4 stages")


main()
