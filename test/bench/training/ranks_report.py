"""The table that ranks.py prints, in Markdown."""
import statistics

import report

WANTED_STAGES, WANTED_ONE, WANTED_PEER = 0.97, 0.95, 1.2
ONE_RANK = "weft, one rank"


def median_ms(runs):
    return statistics.median(run["ms"] for run in runs)


def ratio(fast, slow):
    """How many times as fast the first side is: the median of the rounds."""
    return statistics.median(b["ms"] / a["ms"] for a, b in zip(fast, slow))


def title(options, config):
    return (f"GPT-2 of {report.parameters(config):,} parameters, {options.ranks} ranks of a thread, "
            f"batch {options.batch} of each, {options.seq} tokens, f32; medians of {options.rounds} rounds, "
            f"{options.steps} steps behind {options.warmup}")


def row(options, name, runs):
    ms = median_ms(runs)
    tokens = options.ranks * options.batch * options.seq * 1000 / ms
    spread = f"{min(run['ms'] for run in runs):.2f} to {max(run['ms'] for run in runs):.2f}"
    version = runs[0].get("version")
    name = f"{name}, {version}" if version else name
    return f"| {name} | {ms:.2f} | {spread} | {1000 / ms:.4f} | {tokens:,.0f} | {runs[0]['losses'][-1]:.4f} |"


def ratios(results):
    """Later stages beside the first, and the first beside one rank and the faster PyTorch."""
    stages = [name for name in results if name.startswith("weft --zero")]
    peers = [name for name in results if name not in stages and name != ONE_RANK]
    pairs = [(name, stages[0], WANTED_STAGES) for name in stages[1:]]
    if ONE_RANK in results:
        pairs.append((stages[0], ONE_RANK, WANTED_ONE))
    if peers:
        pairs.append((stages[0], min(peers, key=lambda name: median_ms(results[name])), WANTED_PEER))
    return [f"speed of {fast} / {slow}: {ratio(results[fast], results[slow]):.3f} (at least {wanted} wanted)"
            for fast, slow, wanted in pairs]


def warnings(results):
    return [f"{name}: OpenBLAS has threads of its own here; libopenblas0-openmp is faster"
            for name, runs in results.items() if runs[0].get("wrong_blas")]


def table(options, config, results):
    lines = [title(options, config), "", "| side | ms | from, to | steps/s | tokens/s | last loss |",
             "|---|---|---|---|---|---|"]
    lines += [row(options, name, runs) for name, runs in results.items()]
    return "\n".join([*lines, "", *ratios(results), *warnings(results)])
