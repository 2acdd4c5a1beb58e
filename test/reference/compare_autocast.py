#!/usr/bin/env python3
"""Compares the first gradients in mixed precision with PyTorch's autocast.

usage: compare_autocast.py --weft build/bin/weft --work DIR [MODEL...]
       compare_autocast.py --weft build/bin/weft --work DIR --cpu [MODEL...]
       compare_autocast.py --store [MODEL...]

A run passes if |weft - amp| is at most a quarter of |amp - f32|: L2 norms over
all gradients; amp is what autocast_ops.py makes of PyTorch, f32 is PyTorch. The
tensors that are worst by themselves are printed, and as `exact sums` the same
ratio for amp with products summed in f64: what another order of f32 sums alone
does. The amp of --grad-dtype=f32 does not round gradients of weights either, as
PyTorch would; that of --grad-dtype=torch does.

--cpu: amp is torch.autocast("cpu", torch.bfloat16) itself, with weft under the
CPU lists; once with its own kernels and once with attention, gelu and silu that
round once (CpuOps). The bound holds for the latter and --grad-dtype=torch.

--store writes the references of test/Train/precision.py.
"""
import argparse
import contextlib
import json
import os
import sys

import numpy as np
import torch

import autocast_ops
import cases
import tensors
import torch_models
import train_with_torch

sys.path.insert(0, os.path.join(cases.ROOT, "test", "Train"))
import precision as weft_precision  # noqa: E402

LOW = {"bf16": torch.bfloat16, "f16": torch.float16}
# The seeds of GradScaler's first step and of a run without one.
SCALE = {"bf16": 1.0, "f16": 65536.0}


def torch_gradients(case, ops=torch_models.Ops, scale=1.0,
                    context=contextlib.nullcontext()):
    """Loss and gradients of one micro-step; its seed is `scale`. The forward
    pass runs in `context`."""
    torch.set_num_threads(1)
    config, _ = cases.load_config(case)
    params = {name: torch.from_numpy(value.copy()).requires_grad_()
              for name, value in cases.initial_weights(config).items()}
    inputs, targets = train_with_torch.rows_of(
        case, 0, cases.CASES[case]["batch"], torch.float32)
    with context:
        loss = torch_models.loss(params, config, inputs, targets, ops)
    (loss * scale).backward()
    return loss.item(), {name: cases.left_out(name, p.grad.numpy() / scale)
                         for name, p in params.items()}


def autocast_gradients(case, precision, grad_dtype, sums=torch.float32, flash=False):
    ops = autocast_ops.AutocastOps(LOW[precision], grad_dtype == "f32", sums, flash)
    return torch_gradients(case, ops, SCALE[precision])


def cpu_gradients(case, once=True):
    return torch_gradients(case, autocast_ops.CpuOps(once),
                           context=torch.autocast("cpu", dtype=torch.bfloat16))


def distances(a, b):
    """L2 norms of the differences, by name."""
    return {name: float(np.linalg.norm(cases.left_out(name, a[name]).astype(np.float64)
                                       - b[name]))
            for name in b}


def weft_gradients(case, precision, grad_dtype, args):
    return weft_precision.first_step(
        case, args.weft, os.path.join(args.work, case), args.threads,
        [*weft_precision.FLAGS[precision], f"--grad-dtype={grad_dtype}"])


def compare(case, precision, grad_dtype, f32, args):
    loss, got = weft_gradients(case, precision, grad_dtype, args)
    amp_loss, amp = autocast_gradients(case, precision, grad_dtype, flash=args.flash)
    _, exact = autocast_gradients(case, precision, grad_dtype, torch.float64, args.flash)
    near, far, floor = distances(got, amp), distances(f32[1], amp), distances(exact, amp)
    total = weft_precision.total
    ratio = total(near.values()) / total(far.values())
    print(f"{case} {precision} --grad-dtype={grad_dtype}: ratio {ratio:.4f}, bound "
          f"{weft_precision.RATIO_BOUND}; exact sums "
          f"{total(floor.values()) / total(far.values()):.4f}")
    print(f"  losses: weft {loss:.7f}, amp {amp_loss:.7f}, f32 {f32[0]:.7f}")
    worst = sorted(((near[name] / far[name], name) for name in amp), reverse=True)
    for error, name in worst[:args.show]:
        print(f"  {name}: {error:.4f} (exact sums {floor[name] / far[name]:.4f})")
    sys.stdout.flush()
    return ratio <= weft_precision.RATIO_BOUND


