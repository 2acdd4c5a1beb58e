// The op in text, and its reference function.
// RUN: weft-opt --load-dialect-plugin=%plugin %s | weft-opt --load-dialect-plugin=%plugin | FileCheck %s
// RUN: weft-interp --load-dialect-plugin=%plugin %s --set=x=3 | FileCheck %s --check-prefix=POSITIVE
// RUN: weft-interp --load-dialect-plugin=%plugin %s --set=x=-1 | FileCheck %s --check-prefix=NEGATIVE

// CHECK-LABEL: weft.program @model
// CHECK: %[[y:.*]] = ext.softsign %{{.*}} : tensor<2xf32>
// CHECK: weft.return %[[y]]
// POSITIVE: y = [0.75, 0.75]
// NEGATIVE: y = [-0.5, -0.5]
weft.program @model(%x: tensor<2xf32> {weft.input = "x"})
    -> (tensor<2xf32> {weft.output = "y"}) attributes {kind = #weft.kind<model>} {
  %y = ext.softsign %x : tensor<2xf32>
  weft.return %y : tensor<2xf32>
}
