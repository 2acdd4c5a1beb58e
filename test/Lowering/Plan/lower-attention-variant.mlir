// RUN: weft-opt --weft-select-kernels="library=interpreter epilogues=false" --weft-decompose --weft-fuse --weft-lower-to-plan %s | FileCheck %s

// The commands have window, softcap and documents, these last; the window cuts
// the flops: 25664 pairs instead of 26176, at tiles of 64.

// CHECK-LABEL: plan.program "micro" @attention
weft.program @attention(%q: tensor<1x200x1x2xf32> {weft.input = "q"}, %ids: tensor<1x200xi32> {weft.input = "ids"}) -> (tensor<1x200x1x2xf32> {weft.output = "y"}, tensor<1x200x1x2xf32> {weft.output = "dq"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[IDS:.*]] = plan.input "ids" : memref<1x200xi32>
  // CHECK: plan.attention {{.*}} segments(%[[IDS]] : memref<1x200xi32>) {causal, flops = 205312 : i64, scale = 5.000000e-01 : f64, softcap = 3.000000e+01 : f64, window = 70 : i64}
  %y, %lse = weft.attention %q, %q, %q segments %ids : tensor<1x200xi32> {causal, scale = 0.5 : f64, softcap = 30.0 : f64, window = 70 : i64} : tensor<1x200x1x2xf32>, tensor<1x200x1x2xf32>, tensor<1x200x1x2xf32>
  // CHECK: plan.attention_grad {{.*}} segments(%[[IDS]] : memref<1x200xi32>) {causal, flops = 513280 : i64, scale = 5.000000e-01 : f64, softcap = 3.000000e+01 : f64, window = 70 : i64}
  %dq, %dk, %dv = weft.attention_grad %y, %q, %q, %q, %y, %lse segments %ids : tensor<1x200xi32> {causal, scale = 0.5 : f64, softcap = 30.0 : f64, window = 70 : i64} : tensor<1x200x1x2xf32>, tensor<1x200x1x2xf32>, tensor<1x1x200xf32>
  weft.return %y, %dq : tensor<1x200x1x2xf32>, tensor<1x200x1x2xf32>
}
