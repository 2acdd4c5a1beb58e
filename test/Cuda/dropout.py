#!/usr/bin/env python3
"""Language models that drop a tenth have the gradients of the CPU on a device.

usage: dropout.py BUILD WORK MODEL DATA [--precision P] [--compile FLAG]...

The configuration in the folder MODEL gets 0.1 for each dropout that it knows. The
gradients of one step of both programs differ by at most 1e-5 of their norms (f16:
2e-3), parameter by parameter. Masks show in all of them: the gradients of a program
that drops 0.11 differ by more in every parameter than the device's in any.
A program whose backward pass draws the numbers again has the same bits.
"""
import array
import json
import os
import struct
import sys

from train import Case, parse

BOUND = {"f32": 1e-5, "f16": 2e-3}


def gradients_in(path):
    with open(path, "rb") as file:
        data = file.read()
    begin = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:begin])
    header.pop("__metadata__", None)
    for name, tensor in header.items():
        if tensor["dtype"] != "F32":
            sys.exit(f"{path}: expects gradients of f32, but got {tensor['dtype']} of {name}")
    return {name: array.array("f", data[begin + tensor["data_offsets"][0]:begin + tensor["data_offsets"][1]])
            for name, tensor in header.items()}


def differences(expected, got):
    """Relative differences by parameter, L2."""
    if not expected or expected.keys() != got.keys():
        sys.exit(f"expects gradients of {sorted(expected)}, but got {sorted(got)}")
    norm = {name: sum(x * x for x in values) ** 0.5 for name, values in expected.items()}
    return {name: sum((x - y) ** 2 for x, y in zip(values, got[name])) ** 0.5 / norm[name]
            for name, values in expected.items()}


def dropping(options, share):
    """The model as one that drops so much."""
    with open(os.path.join(options.model, "config.json")) as file:
        config = json.load(file)
    names = [name for name in config if name.endswith(("_pdrop", "_dropout"))]
    if not names:
        sys.exit(f"{options.model}: expects a dropout")
    folder = os.path.join(options.work, f"drops-{share}")
    os.makedirs(folder)
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(dict(config, **dict.fromkeys(names, share)), file)
    return folder


def main():
    options = parse(sys.argv[1:] + ["--steps", "1"])
    bound = BOUND[options.precision]
    case = Case(options)

    def made(program, environment=None):
        path = case.path(f"{program}.safetensors")
        case.run(program, "--seed", "7", "--dump-grads", path, environment=environment)
        return gradients_in(path)

    source, options.model = options.model, dropping(options, 0.1)
    case.compile_all()
    expected, got = made("cpu"), made("cuda", case.device(3))
    case.compile("--target=cuda:sm_90", *options.cuda, "--dropout-bits=draw", "-o", case.path("draws"))
    drawn = made("draws", case.device(3))
    different = sorted(name for name in got if got[name] != drawn[name])
    if different or got.keys() != drawn.keys():
        sys.exit(f"expects the same bits with --dropout-bits=draw, but got others for {different}")
    worst = max(differences(expected, got).items(), key=lambda item: item[1])
    if worst[1] > bound:
        sys.exit(f"expects gradients within {bound:.0e}, but got {worst[1]:.1e} for {worst[0]}")
    options.model = source
    options.model = dropping(options, 0.11)
    case.compile("-o", case.path("other"))
    least = min(differences(expected, made("other")).items(), key=lambda item: item[1])
    if least[1] <= worst[1]:
        sys.exit(f"expects other masks to show in every gradient, but got {least[1]:.1e} for {least[0]}")
    print(f"{len(got)} gradients, largest difference from the CPU {worst[1]:.1e}, with other masks at least {least[1]:.1e}")


if __name__ == "__main__":
    main()
