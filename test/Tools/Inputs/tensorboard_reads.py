"""tensorboard_reads.py DIR METRICS: TensorBoard sees what the metrics have."""

import json
import sys

import numpy
from tensorboard.backend.event_processing import event_accumulator
from tensorboard.util import tensor_util

folder, metrics = sys.argv[1:]
accumulator = event_accumulator.EventAccumulator(folder)
accumulator.Reload()


def values(tag):
    if tag in accumulator.Tags()["scalars"]:
        return [(event.step, event.value) for event in accumulator.Scalars(tag)]
    return [(event.step, float(tensor_util.make_ndarray(event.tensor_proto))) for event in accumulator.Tensors(tag)]


lines = [json.loads(line) for line in open(metrics)][1:]
for tag in ("loss", "lr", "grad_norm", "loss_scale", "val_loss"):
    wanted = [(line["step"], float(numpy.float32(line[tag]))) for line in lines if tag in line]
    assert values(tag) == wanted, (tag, values(tag), wanted)
assert [step for step, _ in values("tokens_per_s")] == [1, 2, 3, 4, 5, 6]
print(f"{len(values('loss'))} steps, {len(values('val_loss'))} evaluations")
