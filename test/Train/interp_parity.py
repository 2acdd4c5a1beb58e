#!/usr/bin/env python3
"""Trains a case in the interpreter and compares it with the stored reference.

usage: interp_parity.py --weft build/bin/weft --interp build/bin/weft-interp
           --work DIR --phase PHASE CASE

The graph after PHASE (expand-optimizer to fuse) is run by
weft-interp, step by step, in place of an executable: the same comparison as
parity.py one level higher.
"""
import argparse
import json
import os
import sys

import parity  # first: finds an interpreter with numpy
from parity import cases, np, tensors


class Interpreter:
    """Programs of one module with the states kept in a file between calls."""

    def __init__(self, tool, module, state, work):
        self.tool, self.module, self.state = tool, module, state
        self.path = lambda name: os.path.join(work, name)

    def run(self, program, inputs=None, **numbers):
        flags = [f"--set={name}={float(value)!r}" for name, value in numbers.items()]
        if inputs:
            tensors.write_tensors(self.path("inputs.safetensors"), inputs)
            flags.append("--inputs=" + self.path("inputs.safetensors"))
        parity.call([self.tool, self.module, "--program=" + program,
                     "--state=" + self.state, "--print=off",
                     "--save-state=" + self.path("next.safetensors"),
                     "--outputs=" + self.path("outputs.safetensors"), *flags])
        os.replace(self.path("next.safetensors"), self.path("state.safetensors"))
        self.state = self.path("state.safetensors")
        return tensors.read_tensors(self.path("outputs.safetensors"))


def inputs_of(case, row):
    spec = cases.CASES[case]
    if case == "mlp":
        images, labels = cases.mlp_rows(row, spec["batch"])
        return {"image": images, "label": labels.astype(np.int32)}
    tokens, targets = cases.token_rows(row, spec["batch"], spec["seq"])
    return {"tokens": tokens.astype(np.int32), "targets": targets.astype(np.int32)}


def train(case, interpreter):
    """The result of parity.train, from the interpreter."""
    run, batch = cases.run_of(case), cases.CASES[case]["batch"]
    result = {"losses": [], "norms": [], "rates": []}
    row = 0
    for step in range(1, run["steps"] + 1):
        loss = 0.0
        if case == "mlp":  # its targets may be ignored: their number is known ahead
            for k in range(run["accum"]):
                interpreter.run("denominators", inputs_of(case, row + k * batch), accumulate=k,
                                batch_share=1 / run["accum"])
        for k in range(run["accum"]):
            outputs = interpreter.run("micro", inputs_of(case, row), accumulate=k,
                                      loss_seed=1 / run["accum"])
            loss += float(outputs["loss"]) / run["accum"]
            row += batch
        if step == 1:
            states = tensors.read_tensors(interpreter.state)
            result["gradients"] = {name[:-5]: value for name, value in states.items()
                                   if name.endswith(".grad")}
        rate = cases.learning_rate(step, run)
        outputs = interpreter.run(
            "apply", lr=rate, momentum=0, max_norm=run["clip"],
            **{name: run[name] for name in ("beta1", "beta2", "eps", "weight_decay")})
        result["losses"].append(loss)
        result["norms"].append(float(outputs["grad_norm"]))
        result["rates"].append(float(rate))
    states = tensors.read_tensors(interpreter.state)
    result["weights"] = {name: states[name] for name in result["gradients"]}
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("case", choices=cases.PARITY)
    parser.add_argument("--weft", default="weft")
    parser.add_argument("--interp", default="weft-interp")
    parser.add_argument("--work", required=True)
    parser.add_argument("--phase", default="fuse")
    args = parser.parse_args()
    parity.clear(args.work)
    model, _, _ = parity.prepare(args.case, args.work)
    module = os.path.join(args.work, "module.mlir")
    parity.call([args.weft, "compile", model, "--to=" + args.phase, "-o", module,
                 *parity.compile_flags(args.case)])
    start = os.path.join(args.work, "weights.safetensors")
    tensors.write_tensors(start, cases.initial_weights(cases.load_config(args.case)[0]))
    result = train(args.case, Interpreter(args.interp, module, start, args.work))
    print(f"{args.case} after {args.phase}, in the interpreter")
    sys.exit(parity.judge(args.case, result))


if __name__ == "__main__":
    main()
