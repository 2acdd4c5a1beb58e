// The pass replaces relu and keeps its module path.
// RUN: weft-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin \
// RUN:   --pass-pipeline="builtin.module(ext-use-softsign)" %s | FileCheck %s

// It says where it finds nothing to do.
// RUN: weft-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin \
// RUN:   --pass-pipeline="builtin.module(ext-use-softsign,ext-use-softsign)" %s 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: remark: expects weft.relu to replace, but got none

// CHECK-LABEL: weft.program @model
// CHECK-NOT: weft.relu
// CHECK: ext.softsign %{{.*}} {weft.scope = "fc1"} : tensor<2xf32>
// CHECK: weft.tanh
// CHECK-NOT: weft.relu
weft.program @model(%x: tensor<2xf32> {weft.input = "x"})
    -> (tensor<2xf32> {weft.output = "y"}) attributes {kind = #weft.kind<model>} {
  %h = weft.relu %x {weft.scope = "fc1"} : tensor<2xf32>
  %g = weft.tanh %h : tensor<2xf32>
  %y = weft.relu %g : tensor<2xf32>
  weft.return %y : tensor<2xf32>
}
