"""The two sides of the comparison, each run in a process of its own."""
import collections
import json
import os
import struct
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "reference"))
import cases
import tensors

RATE, CLIP, DECAY = 6e-4, 1.0, 0.1
TRACED = 5  # steps of the run whose commands are timed; the first two are not counted


def write_inputs(work, config, seq, rows):
    """Tokens of that many rows, and the first weights, in the folder `work`."""
    # Few of the tokens are frequent, as in text: the loss falls.
    draws = np.random.RandomState(1).zipf(1.3, rows * seq + 1)
    (draws % config["vocab_size"]).astype("<u2").tofile(os.path.join(work, "tokens.bin"))
    weights = cases.initial_weights(config)
    tensors.write_tensors(os.path.join(work, "weights.safetensors"),
                          {name: scaled(name, value) for name, value in weights.items()})


class Bench:
    """A measurement: the options, the plan that build wrote, and the inputs of
    both sides, which are written to the folder `work`."""

    def __init__(self, options, plan, work):
        self.options, self.plan, self.work = options, plan, work
        rows = plan["batch"] * (options.warmup + max(options.steps, options.survey_steps))
        write_inputs(work, plan["config"], plan["seq"], rows)

    def path(self, name):
        return os.path.join(self.work, name)

    def call_weft(self, row, steps, *flags):
        program = os.path.join(os.path.abspath(self.options.out), row["program"])
        command = [program, "--data", self.path("tokens.bin"), "--data-format=u16", "--no-shuffle",
                   "--init-from", self.path("weights.safetensors"), "--steps", str(steps),
                   "--lr", str(RATE), "--clip", str(CLIP), "--weight-decay", str(DECAY),
                   "--progress=none", *self.options.run, *flags]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f"{' '.join(command)}: ended with {result.returncode}\n"
                     f"{result.stderr[-3000:]}")

    def weft(self, row):
        """`ms` of a timed step, `losses`, `peak_bytes` of the device."""
        metrics = self.path("metrics.jsonl")
        if os.path.exists(metrics):
            os.remove(metrics)
        self.call_weft(row, self.options.warmup + self.options.steps, "--metrics", metrics)
        with open(metrics) as file:
            lines = [line for line in map(json.loads, file) if "loss" in line]
        timed = lines[self.options.warmup:]
        return {"ms": sum(line["step_ms"] for line in timed) / len(timed),
                "losses": [line["loss"] for line in lines],
                "peak_bytes": max(line["mem_bytes"] for line in lines)}

    def weft_commands(self, row):
        """Commands by the time they take in a step: [name, ms, calls]."""
        trace = self.path("trace.json")
        self.call_weft(row, TRACED, "--trace", trace)
        with open(trace) as file:
            events = [event for event in json.load(file)["traceEvents"]
                      if event["ph"] == "X" and event["pid"] == 0]
        return by_name(counted(events))

    def torch(self, row, peer, steps=None, profile=False, may_fail=False):
        """The same of PyTorch, and `kernels` if it is asked for a profile; `error`,
        and no `ms`, if it may fail and does."""
        job = {**peer, "config": self.plan["config"], "batch": self.plan["batch"],
               "seq": self.plan["seq"], "dropout": row["dropout"],
               "precision": self.plan["precision"], "device": self.options.device,
               "tokens": self.path("tokens.bin"), "weights": self.path("weights.safetensors"),
               "warmup": self.options.warmup, "steps": steps or self.options.steps,
               "rate": RATE, "clip": CLIP, "decay": DECAY, "profile": profile}
        with open(self.path("job.json"), "w") as file:
            json.dump(job, file)
        result = subprocess.run([sys.executable, os.path.join(HERE, "torch_gpt2.py"),
                                 self.path("job.json"), self.path("result.json")],
                                capture_output=True, text=True)
        if result.returncode != 0:
            if not may_fail:
                sys.exit(f"PyTorch: ended with {result.returncode}\n{result.stderr[-3000:]}")
            return {"ms": None, "error": message_of(result.stderr, result.returncode)}
        with open(self.path("result.json")) as file:
            return json.load(file)


def message_of(words, code):
    """The line of a failed process that says what was wrong."""
    lines = words.strip().splitlines()
    errors = [line for line in lines if "Error: " in line] or lines
    return errors[-1][:200] if errors else f"ended with {code}"


def scaled(name, value):
    """Matrices as GPT-2 begins: the reference weights are larger."""
    return value / np.float32(3) if value.ndim > 1 else value


def counted(events):
    """Events of the steps behind the second, but no waits, in which another stream
    works. A step ends with `apply`."""
    step, last, kept = 0, None, []
    for event in events:
        if last == "apply" and event["cat"] != "apply":
            step += 1
        last = event["cat"]
        if step >= 2 and last in ("micro", "apply") and not event["name"].startswith("wait "):
            kept.append(event)
    return kept


def by_name(events, steps=TRACED - 2):
    total, calls = collections.Counter(), collections.Counter()
    for event in events:
        total[event["name"]] += event["dur"] / 1000 / steps
        calls[event["name"]] += 1
    return [[name, ms, calls[name] / steps] for name, ms in total.most_common()]
