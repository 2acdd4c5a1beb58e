"""losses.py METRICS: fails unless the last loss is below half of the first."""
import json
import sys

with open(sys.argv[1]) as f:
    losses = [step["loss"] for step in map(json.loads, f) if "loss" in step]
print(f"first loss {losses[0]:.4g}, last loss {losses[-1]:.4g}")
sys.exit(losses[-1] > losses[0] / 2)
