#!/usr/bin/env python3
"""usage: divide.py RANKS

Partitions a step for 1 to RANKS ranks and prints what gradients are divided by before
and after their sum, whose product is the number of ranks. The first is the least power
of two that is not below the second, or that the ranks are no multiple of.
"""
import re
import subprocess
import sys

STEP = """module {{
dist.mesh @mesh("dp" = {ranks})
weft.param @w.flat : tensor<{ranks}xf32> {{dist.layout = #dist.layout<replicated>, segments = [#weft.segment<@w [1] at 0 to 1>]}}
weft.state @w.flat.grad : tensor<{ranks}xf32> {{dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<gradient>, param = @w.flat, slot = "grad", segments = [#weft.segment<@w [1] at 0 to 1>]}}
weft.program @apply() attributes {{kind = #weft.kind<apply>}} {{
  %w = weft.read @w.flat : tensor<{ranks}xf32>
  %g = weft.read @w.flat.grad : tensor<{ranks}xf32>
  %new = weft.sub %w, %g : tensor<{ranks}xf32>, tensor<{ranks}xf32>
  weft.return writes @w.flat = %new : tensor<{ranks}xf32>
}}
}}
// -----
"""


def first_of(ranks):
    power = 1
    while ranks % power == 0 and ranks / power > power:
        power *= 2
    return power


last = int(sys.argv[1])
text = "\n".join(STEP.format(ranks=ranks) for ranks in range(1, last + 1))
out = subprocess.run(["weft-opt", "--split-input-file", "--weft-partition"], input=text, check=True,
                     stdout=subprocess.PIPE, text=True).stdout
found = re.findall(r"\{post = (\S+) : f64, pre = (\S+) : f64\}", out)
if len(found) != last:
    sys.exit(f"expects {last} reductions, but got {len(found)}")
for ranks, (post, pre) in enumerate(found, 1):
    post, pre = float(post), float(pre)
    if pre != first_of(ranks) or pre * post != ranks:
        sys.exit(f"expects {ranks} to be divided by {first_of(ranks)} first, but got {pre}, and {post} after it")
    print(f"{ranks}: {pre:g} {post:g}")
