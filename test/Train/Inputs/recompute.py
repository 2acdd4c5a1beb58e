"""recompute.py EXAMPLES TEXT: checkpoints after ten steps do not depend on --recompute.

Programs and checkpoints are left in the current folder.
"""
import hashlib
import json
import pathlib
import subprocess
import sys

RULES = ("none", "blocks", "every:2", "bytes:1", "bytes:1000000", "bytes:1000000000")
WAYS = [
    ("gpt2-mini", 1, ""),
    ("gpt2-mini", 1, "--precision=bf16"),
    ("gpt2-mini", 1, "--precision=f16 --recipe=llm --grad-dtype=torch --accumulation=off"),
    ("llama-mini", 1, "--precision=f16"),
    ("llama-mini", 1, "--numerics=fast --bucket=scope"),
    ("gpt2-mini", 2, "--mesh=dp:2 --zero=3"),
    ("gpt2-mini", 2, "--mesh=dp:2 --zero=1 --precision=f16 --sync=each"),
    ("llama-mini", 4, "--mesh=replica:2,shard:2 --zero=3 --prefetch=2"),
]


def call(*command):
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if ended.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {ended.returncode}\n{ended.stderr}")
    return ended.stdout


def dropping(source, target):
    """The model with a dropout of 0.1 wherever it can have one."""
    target.mkdir()
    config = json.loads((source / "config.json").read_text())
    for field in ("attn_pdrop", "embd_pdrop", "resid_pdrop", "attention_dropout"):
        if field in config or config["model_type"] == "gpt2" and field != "attention_dropout":
            config[field] = 0.1
    (target / "config.json").write_text(json.dumps(config))
    return target


def digest(saves):
    files = sorted(pathlib.Path(saves).glob("step_*/*.safetensors"))
    assert files, saves
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def activations(program):
    return json.loads(call("weft", "inspect", program, "--memory", "--json"))["memory"]["activations"]


def main(examples, text):
    models = {name: dropping(pathlib.Path(examples) / name, pathlib.Path(name)) for name in ("gpt2-mini", "llama-mini")}
    programs, most = 0, 0.0
    for number, (model, ranks, flags) in enumerate(WAYS):
        found = []
        for rule in RULES:
            program = f"./p{number}-{rule.replace(':', '-')}"
            call("weft", "compile", models[model], "--batch=2", "--seq=64", f"--recompute={rule}", *flags.split(), "-o", program)
            accum = "1" if "--accumulation=off" in flags else "2"
            more = ("--loopback", str(ranks)) if ranks > 1 else ()
            call(program, "--data", text, "--steps", "10", "--accum", accum, "--progress", "none", "--save-dir",
                 program + "-saves", *more)
            found.append((digest(program + "-saves"), activations(program)))
            programs += 1
        if len({bits for bits, _ in found}) != 1:
            sys.exit(f"{model} {flags}: expects the same bits, but got {found}")
        most = max(most, found[1][1] / found[0][1])
    print(f"{len(WAYS)} ways to train, {programs} programs, all equal, at most {most:.3f} of the activations")


main(*sys.argv[1:])
