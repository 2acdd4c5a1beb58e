"""Trains a configuration with transformers: the oracle of the campaign families.py.

The arithmetic is f64, so that its rounding does not count as an error of weft. The
tables of rotary positions stay f32: their rounding is part of a model.
"""
import contextlib

import numpy as np
import torch
import transformers

from family_weights import random_weight

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
torch.set_num_threads(1)


def reload(folder):
    """The model of a folder with config.json and weights, and what did not fit."""
    model, info = transformers.AutoModelForCausalLM.from_pretrained(
        folder, attn_implementation="eager", dtype=torch.float32, output_loading_info=True)
    kinds = ("missing_keys", "unexpected_keys", "mismatched_keys")
    return widen(model.train()), {kind: sorted(info[kind]) for kind in kinds if info[kind]}


def fresh(folder):
    """An f32 model of the folder's config.json, with weights by their names."""
    config = transformers.AutoConfig.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    with torch.no_grad():
        for name, value in model.named_parameters():
            value.copy_(torch.from_numpy(random_weight(name, tuple(value.shape))))
    return model.train()


def widen(model):
    """The model in f64, with its rotary tables in f32."""
    model.double()
    for name, module in model.named_modules():
        if name.endswith("rotary_emb"):
            module.float()
    return model


@contextlib.contextmanager
def wide_casts():
    """transformers casts to f32 in norms and softmax: to f64 instead."""
    narrow, dtype = torch.Tensor.float, torch.float32
    torch.Tensor.float = lambda value: value if value.dtype is torch.float64 else narrow(value)
    torch.float32 = torch.float64
    try:
        yield
    finally:
        torch.Tensor.float, torch.float32 = narrow, dtype


def loss_of(model, rows, batch, step, casts=wide_casts):
    """Mean loss of the rows of a step."""
    part = torch.from_numpy(rows[step * batch:(step + 1) * batch].astype(np.int64))
    with casts():
        logits = model(input_ids=part[:, :-1], use_cache=False).logits
    return torch.nn.functional.cross_entropy(
        logits.reshape(-1, logits.shape[-1]), part[:, 1:].reshape(-1))


def train(model, rows, batch, steps, optimizer, rates):
    """Losses of the steps, and the gradients of the first; the model becomes f64."""
    return run_steps(widen(model), rows, batch, steps, optimizer, rates, wide_casts)


def narrow_losses(folder, rows, batch, steps, optimizer, rates):
    """Losses of the same training in f32."""
    return run_steps(fresh(folder), rows, batch, steps, optimizer, rates, contextlib.nullcontext)[0]


def run_steps(model, rows, batch, steps, optimizer, rates, casts):
    if optimizer == "sgd":
        update = torch.optim.SGD(model.parameters(), lr=rates["lr"])
    else:
        update = torch.optim.AdamW(model.parameters(), lr=rates["lr"], eps=rates["eps"],
                                   betas=(rates["beta1"], rates["beta2"]), weight_decay=0.0)
    losses, gradients = [], {}
    for step in range(steps):
        update.zero_grad()
        loss = loss_of(model, rows, batch, step, casts)
        loss.backward()
        losses.append(loss.item())
        if step == 0:
            gradients = {name: value.grad.numpy().copy()
                         for name, value in model.named_parameters()}
        update.step()
    return losses, gradients


def narrow_gradients(folder, rows, batch):
    """Gradients of the first step in f32."""
    model = fresh(folder)
    part = torch.from_numpy(rows[:batch].astype(np.int64))
    logits = model(input_ids=part[:, :-1], use_cache=False).logits
    torch.nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), part[:, 1:].reshape(-1)).backward()
    return {name: value.grad.numpy() for name, value in model.named_parameters()}


def shapes_of(model):
    return {name: list(value.shape) for name, value in model.named_parameters()}
