"""The tables that gpu.py prints, in Markdown."""
import datetime
import json
import os
import re
import statistics
import subprocess

import gpt2
import report

SHARE = 0.02  # of a step, from which on a command is listed
LARGEST = 1.4  # times its bound that a command may take without an explanation


def driver():
    """Name of the GPU and version of its driver, or nothing."""
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                              capture_output=True, text=True)
    except OSError:
        return ""
    return done.stdout.strip().splitlines()[0] if done.returncode == 0 and done.stdout.strip() else ""


def results_of(state, model, row, kind):
    return [result for (one, other, what, _), result in sorted(state.results.items(), key=lambda item: str(item[0]))
            if (one, other, what) == (model, row, kind)]


def llmc_ms(path):
    """Median of the steps that llm.c printed, without the first five."""
    try:
        with open(path) as file:
            steps = [float(found) for found in re.findall(r"^step .*?\| +([0-9.]+) ms \|", file.read(), re.M)]
    except OSError as error:
        gpt2.fail(f"expects the output of llm.c, but got {path}: {error.strerror}")
    if len(steps) < 6:
        gpt2.fail(f"expects at least 6 steps of llm.c in {path}, but got {len(steps)}")
    return statistics.median(steps[5:])


def model_table(options, model, plan, state):
    torch = results_of(state, model, "", "torch")
    sides = [(row["name"], results_of(state, model, row["name"], "weft")) for row in plan["rows"]]
    if not torch and not any(runs for _, runs in sides):
        return []
    lines = ["", f"{model}: {report.parameters(plan['config']):,} parameters, batch {plan['batch']}, {plan['seq']} tokens, "
             f"{plan['precision']}, {plan['target']}", "",
             "| side | ms | tokens/s | MFU | GiB | PyTorch's time / this | last loss |", "|---|---|---|---|---|---|---|"]
    for name, runs in [*sides, ("PyTorch", torch)]:
        if not runs:
            continue
        pairs = [other["ms"] / own["ms"] for own, other in zip(runs, torch)]
        ratio = f"{statistics.median(pairs):.3f}" if pairs else ""
        loss = sum(runs[0]["losses"][-5:]) / len(runs[0]["losses"][-5:])
        lines.append(f"| {name} | {report.side(plan, runs, options.peak)} | {ratio} | {loss:.4f} |")
    if options.llmc and model == "gpt2-124m":
        ms = llmc_ms(options.llmc)
        ratio = f"{statistics.median(run['ms'] for run in torch) / ms:.3f}" if torch else ""
        lines.append(f"| llm.c | {ms:.2f} | {plan['batch'] * plan['seq'] / ms * 1000:,.0f} |  |  | {ratio} |  |")
    return lines


def bounds_of(folder, row):
    """Sums of bounds by the name of a command, in ms a step; empty where build counted none."""
    path = os.path.join(folder, row + ".bounds.json")
    if not os.path.exists(path):
        return {}
    sums = {}
    with open(path) as file:
        for command in json.load(file)["roofline"]["commands"]:
            sums[command["name"]] = sums.get(command["name"], 0) + command["bound_us"] / 1e3
    return sums


def command_table(folder, model, row, state):
    """Commands of at least SHARE of a step beside their bounds."""
    found = results_of(state, model, row, "commands")
    if not found:
        return []
    commands, bounds = found[0]["commands"], bounds_of(folder, row)
    step = sum(ms for _, ms, _ in commands)
    lines = ["", f"{model}, {row}, commands of at least {100 * SHARE:g} % of {step:.2f} ms:", "",
             "| ms of a step | calls | bound, ms | time / bound | command |", "|---|---|---|---|---|"]
    for name, ms, calls in commands:
        if ms < SHARE * step:
            continue
        bound = bounds.get(name)
        ratio = f"{ms / bound:.2f}" + (" (above)" if ms > LARGEST * bound else "") if bound else ""
        lines.append(f"| {ms:.3f} | {calls:g} | {f'{bound:.3f}' if bound else ''} | {ratio} | {name[:100]} |")
    return lines


def text(options, models, state, clock):
    lines = [f"{datetime.date.today()}, {driver() or options.device}; peak {options.peak:g} TFLOP/s"]
    for model in models:
        folder = os.path.join(options.out, model)
        plan = gpt2.read_json(folder, "bench.json", "a folder that build wrote")
        lines += model_table(options, model, plan, state)
        for row in plan["rows"]:
            lines += command_table(folder, model, row["name"], state)
    if clock.open:
        lines += ["", f"open, {len(clock.open)} measurements (the same command goes on): " + ", ".join(clock.open)]
    return "\n".join(lines)
