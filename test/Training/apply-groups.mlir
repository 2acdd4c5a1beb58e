// RUN: split-file %s %t
// RUN: weft-opt --weft-apply-groups=groups=%t/groups.toml %t/model.mlir | FileCheck %s

// The first group that matches claims a parameter; the rest stay as they are.

//--- groups.toml
[[group]]
match = "^wte"
frozen = true

[[group]]
match = "bias$"
decay = true
lr_scale = 2
optimizer = "sgd"

[[group]]
match = "weight|wte"
decay = 0.5

[[group]]
match = "^head"
name = "head"
beta1 = 0.8
weight_decay = 0.2

[[group]]
match = "^tail"
optimizer = "sgd"
momentum = 0.5
nesterov = true
weight_decay = 0.2
decay = false

//--- model.mlir
// The digest of the file, so that a resumed run notices another file.
// CHECK: weft.option_files = {groups = "{{[0-9a-f]+}}"}
// CHECK: weft.param @wte.bias : tensor<8x4xf32> {trainable = false}
weft.param @wte.bias : tensor<8x4xf32>
// CHECK: weft.param @fc.bias : tensor<4xf32> {decay = true, weft.lr_scale = 2.000000e+00 : f64, weft.optimizer = "sgd"}
weft.param @fc.bias : tensor<4xf32>
// CHECK: weft.param @fc.weight : tensor<4x4xf32> {decay = true, weft.decay_scale = 5.000000e-01 : f64}
weft.param @fc.weight : tensor<4x4xf32>
// CHECK: weft.param @other : tensor<4x4xf32>{{$}}
weft.param @other : tensor<4x4xf32>
// A weight decay of its own is for all parameters of the group.
// CHECK: weft.param @head.scale : tensor<4xf32> {decay = true, weft.numbers = {beta1 = 8.000000e-01 : f64, weight_decay = 2.000000e-01 : f64}, weft.optimizer_group = "head"}
weft.param @head.scale : tensor<4xf32>
// CHECK: weft.param @tail.scale : tensor<4xf32> {decay = false, weft.numbers = {momentum = 5.000000e-01 : f64, nesterov = true, weight_decay = 2.000000e-01 : f64}, weft.optimizer = "sgd"}
weft.param @tail.scale : tensor<4xf32>
