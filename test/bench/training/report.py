"""The tables that gpt2.py prints, in Markdown."""
import statistics

import numpy as np

TOP = 20


def parameters(config):
    """All of them, embeddings included."""
    if config["model_type"] == "llama":
        return llama_parameters(config)
    width, layers = config["n_embd"], config["n_layer"]
    block = 12 * width * width + 13 * width
    tables = (config["vocab_size"] + config["n_positions"]) * width
    return tables + layers * block + 2 * width


def llama_parameters(config):
    width, inner = config["hidden_size"], config["intermediate_size"]
    heads, keys = config["num_attention_heads"], config["num_key_value_heads"]
    block = 2 * width * width * (1 + keys / heads) + 3 * width * inner + 2 * width
    tables = (1 if config["tie_word_embeddings"] else 2) * config["vocab_size"] * width
    return int(tables + config["num_hidden_layers"] * block) + width


def flops_of_token(config, seq):
    """6N + 6LCT: products with parameters, and causal attention."""
    layers, width = ("num_hidden_layers", "hidden_size") if config["model_type"] == "llama" else ("n_layer", "n_embd")
    return 6 * parameters(config) + 6 * config[layers] * config[width] * seq


def side(plan, results, peak):
    """Cells of one side: ms, tokens per second, share of the peak, GiB."""
    ms = statistics.median(result["ms"] for result in results)
    tokens = plan["batch"] * plan["seq"] / ms * 1000
    share = tokens * flops_of_token(plan["config"], plan["seq"]) / (peak * 1e12)
    memory = max(result["peak_bytes"] for result in results) / 2**30
    return f"{ms:.2f} | {tokens:,.0f} | {100 * share:.1f} % | {memory:.2f}"


def ratio_of(result):
    """How many times as long PyTorch takes: the median of the rounds."""
    if not result["torch"]:
        return ""
    pairs = zip(result["weft"], result["torch"])
    return f"{statistics.median(torch['ms'] / weft['ms'] for weft, torch in pairs):.3f}"


def table(plan, results, peak):
    lines = [f"GPT-2 of {parameters(plan['config']):,} parameters, batch {plan['batch']}, "
             f"{plan['seq']} tokens, {plan['precision']}, {plan['target']}; "
             f"peak {peak:g} TFLOP/s", "",
             "| row | side | ms | tokens/s | MFU | GiB | PyTorch's time / weft's | last loss |",
             "|---|---|---|---|---|---|---|---|"]
    for result in results:
        sides = [("weft", result["weft"], ratio_of(result))]
        if "peer" in result:
            title = "PyTorch ({mode}, {attention})".format(**result["peer"])
            sides.append((title, result["torch"], ""))
        for name, runs, ratio in sides:
            lines.append(f"| {result['row']['name']} | {name} | {side(plan, runs, peak)} "
                         f"| {ratio} | {np.mean(runs[0]['losses'][-5:]):.4f} |")
    return "\n".join(lines)


def commands(results):
    """The commands that take most of a step on each side."""
    lines = []
    for result in results:
        for title, entries in (("weft", result["weft_commands"]),
                               ("PyTorch", result.get("torch_kernels", []))):
            if not entries:
                continue
            lines += ["", f"{result['row']['name']}, {title}:", "",
                      "| ms of a step | calls | command |", "|---|---|---|"]
            lines += [f"| {ms:.3f} | {calls:g} | {name[:100]} |"
                      for name, ms, calls in entries[:TOP]]
    return "\n".join(lines)
