// RUN: weft-opt %s --weft-select-kernels=library=interpreter --weft-decompose --weft-fuse --weft-lower-to-plan --split-input-file | FileCheck %s
// Products with what stands around them: one command each.

// CHECK-LABEL: plan.program "micro" @forms
weft.program @forms(%x: tensor<2x8x4xf32> {weft.input = "x"}, %w: tensor<3x4xf32> {weft.input = "w"}, %b: tensor<3xf32> {weft.input = "b"}, %g: tensor<2x8x5xf32> {weft.input = "g"}, %v: tensor<5x3xf32> {weft.input = "v"})
    -> (tensor<2x8x3xf32> {weft.output = "y"}, tensor<2x8x3xf32> {weft.output = "dx"}, tensor<3xf32> {weft.output = "db"}, tensor<2x8x3xf32> {weft.output = "dr"}) attributes {kind = #weft.kind<micro>} {
  // CHECK-DAG: %[[X:.*]] = plan.input "x"
  // CHECK-DAG: %[[W:.*]] = plan.input "w"
  // CHECK-DAG: %[[B:.*]] = plan.input "b"
  // CHECK-DAG: %[[G:.*]] = plan.input "g"
  // CHECK-DAG: %[[V:.*]] = plan.input "v"
  // CHECK: plan.gemm %[[X]] * %[[W]] transposed -> %[[Y:.*]] bias(%[[B]] : memref<3xf32>) epilogue gelu aux(%[[SUM:.*]] : memref<2x8x3xf32>) {flops = 384 : i64, scope = "h.0"} : memref<2x8x4xf32> * memref<3x4xf32> -> memref<2x8x3xf32>
  %y, %sum = weft.gemm %x * %w transposed bias(%b : tensor<3xf32>) epilogue gelu {weft.scope = "h.0"} : tensor<2x8x4xf32> * tensor<3x4xf32> -> tensor<2x8x3xf32> sum(tensor<2x8x3xf32>)
  // CHECK: plan.gemm %[[G]] * %[[V]] -> %[[DX:.*]] epilogue gelu_grad aux(%[[SUM]] : memref<2x8x3xf32>) column_sum(%[[DB:.*]] : memref<3xf32>) {flops = 480 : i64} :
  %dx, %db = weft.gemm %g * %v epilogue gelu_grad aux(%sum : tensor<2x8x3xf32>) : tensor<2x8x5xf32> * tensor<5x3xf32> -> tensor<2x8x3xf32> column_sum(tensor<3xf32>)
  // CHECK: plan.gemm %[[G]] * %[[V]] -> %[[DR:.*]] epilogue relu_grad aux(%[[SUM]] : memref<2x8x3xf32>) {flops
  %dr = weft.gemm %g * %v epilogue relu_grad aux(%sum : tensor<2x8x3xf32>) : tensor<2x8x5xf32> * tensor<5x3xf32> -> tensor<2x8x3xf32>
  // CHECK-DAG: plan.output "y" %[[Y]]
  // CHECK-DAG: plan.output "dx" %[[DX]]
  // CHECK-DAG: plan.output "db" %[[DB]]
  // CHECK-DAG: plan.output "dr" %[[DR]]
  weft.return %y, %dx, %db, %dr : tensor<2x8x3xf32>, tensor<2x8x3xf32>, tensor<3xf32>, tensor<2x8x3xf32>
}

// -----

// bf16 with an f32 sum, and an f32 result.
// CHECK-LABEL: plan.program "micro" @low
// CHECK: plan.gemm {{.*}} epilogue relu aux(%[[SUM:.*]] : memref<8x3xf32>) {flops = 192 : i64} : memref<8x4xbf16> * memref<4x3xbf16> -> memref<8x3xbf16>
// CHECK: plan.gemm {{.*}} epilogue relu_grad aux(%[[SUM]] : memref<8x3xf32>) {flops = 192 : i64} : memref<8x4xbf16> * memref<4x3xbf16> -> memref<8x3xf32>
weft.program @low(%x: tensor<8x4xbf16> {weft.input = "x"}, %w: tensor<4x3xbf16> {weft.input = "w"})
    -> (tensor<8x3xbf16> {weft.output = "y"}, tensor<8x3xf32> {weft.output = "z"}) attributes {kind = #weft.kind<micro>} {
  %y, %s = weft.gemm %x * %w epilogue relu : tensor<8x4xbf16> * tensor<4x3xbf16> -> tensor<8x3xbf16> sum(tensor<8x3xf32>)
  %z = weft.gemm %x * %w epilogue relu_grad aux(%s : tensor<8x3xf32>) {out = f32} : tensor<8x4xbf16> * tensor<4x3xbf16> -> tensor<8x3xf32>
  weft.return %y, %z : tensor<8x3xbf16>, tensor<8x3xf32>
}

