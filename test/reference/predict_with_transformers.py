#!/usr/bin/env python3
"""Log-likelihoods of rows and of choices, as transformers computes them.

usage: predict_with_transformers.py [--write] CASE...

CASE: gpt2-tiny or llama-tiny, with the initial weights of cases.py. --write
stores test/Train/data/predict-CASE.json, which test/Train/predictions.py reads;
without it the stored numbers are compared (2e-5). Needs PyTorch and
transformers.
"""
import argparse
import json
import os
import sys

import torch
import transformers

sys.dont_write_bytecode = True
import cases  # noqa: E402

ROWS = 7  # the last batch of four is not full

QUESTIONS = [
    {"prompt": "The end of the ", "choices": ["document", "day"], "answer": 0},
    {"prompt": "1 + 1 =", "choices": [" 2", " 3", " twelve"], "answer": 0},
    {"prompt": "A prompt that is longer than the sixty-four positions of a row, so its beginning is cut off: ",
     "choices": ["yes", "no"], "answer": 1},
    {"prompt": "Z\n", "choices": ["x", "y" * 63], "answer": 0},
]


def build(config, weights):
    """The model of transformers in f32, on the CPU."""
    family = transformers.GPT2Config if config["model_type"] == "gpt2" else transformers.LlamaConfig
    model = transformers.AutoModelForCausalLM.from_config(family(**config), dtype=torch.float32)
    state = {name: torch.tensor(value) for name, value in weights.items()}
    missing, unexpected = model.load_state_dict(state, strict=False)
    tied = {"lm_head.weight"} if config["model_type"] == "gpt2" else set()
    if unexpected or not set(missing) <= tied:
        sys.exit(f"{missing} are missing, {unexpected} are unexpected")
    model.tie_weights()
    return model.eval()


@torch.no_grad()
def log_likelihood(model, tokens, scored):
    """Of the last `scored` tokens, in f64."""
    logits = model(torch.tensor([tokens[:-1]])).logits[0].double()
    chosen = logits.log_softmax(-1)[range(len(tokens) - 1), tokens[1:]]
    return float(chosen[len(chosen) - scored:].sum())


def compute(case):
    config, _ = cases.load_config(case)
    seq = cases.CASES[case]["seq"]
    model = build(config, cases.initial_weights(config))
    tokens, targets = cases.token_rows(0, ROWS, seq)
    rows = [log_likelihood(model, [*row, last[-1]], seq) for row, last in zip(tokens, targets)]
    choices = []
    for question in QUESTIONS:
        prompt = question["prompt"]
        spaces = prompt[len(prompt.rstrip()):]  # belong to the choice
        for choice in question["choices"]:
            text = (prompt + choice).encode()[-(seq + 1):]
            choices.append(log_likelihood(model, list(text), len((spaces + choice).encode())))
    return {"case": case, "transformers": transformers.__version__, "torch": torch.__version__,
            "rows": rows, "questions": QUESTIONS, "choices": choices}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("cases", nargs="+")
    args = parser.parse_args()
    for case in args.cases:
        path = os.path.join(cases.DATA, f"predict-{case}.json")
        made = compute(case)
        if args.write:
            with open(path, "w") as file:
                json.dump(made, file, indent=1)
                file.write("\n")
            continue
        with open(path) as file:
            stored = json.load(file)
        for name in ("rows", "choices"):
            for now, was in zip(made[name], stored[name], strict=True):
                if abs(now - was) > 2e-5 * abs(was):
                    sys.exit(f"{case}: {name} expects {was}, but got {now}")
        print(f"{case}: {len(made['rows'])} rows and {len(made['choices'])} choices are equal")


if __name__ == "__main__":
    main()