def compare_cpu(case, f32, args):
    """Prints the ratios to torch.autocast itself; those to its lists written out
    (autocast_ops.py) stand beside them."""
    got = {grad: weft_gradients(case, "cpu", grad, args)[1] for grad in ("torch", "f32")}
    _, written = autocast_gradients(case, "bf16", "torch")
    total, passed = weft_precision.total, True
    for once in (True, False):
        _, amp = cpu_gradients(case, once)
        far = distances(f32[1], amp)
        kernels = "rounding once" if once else "its own kernels"
        print(f"{case} torch.autocast, {kernels}: written out "
              f"{total(distances(written, amp).values()) / total(far.values()):.4f}")
        for grad, values in got.items():
            near = distances(values, amp)
            ratio = total(near.values()) / total(far.values())
            print(f"  --grad-dtype={grad}: ratio {ratio:.4f}; tensors: median "
                  f"{np.median([near[name] / far[name] for name in amp]):.4f}")
            worst = sorted(((near[name] / far[name], name) for name in amp), reverse=True)
            for error, name in worst[:args.show]:
                print(f"    {name}: {error:.4f}")
            if once and grad == "torch":
                passed &= ratio <= weft_precision.RATIO_BOUND
    return passed


def references(case):
    """The stored ones by their name in weft_precision.FLAGS: loss and gradients."""
    if not case.startswith("rounded-"):
        return {name: autocast_gradients(case, name, "f32") for name in LOW}
    return {**{name: autocast_gradients(case, name, "torch") for name in LOW},
            "cpu": cpu_gradients(case)}


def store(case):
    _, f32 = torch_gradients(case)
    record = {"case": case, "torch": torch.__version__, "losses": {}, "distances": {}}
    arrays = {}
    for precision, (loss, amp) in references(case).items():
        record["losses"][precision] = loss
        record["distances"][precision] = distances(f32, amp)
        for name, value in amp.items():
            arrays[f"{precision}/{name}"] = tensors.sketch(value).astype(np.float32)
    tensors.write_tensors(os.path.join(cases.DATA, case + ".safetensors"), arrays)
    with open(os.path.join(cases.DATA, case + ".json"), "w") as file:
        json.dump(record, file, indent=1)
        file.write("\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="*", default=cases.PRECISION)
    parser.add_argument("--weft", default="weft")
    parser.add_argument("--work", default="")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--show", type=int, default=3, help="worst tensors to print")
    parser.add_argument("--flash", action="store_true",
                        help="round inside attention as flash attention does")
    parser.add_argument("--cpu", action="store_true",
                        help="compare with torch.autocast of the CPU itself")
    parser.add_argument("--rows", type=int, default=32, help="rows of 128 tokens")
    parser.add_argument("--store", action="store_true", help="write the references")
    args = parser.parse_args()
    if not args.store and not args.work:
        parser.error("expects --work DIR or --store")
    passed = True
    for model in args.models:
        case = f"precision-{model}"
        if args.store:
            store(case)
            store(f"rounded-{model}")
            continue
        cases.CASES[case]["batch"] = args.rows
        f32 = torch_gradients(case)
        if args.cpu:
            passed &= compare_cpu(case, f32, args)
            continue
        for precision in LOW:
            for grad_dtype in ("f32", "torch"):
                passed &= compare(case, precision, grad_dtype, f32, args)
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
