#!/usr/bin/env python3
"""One rank of a GPT-2 that PyTorch's DDP trains on the CPU: torch_ranks.py JOB.json RANK.

The processes meet in a file of the job's folder and reduce by gloo; rank 0
writes `RESULT.json` beside the job. Works with PyTorch 1.13 and newer. Batches
are in memory before the first step; between two barriers the steps are timed.
"""
import json
import math
import os
import sys
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "reference"))
import tensors

LINEAR = ("c_attn", "c_fc", "c_proj")  # their weights lie transposed in a file of GPT-2


class Attention(nn.Module):
    def __init__(self, config, fused):
        super().__init__()
        width = config["n_embd"]
        self.heads, self.fused = config["n_head"], fused
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        seq = config["n_positions"]
        mask = torch.full((seq, seq), -math.inf).triu(1)
        self.register_buffer("mask", mask, persistent=False)

    def attend(self, q, k, v):
        if self.fused:
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
        seq = q.shape[-2]
        scores = (q / math.sqrt(q.shape[-1])) @ k.transpose(-1, -2)
        return torch.softmax(scores + self.mask[:seq, :seq], -1) @ v

    def forward(self, x):
        batch, seq, width = x.shape
        q, k, v = (part.view(batch, seq, self.heads, width // self.heads).transpose(1, 2)
                   for part in self.c_attn(x).split(width, dim=2))
        joined = self.attend(q, k, v).transpose(1, 2).reshape(batch, seq, width)
        return self.c_proj(joined)


class Mlp(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.c_fc, self.c_proj = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return self.c_proj(F.gelu(self.c_fc(x), approximate="tanh"))


class Block(nn.Module):
    def __init__(self, config, fused):
        super().__init__()
        width, eps = config["n_embd"], config["layer_norm_epsilon"]
        self.ln_1, self.ln_2 = nn.LayerNorm(width, eps), nn.LayerNorm(width, eps)
        self.attn, self.mlp = Attention(config, fused), Mlp(width)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Model(nn.Module):
    def __init__(self, config, fused):
        super().__init__()
        width = config["n_embd"]
        self.wte = nn.Embedding(config["vocab_size"], width)
        self.wpe = nn.Embedding(config["n_positions"], width)
        self.h = nn.ModuleList(Block(config, fused) for _ in range(config["n_layer"]))
        self.ln_f = nn.LayerNorm(width, config["layer_norm_epsilon"])

    def forward(self, inputs, targets):
        x = self.wte(inputs) + self.wpe.weight[:inputs.shape[1]]
        for block in self.h:
            x = block(x)
        logits = F.linear(self.ln_f(x), self.wte.weight)
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.reshape(-1))

    def load(self, path):
        values = {}
        for name, value in tensors.read_tensors(path).items():
            value = torch.from_numpy(value.copy())
            transposed = value.dim() > 1 and name.split(".")[-2] in LINEAR
            values[name[len("transformer."):]] = value.t() if transposed else value
        self.load_state_dict(values)


def optimizer_of(model, job):
    """AdamW in the form that the job names; matrices decay."""
    parameters = list(model.parameters())
    groups = [{"params": [p for p in parameters if p.dim() > 1], "weight_decay": job["decay"]},
              {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0}]
    form = {"loop": {"foreach": False}, "foreach": {"foreach": True}, "fused": {"fused": True}}
    return torch.optim.AdamW(groups, lr=job["rate"], **form[job["optimizer"]])


def batches_of(job, rank):
    """Those of a rank, as weft divides rows: rank r has the r-th batch of a step."""
    tokens, seq = np.fromfile(job["tokens"], "<u2").astype(np.int64), job["seq"]
    windows = (tokens.size - 1) // seq
    batches = []
    for step in range(job["warmup"] + job["steps"]):
        first = (step * job["ranks"] + rank) * job["batch"]
        starts = [row % windows * seq for row in range(first, first + job["batch"])]
        rows = torch.from_numpy(np.stack([tokens[s:s + seq + 1] for s in starts]))
        batches.append((rows[:, :-1].contiguous(), rows[:, 1:].contiguous()))
    return batches


class Trainer:
    def __init__(self, job):
        model = Model(job["config"], job["attention"] == "fused")
        model.load(job["weights"])
        if job["mode"] == "compile":
            model = torch.compile(model)
        self.model = DistributedDataParallel(model, static_graph=True, gradient_as_bucket_view=True)
        self.parameters, self.clip = list(model.parameters()), job["clip"]
        self.optimizer = optimizer_of(model, job)

    def step(self, inputs, targets):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.model(inputs, targets)
        loss.backward()
        if self.clip:
            nn.utils.clip_grad_norm_(self.parameters, self.clip)
        self.optimizer.step()
        return loss.detach()


def wrong_blas():
    """Debian's OpenBLAS with threads of its own is slower here than the one with OpenMP."""
    with open("/proc/self/maps") as file:
        return any("openblas-pthread" in line for line in file)


def train(job, rank):
    trainer, batches = Trainer(job), batches_of(job, rank)
    losses = [trainer.step(*batch) for batch in batches[:job["warmup"]]]
    dist.barrier()
    begin = time.perf_counter()
    losses += [trainer.step(*batch) for batch in batches[job["warmup"]:]]
    dist.barrier()
    ms = (time.perf_counter() - begin) * 1000 / job["steps"]
    losses = torch.stack(losses)
    dist.all_reduce(losses)
    return {"ms": ms, "losses": (losses / job["ranks"]).tolist(), "version": torch.__version__,
            "wrong_blas": wrong_blas()}


def main(path, rank):
    with open(path) as file:
        job = json.load(file)
    if job["bind"] == "core":
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[rank % len(cores)]})
    torch.set_num_threads(1)
    meeting = "file://" + os.path.join(os.path.dirname(os.path.abspath(path)), "meeting")
    dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=job["ranks"])
    result = train(job, rank)
    if rank == 0:
        with open(os.path.join(os.path.dirname(path), "result.json"), "w") as file:
            json.dump(result, file)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
