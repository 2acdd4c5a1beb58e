#!/usr/bin/env python3
"""The table of simulated steps in docs/scaling.md.

usage: scaling.py WEFT EXAMPLES [DOCUMENT]

Prints the table, or says where that of DOCUMENT differs.
"""
import json
import re
import subprocess
import sys

MODELS = {"gpt2-1.5b": ["--batch=8", "--seq=1024"], "llama-7b": ["--batch=1", "--seq=2048"]}
HEAD = ("| model | mesh | ZeRO | step ms | exposed ms | tokens/s | of a GPU | peak GiB | sent GiB |\n"
        "|---|---|---|---|---|---|---|---|---|\n")


def simulate(weft, examples, model, mesh, zero):
    command = [weft, "compile", f"{examples}/{model}", *MODELS[model], "--precision=bf16", f"--mesh={mesh}",
               f"--zero={zero}", f"--cluster={examples}/clusters/h100.toml", "--dry-run", "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["simulated"]


def row(model, outlook):
    gib = 1 << 30
    return (f"| {model} | {outlook['mesh']} | {outlook['zero']} | {outlook['step_us'] / 1e3:.1f} "
            f"| {outlook['exposed_us'] / 1e3:.1f} | {outlook['tokens_per_s']:,.0f} "
            f"| {outlook['tokens_per_s'] / outlook['ranks']:,.0f} | {outlook['peak_bytes'] / gib:.1f} "
            f"| {outlook['sent_bytes'] / gib:.1f} |\n")


def table(weft, examples):
    text = HEAD
    for model in MODELS:
        for ranks in (8, 64, 1024):
            outlooks = simulate(weft, examples, model, f"dp:{ranks}", 3)
            for wanted in ((f"dp:{ranks}", "1"), (f"dp:{ranks}", "3"), (f"replica:{ranks // 8},shard:8", "3")):
                text += "".join(row(model, o) for o in outlooks if (o["mesh"], o["zero"]) == wanted)
    return text


def main():
    wanted = table(*sys.argv[1:3])
    if len(sys.argv) < 4:
        print(wanted, end="")
        return
    with open(sys.argv[3]) as file:
        found = re.search(re.escape(HEAD.splitlines()[0]) + r"\n(?:\|.*\n)*", file.read())
    if not found or found[0] != wanted:
        raise SystemExit(f"expects this table in {sys.argv[3]}:\n{wanted}")
    print("as simulated")


if __name__ == "__main__":
    main()
