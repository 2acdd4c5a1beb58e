#!/usr/bin/env python3
"""The table of simulated steps in docs/explanation/scaling.md.

usage: scaling.py WEFT EXAMPLES [DOCUMENT MODEL]

Prints the table, or says whether the rows of a model in DOCUMENT are others.
"""
import json
import re
import subprocess
import sys

MODELS = {"gpt2-1.5b": ["--batch=8", "--seq=1024"], "llama-7b": ["--batch=1", "--seq=2048"]}
# Without it the plan would depend on the machine that compiles.
MACHINE = ["--target=cuda:sm_90"]
HEAD = ("| model | mesh | ZeRO | step ms | exposed ms | tokens/s | of a GPU | peak GiB | sent GiB |\n"
        "|---|---|---|---|---|---|---|---|---|\n")


def simulate(weft, examples, model, mesh, zero):
    command = [weft, "compile", f"{examples}/{model}", *MODELS[model], "--precision=bf16", *MACHINE,
               f"--mesh={mesh}",
               f"--zero={zero}", f"--cluster={examples}/clusters/h100.toml", "--dry-run", "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["simulated"]


def row(model, outlook):
    gib = 1 << 30
    return (f"| {model} | {outlook['mesh']} | {outlook['zero']} | {outlook['step_us'] / 1e3:.1f} "
            f"| {outlook['exposed_us'] / 1e3:.1f} | {outlook['tokens_per_s']:,.0f} "
            f"| {outlook['tokens_per_s'] / outlook['ranks']:,.0f} | {outlook['peak_bytes'] / gib:.1f} "
            f"| {outlook['sent_bytes'] / gib:.1f} |\n")


def rows(weft, examples, model):
    text = ""
    for ranks in (8, 64, 1024):
        outlooks = simulate(weft, examples, model, f"dp:{ranks}", 3)
        for wanted in ((f"dp:{ranks}", "1"), (f"dp:{ranks}", "3"), (f"replica:{ranks // 8},shard:8", "3")):
            text += "".join(row(model, o) for o in outlooks if (o["mesh"], o["zero"]) == wanted)
    return text


def check(wanted, path, model):
    with open(path) as file:
        text = file.read()
    found = "".join(re.findall(rf"^\| {re.escape(model)} \|.*\n", text, re.M))
    if HEAD not in text or found != wanted:
        raise SystemExit(f"expects these rows in {path}:\n{HEAD}{wanted}")
    print("as simulated")


def main():
    if len(sys.argv) > 3:
        return check(rows(*sys.argv[1:3], sys.argv[4]), *sys.argv[3:])
    print(HEAD + "".join(rows(*sys.argv[1:3], model) for model in MODELS), end="")


if __name__ == "__main__":
    main()
