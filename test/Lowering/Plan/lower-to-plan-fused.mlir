// RUN: weft-opt %s --weft-select-kernels="library=interpreter epilogues=false" --weft-decompose --weft-fuse --weft-lower-to-plan --split-input-file | FileCheck %s
// Places of what fusion made kernels of.

// The gradient of a loss takes the bytes of the logits; what lies between forward
// and backward is an activation.
// CHECK-LABEL: plan.program "micro" @loss
weft.program @loss(%x: tensor<4x8xf32> {weft.input = "x"}, %t: tensor<4xi32> {weft.input = "targets"}, %seed: tensor<f32> {weft.input = "loss_seed"}) -> (tensor<f32> {weft.output = "loss"}, tensor<4x8xf32> {weft.output = "d"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[LOGITS:.*]] = plan.alloc activation : memref<4x8xf32>
  // CHECK: %[[LSE:.*]] = plan.alloc activation : memref<4x1xf32>
  // CHECK: plan.launch {{.*}} ins(%[[LOGITS]], {{.*}} outs(%[[LSE]],
  // CHECK: plan.launch {{.*}} outs(%[[LOGITS]] : memref<4x8xf32>)
  %w = weft.constant dense<1.0> : tensor<8x8xf32>
  %logits = weft.matmul %x, %w : tensor<4x8xf32>, tensor<8x8xf32>
  %loss, %lse, %denom = weft.cross_entropy %logits, %t {label_smoothing = 0.1 : f64} : tensor<4x8xf32>, tensor<4xi32>
  %d = weft.cross_entropy_grad %seed, %logits, %t, %lse, %denom {label_smoothing = 0.1 : f64} : tensor<f32>, tensor<4x8xf32>, tensor<4xi32>, tensor<4xf32>
  weft.return %loss, %d : tensor<f32>, tensor<4x8xf32>
}

// -----

// Initial values come straight into the parameters.
weft.param @w : tensor<4xf32>
weft.param @b : tensor<4xf32>
weft.param @c : tensor<4xf32>
// CHECK-LABEL: plan.program "init" @init
weft.program @init(%seed: tensor<i64> {weft.input = "seed"}) -> () attributes {kind = #weft.kind<init>} {
  // CHECK: %[[W:.*]] = plan.use @w
  // CHECK: %[[B:.*]] = plan.use @b
  // CHECK: %[[C:.*]] = plan.use @c
  // CHECK-NOT: plan.copy
  // CHECK: plan.launch {{.*}} outs(%[[W]] : memref<4xf32>)
  %w = weft.random_normal %seed {key = "w", mean = 0.0 : f64, std = 0.02 : f64} : tensor<4xf32>
  // CHECK: plan.constant %[[B]] = dense<0.000000e+00>
  // CHECK: plan.constant %[[C]] = dense<0.000000e+00>
  %zeros = weft.constant dense<0.0> : tensor<4xf32>
  weft.return writes @w = %w : tensor<4xf32>, @b = %zeros : tensor<4xf32>, @c = %zeros : tensor<4xf32>
}
