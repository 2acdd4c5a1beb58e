"""Edits plans one place at a time: weft compile --from=verify-plan has to end with exit 3 and one error.

Usage: edited-plans.py FOLDER, with the plans of EDITS; prints the error of each edit.
"""
import pathlib
import re
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])
# Name of the edit, plan, pattern, what takes the place of its first match.
EDITS = [
    ("lrr", "cpu", r'plan.input "lr"', 'plan.input "lrr"'),
    ("loss_sed", "cpu", r'"loss_seed"', '"loss_sed"'),
    ("seeed", "cpu", r'"seed"', '"seeed"'),
    ("one data input", "cpu", r'"image"', '"imaeg"'),
    ("token", "gpt2", r'(?s)(index_input<"token)s(.*?plan.input "token)s', r"\1\2"),
    ("positions", "gpt2", r'"position"', '"positions"'),
    ("another type of input", "cpu", r'"lr"', '"rank"'),
    ("gn", "gpt2", r'plan.output "grad_norm"', 'plan.output "gn"'),
    ("another type of output", "gpt2", r'(?s)"grad_norm"(.*?)"loss_scale"', r'"loss_scale"\1"grad_norm"'),
    ("no loss scale", "f16", r'\n[^\n]*plan.output "loss_scale"[^\n]*', ""),
    ("logit", "gpt2", r'plan.output "logits"', 'plan.output "logit"'),
    ("kind", "gpt2", r'plan.program "logits"', 'plan.program "model"'),
    ("batch", "cpu", r"weft.batch = 32", "weft.batch = 33"),
    ("seq", "gpt2", r"weft.seq = 256", "weft.seq = 255"),
    ("vocab", "gpt2", r"weft.vocab = 256", "weft.vocab = 257"),
    ("negative limit", "cuda", r"limit = 10", "limit = -1"),
    ("no such input", "cuda", r'index_input<"label"', 'index_input<"lobel"'),
    ("floats", "cuda", r'index_input<"label"', 'index_input<"image"'),
    ("an input twice", "cuda", r"(index_inputs = \[(.*?>))", r"\1, \2"),
    ("another decay", "cuda", r'optimizers = \["adamw"\]', 'optimizers = ["adamw", "sgd"]'),
    ("unknown optimizer", "cuda", r'optimizers = \["adamw"\]', 'optimizers = ["lion"]'),
    ("no optimizer", "cuda", r'optimizers = \["adamw"\]', "optimizers = []"),
    ("no facts", "cuda", r", weft.training = #weft.training<.*?>]>", ""),
    ("a counter that counts nothing", "late", r"counters = {step = ", "counters = {loss = "),
    ("a counter of another kind", "late", r"counters = {step = ", "counters = {fc2.bias.exp_avg = "),
    ("counted twice", "late", r'step.late = \["fc1.weight"', 'step.late = ["fc1.weight", "fc2.weight"'),
    ("no counters", "late", r"counters = \{.*?\}, ", ""),
    ("not counted", "late", r'"fc1.bias", ', ""),
    ("nothing counted", "late", r'step.late = \["fc1.weight"\]', "step.late = []"),
    ("fingerprint", "cpu", r'weft.fingerprint = "\w+"', 'weft.fingerprint = ""'),
    ("no fingerprint", "cpu", r'weft.fingerprint = "\w+", ', ""),
    ("no scaler", "f16", r", scaler = <[^>]*>", ""),
    ("a scaler of nothing", "cpu", r"optimizers = (\[.*?\])", r"optimizers = \1, scaler = <torch>"),
    ("alignment 0", "cpu", r"plan.alignment = 64", "plan.alignment = 0"),
    ("alignment 1", "cuda", r"plan.alignment = 256", "plan.alignment = 1"),
    ("arena of i32", "cpu", r"(plan.arena_bytes = \d+) : i64", r"\1 : i32"),
    ("arena of all memory", "cpu", r"plan.arena_bytes = \d+", "plan.arena_bytes = 9223372036854775807"),
    ("unknown attribute", "cpu", r"plan.arena_bytes", "plan.arena = 1 : i64, plan.arena_bytes"),
    ("step as a parameter", "cpu", r"plan.state optimizer @step ", "plan.state param @step "),
    ("loss scale as a parameter", "gpt2", r"plan.state scaler @loss_scale ", "plan.state param @loss_scale "),
    ("moment as a parameter", "cpu", r"plan.state optimizer (@[\w.]+exp_avg )", r"plan.state param \1"),
    ("step as a loss scale", "cpu", r"plan.state optimizer @step ", "plan.state scaler @step "),
    ("time", "cpu", r"est_us = [^ ]+", "est_us = 0x7FF8000000000000"),
    ("negative time", "cpu", r"est_us = [^ ]+", "est_us = -1.0"),
    ("flops", "cpu", r"flops = \d+", "flops = -5"),
    ("an argument twice", "cpu", r"inplace \[\[0\]\]", "inplace [[0, 0]]"),
    ("an argument that is none", "cpu", r"inplace \[\[0\]\]", "inplace [[7]]"),
]

for name, plan, pattern, text in EDITS:
    whole = (folder / f"{plan}.mlir").read_text()
    edited, count = re.subn(pattern, text, whole, count=1)
    if count != 1:
        sys.exit(f"{name}: expects {pattern} in {plan}.mlir")
    path = folder / "edited.mlir"
    path.write_text(edited)
    result = subprocess.run(["weft", "compile", str(path), "--from=verify-plan", "-o", str(folder / "program")],
                            capture_output=True, text=True)
    if result.returncode != 3 or not re.search(r"edited\.mlir:\d+: ", result.stderr):
        sys.exit(f"{name}: expects exit 3 with a place, but got {result.returncode}:\n{result.stderr}")
    print(f"{name}:\n{result.stderr}")
