#!/usr/bin/env python3
"""Compares steps on the CPU with PyTorch's fastest mode.

usage: cpu.py --weft WEFT [--models NAME...] [--precisions f32 bf16] [--pairs 15] [--modes eager default] [--json FILE]

For each model and precision the script compiles a program, finds PyTorch's fastest mode in short runs, and then runs
both sides in turns, each in a process of its own, on the same tokens and from the same weights. It prints the median
of the ratios of all pairs (PyTorch's time / weft's), the smallest and the largest ratio, and the median step of each
side in ms. PyTorch 2 and numpy are needed; both sides use all processors. With --modes none weft runs alone.
"""
import argparse
import importlib
import json
import os
import shutil
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "training"))

import gpt2  # noqa: E402


def gpt(width, layers, heads, vocabulary):
    return {"model_type": "gpt2", "vocab_size": vocabulary, "n_positions": 1024, "n_embd": width, "n_layer": layers,
            "n_head": heads, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, **dict.fromkeys(gpt2.DROPS, 0)}


MODES = ("none", "eager", "default", "reduce-overhead", "max-autotune")
SMOLLM2_135M = {"model_type": "llama", "vocab_size": 49152, "max_position_embeddings": 2048, "hidden_size": 576,
                "intermediate_size": 1536, "num_hidden_layers": 30, "num_attention_heads": 9, "num_key_value_heads": 3,
                "hidden_act": "silu", "rms_norm_eps": 1e-5, "rope_theta": 100000.0, "tie_word_embeddings": True}
# (config, rows, tokens of a row)
MODELS = {"gpt2-124m": (gpt(768, 12, 12, 50257), 1, 512), "6-layers": (gpt(384, 6, 6, 65), 8, 256),
          "smollm2-135m": (SMOLLM2_135M, 2, 512)}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", required=True)
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=MODELS)
    parser.add_argument("--precisions", nargs="+", default=["f32", "bf16"], choices=("f32", "bf16"))
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--warmup", type=int, default=1, help="steps of each run that are not counted")
    parser.add_argument("--steps", type=int, default=3, help="counted steps of each run")
    parser.add_argument("--survey-steps", type=int, default=2)
    parser.add_argument("--modes", nargs="+", default=["eager", "default"], help="of torch.compile, or eager; none: weft alone, no PyTorch")
    parser.add_argument("--compile", action="append", default=[], metavar="FLAG", help="a flag of weft compile")
    parser.add_argument("--run", action="append", default=[], metavar="FLAG", help="a flag of weft's programs")
    parser.add_argument("--json", help="all numbers")
    parser.set_defaults(device="cpu", attention=["flash"])
    options = parser.parse_args()
    if not shutil.which(options.weft):
        parser.error(f"--weft expects a program, but got {options.weft}")
    for mode in options.modes:
        if mode not in MODES:
            parser.error(f"--modes expects names of {', '.join(MODES)}, but got {mode}")
    if options.pairs < 1 or options.steps < 1 or options.warmup < 1:
        parser.error("expects at least one pair, one step and one step before it")
    return options


def compile_program(options, plan, folder):
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(plan["config"], file)
    gpt2.call([options.weft, "compile", folder, "-o", os.path.join(folder, "program"), "--target=cpu",
               f"--precision={plan['precision']}", f"--batch={plan['batch']}", f"--seq={plan['seq']}",
               *options.compile])


def compare(options, model, precision):
    """Times of both sides of a model, and the mode that PyTorch runs in."""
    import sides

    config, batch, seq = MODELS[model]
    plan = {"config": config, "batch": batch, "seq": seq, "precision": precision, "target": "cpu"}
    row = {"name": model, "program": "program", "dropout": 0}
    with tempfile.TemporaryDirectory() as folder:
        options.out = folder
        compile_program(options, plan, folder)
        bench = sides.Bench(options, plan, folder)
        result = {"model": model, "precision": precision, "weft": [], "torch": []}
        turns = [("weft", lambda: bench.weft(row))]
        if options.modes != ["none"]:
            result["peer"], result["tried"] = gpt2.best_peer(bench, row)
            turns.append(("torch", lambda: bench.torch(row, result["peer"])))
        for number in range(options.pairs):
            for side, measure in turns if number % 2 else reversed(turns):
                result[side].append(measure()["ms"])
    return result


def line_of(result):
    own = f"| {result['model']} | {result['precision']} | {statistics.median(result['weft']):.0f} | "
    if not result["torch"]:
        return own + "| | |"
    ratios = [other / own for own, other in zip(result["weft"], result["torch"])]
    return own + (f"{statistics.median(result['torch']):.0f} ({result['peer']['mode']}) | "
                  f"{statistics.median(ratios):.3f} | {min(ratios):.3f} to {max(ratios):.3f} |")


def check_python(options):
    """Ends unless this Python has the packages that the script needs."""
    for package in ["numpy"] if options.modes == ["none"] else ["numpy", "torch"]:
        try:
            importlib.import_module(package)
        except ImportError as error:
            sys.exit(f"cpu.py: error: expects a Python with numpy, and with PyTorch unless --modes none, but "
                     f"{sys.executable} says: {error}")


def main(options):
    check_python(options)
    results = []
    for model in options.models:
        for precision in options.precisions:
            results.append(compare(options, model, precision))
            print(line_of(results[-1]), flush=True)
            if options.json:
                with open(options.json, "w") as file:
                    json.dump(results, file, indent=1)
    print("\n| model | type | weft ms | PyTorch ms | PyTorch's time / weft's | smallest, largest |\n|---|---|---|---|---|---|")
    print("\n".join(map(line_of, results)))


if __name__ == "__main__":
    main(parse())
