"""One training run in PyTorch: losses, norms, first gradients, last weights."""
import numpy as np
import torch

import cases
import torch_models


def optimizer_of(params, run):
    """AdamW; weight decay for parameters of two or more dimensions."""
    groups = [
        {"params": [p for p in params.values() if p.dim() > 1],
         "weight_decay": run["weight_decay"]},
        {"params": [p for p in params.values() if p.dim() < 2],
         "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=run["lr"], eps=run["eps"],
                             betas=(run["beta1"], run["beta2"]))


def rows_of(case, first, count, dtype):
    spec = cases.CASES[case]
    if case == "mlp":
        inputs, targets = cases.mlp_rows(first, count)
        return torch.from_numpy(inputs).to(dtype), torch.from_numpy(targets)
    tokens, targets = cases.token_rows(first, count, spec["seq"])
    return torch.from_numpy(tokens), torch.from_numpy(targets)


def train(case, dtype=torch.float32):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    config, _ = cases.load_config(case)
    batch, run = cases.CASES[case]["batch"], cases.run_of(case)
    params = {name: torch.from_numpy(value.copy()).to(dtype).requires_grad_()
              for name, value in cases.initial_weights(config).items()}
    optimizer = optimizer_of(params, run)
    result = {"losses": [], "norms": [], "rates": [], "gradients": {}}
    row = 0
    for step in range(1, run["steps"] + 1):
        optimizer.zero_grad()
        total = 0.0
        for _ in range(run["accum"]):
            inputs, targets = rows_of(case, row, batch, dtype)
            row += batch
            loss = torch_models.loss(params, config, inputs, targets)
            (loss / run["accum"]).backward()
            total += loss.item() / run["accum"]
        if step == 1:
            result["gradients"] = {name: p.grad.numpy().copy()
                                   for name, p in params.items()}
        norm = torch.nn.utils.clip_grad_norm_(params.values(), run["clip"])
        rate = float(cases.learning_rate(step, run))
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
        result["losses"].append(total)
        result["norms"].append(float(norm))
        result["rates"].append(rate)
    result["weights"] = {name: p.detach().numpy() for name, p in params.items()}
    return result


def distance(a, b):
    """Relative L2 distance of two arrays."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    scale = np.linalg.norm(b)
    return float(np.linalg.norm(a - b) / scale) if scale else float(np.abs(a).max())
