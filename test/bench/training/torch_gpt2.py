#!/usr/bin/env python3
"""GPT-2 trained by PyTorch as fast as it can: torch_gpt2.py JOB.json RESULT.json.

Autocast with a GradScaler, fused AdamW, attention by
scaled_dot_product_attention, and torch.compile in the mode that the job names.
Nothing waits for the device between steps.
"""
import contextlib
import json
import os
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "reference"))
import tensors
import torch_models

TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


class FastOps(torch_models.Ops):
    """The ops of the reference model by PyTorch's fused functions."""

    def __init__(self, drop):
        self.drop = drop

    def attend(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=self.drop)

    @staticmethod
    def gelu_new(x):
        return F.gelu(x, approximate="tanh")

    def dropout(self, x):
        return F.dropout(x, self.drop) if self.drop else x


class Model(torch.nn.Module):
    """Parameters under the names of the reference, which hold dots."""

    def __init__(self, job):
        super().__init__()
        self.config, self.ops = job["config"], FastOps(job["dropout"])
        self.names = {}
        for name, value in tensors.read_tensors(job["weights"]).items():
            self.names[name] = name.replace(".", "__")
            parameter = torch.nn.Parameter(torch.from_numpy(value.copy()))
            self.register_parameter(self.names[name], parameter)

    def forward(self, inputs, targets):
        parameters = {name: getattr(self, own) for name, own in self.names.items()}
        return torch_models.loss(parameters, self.config, inputs, targets, self.ops)


def attention_backend(job):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    names = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION,
             "efficient": SDPBackend.EFFICIENT_ATTENTION, "math": SDPBackend.MATH}
    return sdpa_kernel(names[job["attention"]])


class Rows:
    """Batches in the order of the file, as weft's programs read them."""

    def __init__(self, job):
        self.batch, self.seq, self.device = job["batch"], job["seq"], job["device"]
        self.tokens = np.fromfile(job["tokens"], "<u2").astype(np.int64)
        self.windows, self.next = (self.tokens.size - 1) // self.seq, 0

    def read(self):
        rows = range(self.next, self.next + self.batch)
        self.next += self.batch
        starts = [row % self.windows * self.seq for row in rows]
        batch = torch.from_numpy(np.stack([self.tokens[s:s + self.seq + 1] for s in starts]))
        if self.device == "cuda":
            batch = batch.pin_memory().to("cuda", non_blocking=True)
        return batch[:, :-1], batch[:, 1:]


class Trainer:
    def __init__(self, job):
        self.job, self.rows = job, Rows(job)
        model = Model(job).to(job["device"])
        self.parameters = list(model.parameters())
        self.optimizer = torch.optim.AdamW(self.parameters, lr=job["rate"],
                                           weight_decay=job["decay"], fused=True)
        self.scaler = torch.amp.GradScaler(job["device"], enabled=job["precision"] == "f16")
        self.loss = (model if job["mode"] == "eager"
                     else torch.compile(model, mode=job["mode"]))

    def autocast(self):
        kind = TYPES[self.job["precision"]]
        if kind is torch.float32:
            return contextlib.nullcontext()
        return torch.autocast(self.job["device"], kind)

    def step(self):
        inputs, targets = self.rows.read()
        with self.autocast():
            loss = self.loss(inputs, targets)
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimizer)
        torch.nn.utils.clip_grad_norm_(self.parameters, self.job["clip"])
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.detach().clone()


def wait(device):
    if device == "cuda":
        torch.cuda.synchronize()


def kernels_of(trainer, job):
    """Kernels by the time they take in a step: [name, ms, calls]."""
    on_device = job["device"] == "cuda"
    kind = torch.profiler.ProfilerActivity
    with torch.profiler.profile(activities=[kind.CUDA if on_device else kind.CPU]) as profile:
        for _ in range(job["steps"]):
            trainer.step()
        wait(job["device"])
    entries = [[entry.key,
                (entry.self_device_time_total if on_device else entry.self_cpu_time_total)
                / 1000 / job["steps"], entry.count / job["steps"]]
               for entry in profile.key_averages()]
    return sorted(entries, key=lambda entry: -entry[1])[:50]


def main(job):
    torch.manual_seed(0)
    trainer = Trainer(job)
    with attention_backend(job):
        losses = [trainer.step() for _ in range(job["warmup"])]
        wait(job["device"])
        begin = time.perf_counter()
        losses += [trainer.step() for _ in range(job["steps"])]
        wait(job["device"])
        ms = (time.perf_counter() - begin) * 1000 / job["steps"]
        result = {"ms": ms, "losses": [float(loss) for loss in losses], "peak_bytes": peak(job)}
        if job["profile"]:
            result["kernels"] = kernels_of(trainer, job)
    return result


def peak(job):
    """Bytes of the device that PyTorch has reserved; on the CPU, bytes of the process."""
    if job["device"] == "cuda":
        return torch.cuda.max_memory_reserved()
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        result = main(json.load(file))
    with open(sys.argv[2], "w") as file:
        json.dump(result, file)
