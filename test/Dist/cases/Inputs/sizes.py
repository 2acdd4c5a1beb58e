#!/usr/bin/env python3
"""usage: sizes.py SIZE,... TIMES

Prints a model with parameters of these sizes, the list so many times; loss = x times
the sum of all.
"""
import sys

sizes = [int(size) for size in sys.argv[1].split(",")] * int(sys.argv[2])
names = [f"%p{i}" for i in range(len(sizes))]
types = [f"tensor<{size}xf32>" for size in sizes]
for name, type in zip(names, types):
    print(f"weft.param @{name[1:]} : {type} {{init = #weft.init<ones>}}")
print("""weft.program @model(%x: tensor<1x1xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {""")
for name, type in zip(names, types):
    print(f"  {name} = weft.read @{name[1:]} : {type}")
print(f"""  %all = weft.concat {", ".join(names)} {{dim = 0}} : {", ".join(types)}
  %y = weft.mul %x, %all : tensor<1x1xf32>, tensor<{sum(sizes)}xf32>
  %loss = weft.reduce sum %y dims [0, 1] : tensor<1x{sum(sizes)}xf32>
  weft.return %loss : tensor<f32>
}}""")