// -----

// A transposed factor is read as it lies; a transposed aux is copied.
// CHECK-LABEL: plan.program "micro" @strided
// CHECK-DAG: %[[A:.*]] = plan.input "a"
// CHECK-DAG: %[[T:.*]] = plan.view %[[A]] : memref<3x8xf32> to memref<8x3xf32, strided<[1, 8]>>
// CHECK: plan.copy %[[T]] to %[[D:.*]] : memref<8x3xf32, strided<[1, 8]>> to memref<8x3xf32>
// CHECK: plan.gemm %{{.*}} * %{{.*}} -> %{{.*}} epilogue relu_grad aux(%[[D]] : memref<8x3xf32>) {{.*}} : memref<8x4xf32, strided<[1, 8]>> *
weft.program @strided(%x: tensor<4x8xf32> {weft.input = "x"}, %w: tensor<4x3xf32> {weft.input = "w"}, %a: tensor<3x8xf32> {weft.input = "a"})
    -> (tensor<8x3xf32> {weft.output = "y"}) attributes {kind = #weft.kind<micro>} {
  %t = weft.transpose %x [1, 0] : tensor<4x8xf32>
  %u = weft.transpose %a [1, 0] : tensor<3x8xf32>
  %y = weft.gemm %t * %w epilogue relu_grad aux(%u : tensor<8x3xf32>) : tensor<8x4xf32> * tensor<4x3xf32> -> tensor<8x3xf32>
  weft.return %y : tensor<8x3xf32>
}

// -----

// The result is written between the rows of a concatenation; a sum is dense, so
// it is copied there.
// CHECK-LABEL: plan.program "micro" @pieces
// CHECK: %[[Y:.*]] = plan.alloc temporary : memref<8x6xf32>
// CHECK: %[[LEFT:.*]] = plan.view %[[Y]] : memref<8x6xf32> to memref<8x3xf32, strided<[6, 1]>>
// CHECK: plan.gemm %{{.*}} * %{{.*}} -> %[[LEFT]] epilogue gelu aux(%[[SUM:.*]] : memref<8x3xf32>)
// CHECK: plan.copy %[[SUM]] to %{{.*}} : memref<8x3xf32> to memref<8x3xf32, strided<[6, 1], offset: 3>>
weft.program @pieces(%x: tensor<8x4xf32> {weft.input = "x"}, %w: tensor<4x3xf32> {weft.input = "w"})
    -> (tensor<8x6xf32> {weft.output = "y"}) attributes {kind = #weft.kind<micro>} {
  %y, %s = weft.gemm %x * %w epilogue gelu : tensor<8x4xf32> * tensor<4x3xf32> -> tensor<8x3xf32> sum(tensor<8x3xf32>)
  %c = weft.concat %y, %s {dim = 1} : tensor<8x3xf32>, tensor<8x3xf32>
  weft.return %c : tensor<8x6xf32>
}

// -----

