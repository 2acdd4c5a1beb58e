#!/usr/bin/env python3
"""Makes test/Train/data/scaler.json: PyTorch's GradScaler on given overflows.

usage: scale_with_torch.py

torch.cuda.amp.GradScaler runs its own state machine (scale, unscale_, step,
update, one or two optimizers) on CPU tensors. Its two kernels exist for CUDA
alone, so their arithmetic is registered for the CPU here: AmpKernels.cu of
PyTorch 1.13, line by line. The list `low` has f16 products, those of
autocast_ops.py, whose gradients overflow by themselves at large scales.
"""
import json
import os

import torch
from torch.cuda.amp import grad_scaler

import autocast_ops

INTERVAL = 3
STEPS = 48


def unscale(gradients, found_inf, inv_scale):
    """amp_non_finite_check_and_unscale_cuda_: multiplies even infinite values."""
    for gradient in gradients:
        if not torch.isfinite(gradient).all():
            found_inf.fill_(1.0)
        if inv_scale.item() != 1.0:
            gradient.mul_(inv_scale)


def update(scale, tracker, found_inf, growth, backoff, interval):
    """amp_update_scale_cuda_kernel; products in double, stored as float."""
    if found_inf.item():
        scale.fill_(scale.double().item() * backoff)
        tracker.fill_(0)
        return scale
    successful = tracker.item() + 1
    if successful != interval:
        tracker.fill_(successful)
        return scale
    grown = (scale.double() * growth).float()
    if torch.isfinite(grown):
        scale.copy_(grown)
    tracker.fill_(0)
    return scale


class Replicator(grad_scaler._MultiDeviceReplicator):
    """Without the assertion that the tensor is on a GPU."""

    def __init__(self, master):
        self.master = master
        self._per_device_tensors = {}


LIBRARY = torch.library.Library("aten", "IMPL", "CPU")
LIBRARY.impl("_amp_foreach_non_finite_check_and_unscale_", unscale)
LIBRARY.impl("_amp_update_scale_", update)


grad_scaler._MultiDeviceReplicator = Replicator


def make_scaler(first):
    torch.cuda.is_available = lambda: True  # only asked for by the constructor
    scaler = torch.cuda.amp.GradScaler(init_scale=first, growth_interval=INTERVAL)
    scaler._lazy_init_scale_growth_tracker(torch.device("cpu"))
    return scaler


def plain_losses(weights):
    """Gradients of 1."""
    return [sum(weights)]


def shared_losses(weights):
    """Two losses of both weights, as PyTorch's test_grad_scaling_multiple."""
    a, b = weights
    return [(2 * a + 3 * b - 0.5) ** 2, (0.6 * a - 0.5 * b - 0.5) ** 2]


def low_losses(weights):
    """test/Train/Inputs/low.mlir: 0.7 x a + 0.1 x b, the products in f16."""
    ops, x = autocast_ops.AutocastOps(torch.float16, exact=False), torch.tensor([[0.3]])
    a, b = (ops.linear(x, weight.reshape(1, 1)).float() for weight in weights)
    return [(a * 0.7 + b * 0.1).sum()]


def train(overflows, losses=plain_losses, lr=0.01, first=16.0):
    """One SGD per list of overflows, each with a weight of 10."""
    weights = [torch.nn.Parameter(torch.tensor([10.0])) for _ in overflows]
    optimizers = [torch.optim.SGD([weight], lr=lr) for weight in weights]
    scaler = make_scaler(first)
    used, skipped = [], []
    after = {"scale": [], "tracker": []}
    for index in range(len(overflows)):
        after["ab"[index] if len(overflows) > 1 else "w"] = []
    for step in range(STEPS):
        used.append(scaler.get_scale())
        for loss in losses(weights):
            (loss * scaler.get_scale()).backward()
        for weight, pattern in zip(weights, overflows):
            if pattern[step]:
                weight.grad.fill_(float("inf"))
        skipped.append(int(not all(weight.grad.isfinite().all() for weight in weights)))
        for optimizer in optimizers:
            scaler.step(optimizer)
            optimizer.zero_grad()
        scaler.update()
        after["scale"].append(scaler.get_scale())
        after["tracker"].append(scaler._get_growth_tracker())
        for name, weight in zip([key for key in after if len(key) == 1], weights):
            after[name].append(weight.item())
    return {"overflows": overflows,
            "after": dict(after, used=used, skipped=skipped)}


def main():
    generator = torch.Generator().manual_seed(3)
    patterns = (torch.rand(2, STEPS, generator=generator) < 0.15).int().tolist()
    rare = (torch.rand(2, STEPS, generator=generator) < 0.05).int().tolist()
    result = {"one": train(patterns[:1]), "two": train(patterns),
              "shared": train(patterns, shared_losses),
              "low": train(rare, low_losses, lr=1.0, first=2.0 ** 19)}
    path = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                        "Train", "data", "scaler.json")
    with open(path, "w") as file:
        json.dump(result, file)
        file.write("\n")


main()
