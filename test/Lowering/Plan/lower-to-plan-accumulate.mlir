// RUN: weft-opt --weft-select-kernels --weft-fuse --weft-lower-to-plan --split-input-file %s | FileCheck %s
// Accumulations that no product performs are kernels.

// The old gradient is an output: the sum may not be computed in its bytes.
weft.param @w : tensor<4x4xf32>
weft.state @w.grad : tensor<4x4xf32> {kind = #weft.state_kind<gradient>, param = @w}
// CHECK-LABEL: plan.program "micro" @kept
weft.program @kept(%x: tensor<4x4xf32> {weft.input = "x"}, %flag: tensor<f32> {weft.input = "accumulate"}) -> (tensor<4x4xf32> {weft.output = "old"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[G:.*]] = plan.use @w.grad
  // CHECK: plan.gemm {{.*}} -> %[[P:[0-9]+]] 
  // CHECK: plan.launch {{.*}} ins(%[[G]], %[[P]], {{.*}} outs(%[[P]] :
  // CHECK: plan.copy %[[G]] to %[[OLD:.*]] :
  // CHECK: plan.copy %[[P]] to %[[G]]
  %old = weft.read @w.grad : tensor<4x4xf32>
  %g = weft.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
  %sum = weft.accumulate %old, %g, %flag : tensor<4x4xf32>
  weft.return %old : tensor<4x4xf32> writes @w.grad = %sum : tensor<4x4xf32>
}

// -----

// The product reads the old gradient: it may not be computed over it.
weft.state @g : tensor<4x4xf32> {kind = #weft.state_kind<gradient>}
// CHECK-LABEL: plan.program "micro" @reads_old
weft.program @reads_old(%x: tensor<4x4xf32> {weft.input = "x"}, %flag: tensor<f32> {weft.input = "accumulate"}) -> () attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[G:.*]] = plan.use @g
  // CHECK: %[[P:.*]] = plan.alloc
  // CHECK: plan.gemm %[[G]] * %{{.*}} -> %[[P]] 
  // CHECK: plan.launch {{.*}} ins(%[[G]], %[[P]], {{.*}} outs(%[[G]] :
  %old = weft.read @g : tensor<4x4xf32>
  %g = weft.matmul %old, %x : tensor<4x4xf32>, tensor<4x4xf32>
  %sum = weft.accumulate %old, %g, %flag : tensor<4x4xf32>
  weft.return writes @g = %sum : tensor<4x4xf32>
}