// A product alone adds to its destination, also behind a reshape.
weft.param @w : tensor<12xf32>
weft.state @w.grad : tensor<12xf32> {kind = #weft.state_kind<gradient>, param = @w}
// CHECK-LABEL: plan.program "micro" @folded
// CHECK-DAG: %[[G:.*]] = plan.use @w.grad
// CHECK-DAG: %[[F:.*]] = plan.input "accumulate"
// CHECK-DAG: %[[V:.*]] = plan.view %[[G]] : memref<12xf32> to memref<4x3xf32>
// CHECK: plan.gemm %{{.*}} transposed * %{{.*}} -> %[[V]] accumulate(%[[F]] : memref<f32>) {{.*}} -> memref<4x3xf32>
// CHECK-NOT: plan.launch
weft.program @folded(%x: tensor<8x4xf32> {weft.input = "x"}, %d: tensor<8x3xf32> {weft.input = "d"}, %flag: tensor<f32> {weft.input = "accumulate"}) attributes {kind = #weft.kind<micro>} {
  %old = weft.read @w.grad : tensor<12xf32>
  %g = weft.gemm %x transposed * %d : tensor<8x4xf32> * tensor<8x3xf32> -> tensor<4x3xf32>
  %r = weft.reshape %g : tensor<4x3xf32> to tensor<12xf32>
  %a = weft.accumulate %old, %r, %flag : tensor<12xf32>
  weft.return writes @w.grad = %a : tensor<12xf32>
}

// -----

// One with an activation does not, nor one with sums of rows, which are those
// of the product alone.
weft.param @w : tensor<4x3xf32>
weft.state @w.grad : tensor<4x3xf32> {kind = #weft.state_kind<gradient>, param = @w}
weft.param @v : tensor<4x3xf32>
weft.state @v.grad : tensor<4x3xf32> {kind = #weft.state_kind<gradient>, param = @v}
// CHECK-LABEL: plan.program "micro" @apart
// CHECK-NOT: accumulate(
// CHECK: plan.gemm {{.*}} epilogue relu {
// CHECK: plan.launch
// CHECK: plan.gemm {{.*}} column_sum(%[[S:.*]] : memref<3xf32>) {
// CHECK: plan.launch
// CHECK: plan.output "s" %[[S]]
weft.program @apart(%x: tensor<8x4xf32> {weft.input = "x"}, %d: tensor<8x3xf32> {weft.input = "d"}, %flag: tensor<f32> {weft.input = "accumulate"}) -> (tensor<3xf32> {weft.output = "s"}) attributes {kind = #weft.kind<micro>} {
  %old = weft.read @w.grad : tensor<4x3xf32>
  %g = weft.gemm %x transposed * %d epilogue relu : tensor<8x4xf32> * tensor<8x3xf32> -> tensor<4x3xf32>
  %a = weft.accumulate %old, %g, %flag : tensor<4x3xf32>
  %old2 = weft.read @v.grad : tensor<4x3xf32>
  %h, %s = weft.gemm %x transposed * %d : tensor<8x4xf32> * tensor<8x3xf32> -> tensor<4x3xf32> column_sum(tensor<3xf32>)
  %b = weft.accumulate %old2, %h, %flag : tensor<4x3xf32>
  weft.return %s : tensor<3xf32> writes @w.grad = %a : tensor<4x3xf32>, @v.grad = %b : tensor<4x3xf32>
}

// -----

// The sum of a factor does not keep a product from adding to its destination:
// it is a vector beside it, which a kernel adds to what earlier micro-steps left.
weft.param @w : tensor<4x3xf32>
weft.state @w.grad : tensor<4x3xf32> {kind = #weft.state_kind<gradient>, param = @w}
weft.param @b : tensor<3xf32>
weft.state @b.grad : tensor<3xf32> {kind = #weft.state_kind<gradient>, param = @b}
// CHECK-LABEL: plan.program "micro" @sums
// CHECK-DAG: %[[W:.*]] = plan.use @w.grad
// CHECK-DAG: %[[B:.*]] = plan.use @b.grad
// CHECK-DAG: %[[F:.*]] = plan.input "accumulate"
// CHECK: plan.gemm %{{.*}} transposed * %{{.*}} -> %[[W]] accumulate(%[[F]] : memref<f32>) rhs_sum(%[[S:.*]] : memref<3xf32>) {flops = 192 : i64} :
// CHECK: plan.launch {{.*}} ins(%[[B]], %[[S]], %{{.*}}) outs(%[[B]] : memref<3xf32>)
weft.program @sums(%x: tensor<8x4xf32> {weft.input = "x"}, %d: tensor<8x3xf32> {weft.input = "d"}, %flag: tensor<f32> {weft.input = "accumulate"}) attributes {kind = #weft.kind<micro>} {
  %old = weft.read @w.grad : tensor<4x3xf32>
  %old2 = weft.read @b.grad : tensor<3xf32>
  %g, %s = weft.gemm %x transposed * %d : tensor<8x4xf32> * tensor<8x3xf32> -> tensor<4x3xf32> rhs_sum(tensor<3xf32>)
  %a = weft.accumulate %old, %g, %flag : tensor<4x3xf32>
  %b = weft.accumulate %old2, %s, %flag : tensor<3xf32>
  weft.return writes @w.grad = %a : tensor<4x3xf32>, @b.grad = %b : tensor<3xf32>
}

// -----

// Both sums, one where the program wants it.
// CHECK-LABEL: plan.program "micro" @both
// CHECK: plan.gemm %{{.*}} * %{{.*}} transposed -> %{{.*}} lhs_sum(%[[L:.*]] : memref<8xf32>) rhs_sum(%[[R:.*]] : memref<3xf32>) {
// CHECK-DAG: plan.output "l" %[[L]]
// CHECK-DAG: plan.output "r" %[[R]]
weft.program @both(%x: tensor<8x4xf32> {weft.input = "x"}, %w: tensor<3x4xf32> {weft.input = "w"})
    -> (tensor<8x3xf32> {weft.output = "y"}, tensor<8xf32> {weft.output = "l"}, tensor<3xf32> {weft.output = "r"}) attributes {kind = #weft.kind<micro>} {
  %y:3 = weft.gemm %x * %w transposed : tensor<8x4xf32> * tensor<3x4xf32> -> tensor<8x3xf32> lhs_sum(tensor<8xf32>) rhs_sum(tensor<3xf32>)
  weft.return %y#0, %y#1, %y#2 : tensor<8x3xf32>, tensor<8xf32>, tensor<3xf32>
}
