#!/usr/bin/env python3
"""One comparison with PyTorch on a machine with a GPU, within a budget of minutes.

usage: gpu.py build OUT --weft WEFT [--models NAME|FOLDER...] [--rows NAME...] [--target cuda:sm_90]
       gpu.py run OUT [--minutes 10] [--rounds 3] [--llmc LOG] ...

`build` needs weft and no GPU. For each model it compiles the rows of the table: recipes amp and llm in f16, each with
strict and with fast numerics, and counts the lower bounds of their commands. `run` needs the folder that build wrote,
a GPU, a Python with PyTorch and numpy, and no weft. For each model it finds PyTorch's fastest mode in short runs,
times both sides in turns, and times the commands of each row. Every result goes to OUT/state.jsonl at once: a run that
is stopped, or whose minutes are over, goes on where it was. The models come in the order of their importance. At the
end stand a table for each model, the commands that take more than 2 % of a step with their bounds, and what is still
open.

--llmc is the output of llm.c's train_gpt2cu on the same machine; its steps become a row of gpt2-124m.
"""
import argparse
import json
import os
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "training"))

import gpt2  # noqa: E402
import measurements  # noqa: E402


def gpt(width, layers, heads):
    return {"model_type": "gpt2", "vocab_size": 50257, "n_positions": 1024, "n_embd": width, "n_layer": layers,
            "n_head": heads, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, **dict.fromkeys(gpt2.DROPS, 0)}


LLAMA_1B = {"model_type": "llama", "vocab_size": 32000, "max_position_embeddings": 2048, "hidden_size": 2048,
            "intermediate_size": 5632, "num_hidden_layers": 22, "num_attention_heads": 32, "num_key_value_heads": 4,
            "hidden_act": "silu", "rms_norm_eps": 1e-5, "tie_word_embeddings": False}
# The order in which they are measured: (config, batch, tokens of a row).
MODELS = {"gpt2-124m": (gpt(768, 12, 12), 32, 1024), "gpt2-350m": (gpt(1024, 24, 16), 16, 1024),
          "gpt2-1558m": (gpt(1600, 48, 25), 4, 1024), "llama-1b": (LLAMA_1B, 4, 2048),
          "gpt2-124m-b4": (gpt(768, 12, 12), 4, 1024), "gpt2-124m-b1": (gpt(768, 12, 12), 1, 1024)}
ROWS = {"amp": ["--recipe=amp"], "amp-fast": ["--recipe=amp", "--numerics=fast"],
        "llm": ["--recipe=llm"], "llm-fast": ["--recipe=llm", "--numerics=fast"]}


def fail(words):
    sys.exit(f"gpu.py: error: {words}")


def rows_of(options):
    for name in options.rows or []:
        if name not in ROWS:
            fail(f"expects rows of {', '.join(ROWS)}, but got {name}")
    return {name: ROWS[name] for name in ROWS if not options.rows or name in options.rows}


def models_of(options):
    """(config, batch, tokens of a row) by name: of the list, or of a folder with a config.json."""
    if not options.models:
        return MODELS
    found = {}
    for name in options.models:
        if name in MODELS:
            found[name] = MODELS[name]
        elif os.path.isdir(name):
            config = gpt2.read_json(name, "config.json", "the folder of a GPT-2 or Llama")
            found[os.path.basename(os.path.abspath(name))] = (config, 1, config.get("n_positions", 1024))
        else:
            fail(f"expects a folder, or models of {', '.join(MODELS)}, but got {name}")
    return found


def compile_row(options, folder, plan, row, flags):
    """The program of a row, and the bounds of its commands where it is for a device."""
    program = os.path.join(folder, row)
    gpt2.call([options.weft, "compile", folder, "-o", program, f"--target={options.target}", "--precision=f16",
               f"--batch={plan['batch']}", f"--seq={plan['seq']}", "--overwrite", *flags, *options.compile])
    if options.target != "cpu":
        with open(program + ".bounds.json", "w") as file:
            gpt2.call([options.weft, "inspect", program, "--roofline", f"--device={options.device}", "--json"], file)


