#!/usr/bin/env python3
"""Compares the results of rows with numpy, and with transformers' numbers.

usage: predictions.py --weft build/bin/weft --work DIR CASE [--ranks N] [--bound X] [--compile FLAG]...

CASE mlp: the scores of a program in the model's text, for 75 rows. CASE
gpt2-tiny or llama-tiny: log-likelihoods of seven rows of text, of the same rows
as named tensors with some targets ignored, and of the choices of questions, with
the accuracy. Numbers of the language models come from
test/Train/data/predict-CASE.json (test/reference/predict_with_transformers.py).
The bound is relative to the largest number.
"""
import argparse
import json
import os
import sys

import parity
from parity import cases, np, tensors

IGNORED = -100


def run(weft, *arguments):
    parity.call([weft, *arguments])


def check(what, made, wanted, bound):
    made, wanted = np.asarray(made, np.float64), np.asarray(wanted, np.float64)
    if made.shape != wanted.shape:
        sys.exit(f"predictions.py: {what} expects shape {wanted.shape}, but got {made.shape}")
    error = np.abs(made - wanted).max() / np.abs(wanted).max()
    if not error <= bound:
        sys.exit(f"predictions.py: {what}: relative difference {error:.2e}, more than {bound}\n{made}\n{wanted}")
    print(f"{what}: {len(made)} rows, within {bound}")


class Case:
    def __init__(self, args):
        self.args = args
        parity.clear(args.work)
        self.model, self.data, self.weights = parity.prepare(args.case, args.work)
        self.loopback = [f"--loopback={args.ranks}"] if args.ranks > 1 else []

    def path(self, name):
        return os.path.join(self.args.work, name)

    def compile(self, model):
        flags = parity.compile_flags(self.args.case)
        if self.args.ranks > 1:
            flags += [f"--mesh=dp:{self.args.ranks}", "--zero=3"]
        run(self.args.weft, "compile", model, "--predict", "-o", self.path("program"), *flags, *self.args.compile)

    def predict(self, data, name):
        out = self.path(name + ".safetensors")
        run(self.path("program"), "--data", data, "--predictions", out, *self.weights, *self.loopback)
        return tensors.read_tensors(out)


def mlp(case):
    text = case.path("mlp.mlir")
    with open(case.model) as file, open(os.path.join(parity.HERE, "Inputs", "mlp-predict.txt")) as more:
        whole = file.read().rstrip()
        assert whole.endswith("}")
        with open(text, "w") as out:
            out.write(whole[:-1] + more.read())
    case.compile(text)
    images, _ = cases.mlp_rows(0, 75)
    rows = case.path("images.safetensors")  # without labels
    tensors.write_tensors(rows, {"image": images})
    made = case.predict(rows, "scores")["scores"]
    weights = {name: value.astype(np.float64)
               for name, value in cases.initial_weights({"model_type": "mlp"}).items()}
    x = images.astype(np.float64)
    for layer in ("fc1", "fc2", "fc3"):
        x = x @ weights[layer + ".weight"].T + weights[layer + ".bias"]
        x = np.maximum(x, 0) if layer != "fc3" else x
    check("scores", made, x, case.args.bound)


def language_model(case):
    with open(os.path.join(cases.DATA, f"predict-{case.args.case}.json")) as file:
        stored = json.load(file)
    case.compile(case.model)
    seq, count = 64, len(stored["rows"])
    text = case.path("text.txt")
    with open(cases.CORPUS, "rb") as file, open(text, "wb") as out:
        out.write(file.read(count * seq + 1))
    made = case.predict(text, "text")
    check("log_likelihood", made["log_likelihood"], stored["rows"], case.args.bound)
    assert (made["tokens"] == seq).all()
    # Two halves of the targets add up to all of them.
    tokens, targets = (rows.astype(np.int32) for rows in cases.token_rows(0, count, seq))
    half = np.arange(seq) % 3 == 0
    sums = np.zeros(count)
    for name, counted in (("some", half), ("others", ~half)):
        rows = case.path(name + "-rows.safetensors")
        tensors.write_tensors(rows, {"tokens": tokens, "targets": np.where(counted, targets, IGNORED).astype(np.int32)})
        part = case.predict(rows, name)
        assert (part["tokens"] == counted.sum()).all()
        sums += part["log_likelihood"]
    check("sums of two halves", sums, stored["rows"], case.args.bound)
    questions(case, stored)


def questions(case, stored):
    path, out = case.path("questions.jsonl"), case.path("choices.safetensors")
    with open(path, "w") as file:
        file.writelines(json.dumps(question) + "\n" for question in stored["questions"])
    run(case.args.weft, "predict", case.path("program"), "--data", path, "-o", out, *case.weights, *case.loopback)
    check("choices", tensors.read_tensors(out)["log_likelihood"], stored["choices"], case.args.bound)
    metrics = case.path("metrics.jsonl")
    run(case.args.weft, "evaluate", case.path("program"), "--val-data", path, "--metrics", metrics,
        *case.weights, *case.loopback)
    with open(metrics) as file:
        line = json.loads(file.readlines()[-1])
    right = {"accuracy": 0, "accuracy_norm": 0}
    numbers = iter(stored["choices"])
    for question in stored["questions"]:
        scores = [next(numbers) for _ in question["choices"]]
        for name in right:
            if name == "accuracy_norm":
                scores = [score / len(choice.encode()) for score, choice in zip(scores, question["choices"])]
            right[name] += scores.index(max(scores)) == question["answer"]
    for name, number in right.items():
        if line[name] != number / len(stored["questions"]):
            sys.exit(f"predictions.py: {name} expects {number} of {len(stored['questions'])}, but got {line}")
    print(f"accuracy: {right['accuracy']} of {line['questions']} right")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--weft", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--bound", type=float, default=2e-6)
    parser.add_argument("--compile", action="append", default=[])
    parser.add_argument("case")
    case = Case(parser.parse_args())
    if case.args.case == "mlp":
        mlp(case)
    else:
        language_model(case)


if __name__ == "__main__":
    main()
