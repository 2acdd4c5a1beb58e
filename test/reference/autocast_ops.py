"""The ops of torch_models.py as PyTorch's CUDA autocast runs them, on the CPU.

PyTorch 1.13 has other lists on the CPU and no f16 products there, so the ops of
the list lower_precision_fp are written out: operands rounded to the low type,
f32 arithmetic, results rounded once, and the same in the backward pass. All
else is PyTorch itself: tensors have the types that autocast gives them, so
promotion, the gradients of casts and sums of low gradients are PyTorch's.
CpuOps are the ops for torch.autocast("cpu") itself, which casts alone.
"""
import functools
import math

import torch
import torch.nn.functional as F

import torch_models


class Product(torch.autograd.Function):
    """x @ w + bias of a low x; w and bias are f32 parameters, cast here.

    Their gradients are rounded, as through the cast of PyTorch's autocast, or,
    with `exact`, not (weft's --grad-dtype=f32). Sums are of type `sums`.
    """

    @staticmethod
    def forward(ctx, x, weight, bias, exact, sums):
        ctx.exact, ctx.sums, ctx.has_bias = exact, sums, bias is not None
        low = weight.to(x.dtype)
        ctx.save_for_backward(x, low)
        result = x.to(sums) @ low.to(sums)
        if bias is not None:
            result = result + bias.to(x.dtype).to(sums)
        return result.float().to(x.dtype)

    @staticmethod
    def backward(ctx, grad):
        x, low = ctx.saved_tensors
        wide = grad.to(ctx.sums)
        rows = wide.reshape(-1, wide.shape[-1])
        terms = [x.to(ctx.sums).reshape(-1, x.shape[-1]).T @ rows]
        terms += [rows.sum(0)] if ctx.has_bias else []
        terms = [term.float() if ctx.exact else term.float().to(grad.dtype).float()
                 for term in terms]
        terms += [None] * (2 - len(terms))
        return ((wide @ low.to(ctx.sums).T).float().to(grad.dtype), *terms, None, None)


def causal_scores(q, k):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril()
    return scores.masked_fill(~mask, -math.inf)


class Attention(torch.autograd.Function):
    """scaled_dot_product_attention of low operands, inside in f32.

    With `flash` the operands of the inner products (P, dS) are rounded too, as
    those of _scaled_dot_product_flash_attention are.
    """

    @staticmethod
    def forward(ctx, q, k, v, flash):
        ctx.inner = q.dtype if flash else torch.float32
        scores = causal_scores(q.float(), k.float())
        ctx.lse = torch.logsumexp(scores, -1, keepdim=True)
        top = scores.max(-1, keepdim=True).values
        weights = torch.exp(scores - top)
        total = weights.sum(-1, keepdim=True)
        out = (weights.to(ctx.inner).float() @ v.float() / total).to(q.dtype)
        ctx.save_for_backward(q, k, v, out)
        return out

    @staticmethod
    def backward(ctx, grad):
        q, k, v, out = (t.float() for t in ctx.saved_tensors)
        low, wide = grad.dtype, grad.float()
        weights = torch.exp(causal_scores(q, k) - ctx.lse)
        inner = wide @ v.transpose(-1, -2) - (wide * out).sum(-1, keepdim=True)
        inner = (weights * inner).to(ctx.inner).float() / math.sqrt(q.shape[-1])
        weights = weights.to(ctx.inner).float()
        return ((inner @ k).to(low), (inner.transpose(-1, -2) @ q).to(low),
                (weights.transpose(-1, -2) @ wide).to(low), None)


class Rounded(torch.autograd.Function):
    """An elementwise function in f32, rounded to the type of its operand."""

    @staticmethod
    def forward(ctx, x, function):
        ctx.function = function
        ctx.save_for_backward(x)
        return function(x.float()).to(x.dtype)

    @staticmethod
    def backward(ctx, grad):
        with torch.enable_grad():
            x = ctx.saved_tensors[0].float().requires_grad_()
            (result,) = torch.autograd.grad(ctx.function(x), x, grad.float())
        return result.to(grad.dtype), None


class AutocastOps(torch_models.Ops):
    """Ops for one low type."""

    def __init__(self, dtype, exact, sums=torch.float32, flash=False):
        self.dtype, self.exact, self.sums, self.flash = dtype, exact, sums, flash

    def conv1d(self, x, weight, bias):
        return Product.apply(x.to(self.dtype), weight, bias, self.exact,
                             self.sums)

    def linear(self, x, weight, bias=None):
        return Product.apply(x.to(self.dtype), weight.T, bias, self.exact,
                             self.sums)

    def attend(self, q, k, v):
        return Attention.apply(*(t.to(self.dtype) for t in (q, k, v)), self.flash)

    def gelu_new(self, x):
        return Rounded.apply(x, lambda t: F.gelu(t, approximate="tanh"))

    def silu(self, x):
        return Rounded.apply(x, F.silu)

    def cross_entropy(self, logits, targets):
        return F.cross_entropy(logits.float(), targets)


class CpuOps(torch_models.Ops):
    """The ops as modules call them, under torch.autocast("cpu", torch.bfloat16).

    PyTorch 1.13 has no attention kernel on the CPU, and those of gelu and silu
    round after every step inside. With `once` these three compute in f32 and
    round their results once, as on CUDA.
    """

    def __init__(self, once):
        self.once = once

    def conv1d(self, x, weight, bias):
        rows = torch.addmm(bias, x.reshape(-1, x.shape[-1]), weight)
        return rows.view(*x.shape[:-1], -1)

    def attend(self, q, k, v):
        if not self.once:
            return super().attend(q, k, v)
        with torch.autocast("cpu", enabled=False):
            return Attention.apply(*(t.to(torch.bfloat16) for t in (q, k, v)), False)

    def gelu_new(self, x):
        tanh = functools.partial(F.gelu, approximate="tanh")
        return Rounded.apply(x, tanh) if self.once else tanh(x)

    def silu(self, x):
        return Rounded.apply(x, F.silu) if self.once else F.silu(x)
