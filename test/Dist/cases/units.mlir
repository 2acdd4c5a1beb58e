// RUN: weft-opt %s --weft-bucket="rule=params:60 align=1" | FileCheck %s
// RUN: weft-opt %s --weft-bucket="rule=params:61 align=1" | FileCheck %s --check-prefix=ROOT
// RUN: weft-opt %s --weft-bucket="rule=params:30 align=1" | FileCheck %s --check-prefix=EACH
// RUN: sed 's/inner.a/inner.0/; s/inner.b/inner.1/' %s | weft-opt --weft-bucket="rule=params:60 align=1" | FileCheck %s --check-prefix=ROOT

// Three linear layers of 5 x 5 + 5, two of them in a module of 60. A limit of 60 makes
// that one a unit, and the rest of the model, though it has 30; one of 61 neither. A
// limit of 30 makes each layer a unit. Modules that differ by a number are a list,
// which never is one.

// CHECK: weft.param @root.flat : tensor<30xf32> {segments = [#weft.segment<@first.weight [5, 5] at 0 to 25>, #weft.segment<@first.bias [5] at 25 to 30>]}
// CHECK-NEXT: weft.param @inner.flat : tensor<60xf32> {segments = [#weft.segment<@inner.a.weight [5, 5] at 0 to 25>, #weft.segment<@inner.a.bias [5] at 25 to 30>, #weft.segment<@inner.b.weight [5, 5] at 30 to 55>, #weft.segment<@inner.b.bias [5] at 55 to 60>]}
// CHECK-NOT: weft.param
// ROOT: weft.param @root.flat : tensor<90xf32>
// ROOT-NOT: weft.param
// EACH: weft.param @first.flat : tensor<30xf32>
// EACH-NEXT: weft.param @inner.a.flat : tensor<30xf32>
// EACH-NEXT: weft.param @inner.b.flat : tensor<30xf32>
// EACH-NOT: weft.param
weft.param @first.weight : tensor<5x5xf32>
weft.param @first.bias : tensor<5xf32>
weft.param @inner.a.weight : tensor<5x5xf32>
weft.param @inner.a.bias : tensor<5xf32>
weft.param @inner.b.weight : tensor<5x5xf32>
weft.param @inner.b.bias : tensor<5xf32>
