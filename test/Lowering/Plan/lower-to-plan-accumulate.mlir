// RUN: weft-opt --weft-select-kernels --weft-decompose --weft-fuse --weft-lower-to-plan --split-input-file %s | FileCheck %s
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

// -----

// The old value has no other use: it is computed in the buffer of the sum, an operand
// of a concatenation.
weft.state @sums : tensor<32xf32> {kind = #weft.state_kind<gradient>}
// CHECK-LABEL: plan.program "micro" @made
weft.program @made(%x: tensor<4x4xf32> {weft.input = "x"}, %y: tensor<16xf32> {weft.input = "y"}) -> () attributes {kind = #weft.kind<micro>} {
  // CHECK-DAG: %[[S:.*]] = plan.use @sums
  // CHECK-DAG: %[[P:.*]] = plan.view %[[S]] : memref<32xf32> to memref<4x4xf32>
  // CHECK-NOT: plan.copy {{.*}} : memref<4x4xf32>
  // CHECK: plan.gemm {{.*}} -> %[[P]] {
  // CHECK: plan.gemm {{.*}} -> %[[P]] accumulate
  // CHECK-NOT: plan.copy {{.*}} : memref<4x4xf32>
  // CHECK: plan.program
  %adds = weft.constant dense<1.0> : tensor<f32>
  %first = weft.matmul %x, %x {transpose_lhs} : tensor<4x4xf32>, tensor<4x4xf32>
  %second = weft.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
  %sum = weft.accumulate %first, %second, %adds : tensor<4x4xf32>
  %flat = weft.reshape %sum : tensor<4x4xf32> to tensor<16xf32>
  %all = weft.concat %flat, %y {dim = 0 : i64} : tensor<16xf32>, tensor<16xf32>
  weft.return writes @sums = %all : tensor<32xf32>
}

// It is a result as well: it keeps a buffer of its own, and a kernel adds.
// CHECK-SAME: "eval" @made_for_two
weft.program @made_for_two(%x: tensor<4x4xf32> {weft.input = "x"}, %y: tensor<16xf32> {weft.input = "y"}) -> (tensor<4x4xf32> {weft.output = "first"}, tensor<32xf32> {weft.output = "all"}) attributes {kind = #weft.kind<eval>} {
  // CHECK: plan.gemm {{.*}} -> %[[FIRST:[0-9]+]] {
  // CHECK: plan.gemm {{.*}} -> %[[SECOND:[0-9]+]] {
  // CHECK: plan.launch {{.*}} ins(%[[FIRST]], %[[SECOND]], {{.*}} outs(%[[SUM:[0-9]+]] :
  // CHECK: plan.output "first" %[[FIRST]]
  %adds = weft.constant dense<1.0> : tensor<f32>
  %first = weft.matmul %x, %x {transpose_lhs} : tensor<4x4xf32>, tensor<4x4xf32>
  %second = weft.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
  %sum = weft.accumulate %first, %second, %adds : tensor<4x4xf32>
  %flat = weft.reshape %sum : tensor<4x4xf32> to tensor<16xf32>
  %all = weft.concat %flat, %y {dim = 0 : i64} : tensor<16xf32>, tensor<16xf32>
  weft.return %first, %all : tensor<4x4xf32>, tensor<32xf32>
}