def build(options):
    rows = rows_of(options)
    for model, (config, batch, seq) in models_of(options).items():
        folder = os.path.join(options.out, model)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "config.json"), "w") as file:
            json.dump(config, file)
        plan = {"config": config, "batch": options.batch or batch, "seq": options.seq or seq, "precision": "f16",
                "target": options.target, "rows": [{"name": row, "program": row, "dropout": 0} for row in rows]}
        for row, flags in rows.items():
            compile_row(options, folder, plan, row, flags)
        with open(os.path.join(folder, "bench.json"), "w") as file:
            json.dump(plan, file, indent=1)
        print(f"{model}: {len(rows)} programs", flush=True)


def check_numpy():
    try:
        import numpy  # noqa: F401
    except ImportError as error:
        fail(f"run needs numpy: {error}")


def run(options):
    check_numpy()
    built = [name for name in sorted(os.listdir(options.out)) if os.path.exists(
        os.path.join(options.out, name, "bench.json"))] if os.path.isdir(options.out) else []
    models = [*(name for name in MODELS if name in built), *(name for name in built if name not in MODELS)]
    if not models:
        fail(f"expects a folder that build wrote, but got {options.out}")
    if options.modes != ["none"]:
        gpt2.check_torch(options)
    state = measurements.State(os.path.join(options.out, "state.jsonl"))
    clock = measurements.Clock(time.monotonic() + 60 * options.minutes)
    for model in models:
        measurements.measure(options, os.path.join(options.out, model), model, state, clock)
    import tables  # needs numpy
    print(tables.text(options, models, state, clock))


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    make = commands.add_parser("build", help="compile the programs")
    make.set_defaults(command=build)
    make.add_argument("out")
    make.add_argument("--weft", required=True)
    make.add_argument("--models", nargs="+", help=f"of {', '.join(MODELS)}, or folders; default: all of them")
    make.add_argument("--rows", nargs="+", help=f"of {', '.join(ROWS)}; default: all")
    make.add_argument("--target", default="cuda:sm_90")
    make.add_argument("--device", default="h200", help="whose rates give the bounds, as for weft inspect")
    make.add_argument("--batch", type=int, help="rows of a step, in place of the model's")
    make.add_argument("--seq", type=int, help="tokens of a row, in place of the model's")
    make.add_argument("--compile", action="append", default=[], metavar="FLAG", help="a flag of weft compile")
    time_it = commands.add_parser("run", help="time them beside PyTorch")
    time_it.set_defaults(command=run)
    time_it.add_argument("out")
    time_it.add_argument("--minutes", type=float, default=10,
                         help="no measurement starts that would end later; the first of a kind may end later")
    time_it.add_argument("--rounds", type=int, default=3)
    time_it.add_argument("--warmup", type=int, default=10)
    time_it.add_argument("--steps", type=int, default=40)
    time_it.add_argument("--survey-steps", type=int, default=10)
    time_it.add_argument("--modes", nargs="+", default=["default", "reduce-overhead", "max-autotune"],
                         help="of torch.compile, or eager; none: weft alone, no PyTorch")
    time_it.add_argument("--attention", nargs="+", default=("flash", "cudnn"))
    time_it.add_argument("--device", default="cuda", choices=("cuda", "cpu"), help="PyTorch's device")
    time_it.add_argument("--peak", type=float, default=989.5, help="TFLOP/s of the GPU")
    time_it.add_argument("--run", action="append", default=[], metavar="FLAG", help="a flag of weft's programs")
    time_it.add_argument("--llmc", metavar="LOG", help="what llm.c's train_gpt2cu printed on this machine")
    return parser.parse_args()


if __name__ == "__main__":
    arguments = parse()
    arguments.command(arguments)
