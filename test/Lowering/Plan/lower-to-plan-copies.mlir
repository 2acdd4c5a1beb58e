// RUN: weft-opt --weft-select-kernels="library=interpreter epilogues=false" --weft-lower-to-plan --remarks-filter=copies --split-input-file --verify-diagnostics %s | FileCheck %s

// Values that share bytes, and places where a copy is needed.

// A kernel reuses a dying operand that it lists; not one that is read
// again, and not an input.
weft.kernel @k_relu(%a: tensor<8xf32>) -> (tensor<8xf32>) elementwise [8] inplace [[0]] {
  %y = weft.relu %a : tensor<8xf32>
  weft.yield %y : tensor<8xf32>
}
// CHECK-LABEL: plan.program "eval" @in_place
weft.program @in_place(%x: tensor<8xf32> {weft.input = "x"}) -> (tensor<8xf32> {weft.output = "y"}, tensor<8xf32> {weft.output = "z"}) attributes {kind = #weft.kind<eval>} {
  // CHECK: %[[X:.*]] = plan.input
  // CHECK: %[[A:.*]] = plan.alloc
  // CHECK: %[[C:.*]] = plan.alloc
  // CHECK: plan.launch @k_relu ins(%[[X]] : memref<8xf32>) outs(%[[A]] : memref<8xf32>) {flops = 8 : i64}
  %a = weft.call @k_relu(%x) : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: plan.launch @k_relu ins(%[[A]] : memref<8xf32>) outs(%[[A]] : memref<8xf32>)
  %b = weft.call @k_relu(%a) : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: plan.launch @k_relu ins(%[[A]] : memref<8xf32>) outs(%[[C]] : memref<8xf32>)
  %c = weft.call @k_relu(%b) : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: plan.output "y" %[[A]]
  // CHECK: plan.output "z" %[[C]]
  weft.return %b, %c : tensor<8xf32>, tensor<8xf32>
}

// -----

// A transposed factor needs no copy; a strided one that is neither rows nor
// columns does.
// CHECK-LABEL: plan.program "eval" @transposed
weft.program @transposed(%x: tensor<4x6xf32> {weft.input = "x"}, %w: tensor<8x6xf32> {weft.input = "w"}) -> (tensor<4x4xf32> {weft.output = "y"}, tensor<4x4xf32> {weft.output = "z"}) attributes {kind = #weft.kind<eval>} {
  // CHECK: plan.gemm {{.*}} : memref<4x6xf32> * memref<6x4xf32, strided<[1, 6]>> -> memref<4x4xf32>
  %x0 = weft.transpose %x [1, 0] : tensor<4x6xf32>
  %y = weft.matmul %x, %x0 : tensor<4x6xf32>, tensor<6x4xf32>
  // CHECK: plan.copy
  // CHECK: plan.gemm {{.*}} transposed -> {{.*}} : memref<4x3xf32> * memref<4x3xf32> -> memref<4x4xf32>
  %w0 = weft.slice %w offsets [0, 0] sizes [4, 3] strides [2, 2] : tensor<8x6xf32>
  %x1 = weft.slice %x offsets [0, 3] sizes [4, 3] strides [1, 1] : tensor<4x6xf32>
  // expected-remark @+1 {{needs a copy: dense operand}}
  %z = weft.matmul %w0, %w0 {transpose_rhs} : tensor<4x3xf32>, tensor<4x3xf32>
  weft.return %y, %z : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A batch of products, the right one shared; a slice of columns has a larger
// leading dimension.
// CHECK-LABEL: plan.program "eval" @batch
weft.program @batch(%x: tensor<2x3x4xf32> {weft.input = "x"}, %w: tensor<2x4x5xf32> {weft.input = "w"}) -> (tensor<2x3x5xf32> {weft.output = "y"}, tensor<6x2xf32> {weft.output = "z"}) attributes {kind = #weft.kind<eval>} {
  // CHECK: plan.gemm {{.*}} : memref<2x3x4xf32> * memref<2x4x5xf32> -> memref<2x3x5xf32>
  %y = weft.matmul %x, %w : tensor<2x3x4xf32>, tensor<2x4x5xf32>
  // CHECK: plan.gemm {{.*}} : memref<6x2xf32, strided<[4, 1], offset: 2>> * memref<2x2xf32, strided<[4, 1], offset: 4>> -> memref<6x2xf32>
  %flat = weft.reshape %x : tensor<2x3x4xf32> to tensor<6x4xf32>
  %l = weft.slice %flat offsets [0, 2] sizes [6, 2] strides [1, 1] : tensor<6x4xf32>
  %r = weft.slice %flat offsets [1, 0] sizes [2, 2] strides [1, 1] : tensor<6x4xf32>
  %z = weft.matmul %l, %r : tensor<6x2xf32>, tensor<2x2xf32>
  weft.return %y, %z : tensor<2x3x5xf32>, tensor<6x2xf32>
}

// -----

// Two states change places: the old contents are saved first.
weft.param @a : tensor<4xf32>
weft.param @b : tensor<4xf32>
// CHECK-LABEL: plan.program "apply" @swap
weft.program @swap() -> (tensor<4xf32> {weft.output = "old"}) attributes {kind = #weft.kind<apply>} {
  %a = weft.read @a : tensor<4xf32>
  %b = weft.read @b : tensor<4xf32>
  // CHECK: %[[A:.*]] = plan.use @a
  // CHECK: %[[B:.*]] = plan.use @b
  // CHECK: plan.copy %[[A]] to %[[OLD:.*]] :
  // CHECK: plan.copy %[[B]] to %[[OLDB:.*]] :
  // CHECK: plan.copy %[[A]] to %[[OLDA:.*]] :
  // CHECK: plan.copy %[[OLDB]] to %[[A]]
  // CHECK: plan.copy %[[OLDA]] to %[[B]]
  // CHECK: plan.output "old" %[[OLD]]
  // expected-remark @+2 {{needs a copy: output of a state}}
  // expected-remark @+1 {{needs a copy: write of a state}}
  weft.return %a : tensor<4xf32> writes @a = %b : tensor<4xf32>, @b = %a : tensor<4xf32>
}

// -----

// The sum is no new state: the product is added to a copy.
weft.state @g : tensor<4x4xf32> {kind = #weft.state_kind<gradient>}
// CHECK-LABEL: plan.program "micro" @not_written
weft.program @not_written(%x: tensor<4x4xf32> {weft.input = "x"}, %flag: tensor<f32> {weft.input = "accumulate"}) -> (tensor<4x4xf32> {weft.output = "sum"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[G:.*]] = plan.use @g
  // CHECK: %[[S:.*]] = plan.alloc
  // CHECK: plan.copy %[[G]] to %[[S]]
  // CHECK: plan.gemm {{.*}} -> %[[S]] accumulate(%{{.*}} : memref<f32>)
  // CHECK: plan.output "sum" %[[S]]
  %old = weft.read @g : tensor<4x4xf32>
  %g = weft.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
  // expected-remark @+1 {{needs a copy: old contents that an accumulation may not overwrite}}
  %sum = weft.accumulate %old, %g, %flag : tensor<4x4xf32>
  weft.return %sum : tensor<4x4xf32>
}

// -----

// As is it where the product reads the state once more.
weft.state @g : tensor<4x4xf32> {kind = #weft.state_kind<gradient>}
// CHECK-LABEL: plan.program "micro" @read_twice
weft.program @read_twice(%x: tensor<4x4xf32> {weft.input = "x"}, %flag: tensor<f32> {weft.input = "accumulate"}) -> () attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[G:.*]] = plan.use @g
  // CHECK: plan.copy %[[G]] to %[[S:.*]] :
  // CHECK: plan.gemm %[[G]] * {{.*}} -> %[[S]] accumulate(%{{.*}} : memref<f32>)
  // CHECK: plan.copy %[[S]] to %[[G]]
  %old = weft.read @g : tensor<4x4xf32>
  %again = weft.read @g : tensor<4x4xf32>
  %g = weft.matmul %again, %x : tensor<4x4xf32>, tensor<4x4xf32>
  // expected-remark @+1 {{needs a copy: old contents that an accumulation may not overwrite}}
  %sum = weft.accumulate %old, %g, %flag : tensor<4x4xf32>
  // expected-remark @+1 {{needs a copy: write of a state}}
  weft.return writes @g = %sum : tensor<4x4xf32>
}

// -----

// Rows of all matrices are one product where nothing lies between matrices; a
// piece of a concatenation is written matrix by matrix.
// CHECK-LABEL: plan.program "eval" @pieces
weft.program @pieces(%x: tensor<2x3x8xf32> {weft.input = "x"}, %y: tensor<2x5x8xf32> {weft.input = "y"}, %w: tensor<8x4xf32> {weft.input = "w"}) -> (tensor<2x8x4xf32> {weft.output = "z"}) attributes {kind = #weft.kind<eval>} {
  // CHECK: %[[Z:.*]] = plan.alloc temporary : memref<2x8x4xf32>
  // CHECK: plan.gemm {{.*}} : memref<2x3x8xf32> * memref<8x4xf32> -> memref<2x3x4xf32, strided<[32, 4, 1]>>
  // CHECK: plan.gemm {{.*}} : memref<2x5x8xf32> * memref<8x4xf32> -> memref<2x5x4xf32, strided<[32, 4, 1], offset: 12>>
  // CHECK-NOT: plan.copy
  // CHECK: plan.output "z" %[[Z]]
  %a = weft.matmul %x, %w : tensor<2x3x8xf32>, tensor<8x4xf32>
  %b = weft.matmul %y, %w : tensor<2x5x8xf32>, tensor<8x4xf32>
  %c = weft.concat %a, %b {dim = 1} : tensor<2x3x4xf32>, tensor<2x5x4xf32>
  weft.return %c : tensor<2x8x4xf32>
}

// -----

// A constant that both parts read is written in both: nothing of it is kept for
// the backward part, whichever view of it is read.
// CHECK-LABEL: plan.program "micro" @constants
weft.program @constants(%x: tensor<4x1xf32> {weft.input = "x"}, %seed: tensor<f32> {weft.input = "loss_seed"}) -> (tensor<4x2xf32> {weft.output = "y"}, tensor<1x2xf32> {weft.output = "z"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[FORWARD:.*]] = plan.alloc temporary : memref<2x2xf32>
  // CHECK: %[[BACKWARD:.*]] = plan.alloc temporary : memref<2x2xf32>
  // CHECK: plan.constant %[[FORWARD]] = dense<1.000000e+00>
  // CHECK: plan.gemm
  // CHECK: plan.constant %[[BACKWARD]] = dense<1.000000e+00>
  // CHECK: plan.gemm
  // CHECK-NOT: plan.constant
  %w = weft.constant dense<1.0> : tensor<2x2xf32>
  %first = weft.slice %w offsets [0, 0] sizes [1, 2] strides [1, 1] : tensor<2x2xf32>
  %y = weft.matmul %x, %first : tensor<4x1xf32>, tensor<1x2xf32>
  %last = weft.slice %w offsets [1, 0] sizes [1, 2] strides [1, 1] : tensor<2x2xf32>
  %s = weft.reshape %seed : tensor<f32> to tensor<1x1xf32>
  %z = weft.matmul %s, %last : tensor<1x1xf32>, tensor<1x2xf32>
  weft.return %y, %z : tensor<4x2xf32>, tensor<1x2xf32>
}

// -----

// Shape ops that write: zeros around, pieces behind each other, repetition.
// CHECK-LABEL: plan.program "eval" @shapes
weft.program @shapes(%x: tensor<2x3xf32> {weft.input = "x"}) -> (tensor<4x3xf32> {weft.output = "p"}, tensor<4x3xf32> {weft.output = "c"}, tensor<5x2x3xf32> {weft.output = "b"}) attributes {kind = #weft.kind<eval>} {
  // CHECK: %[[X:.*]] = plan.input "x"
  // CHECK: %[[P:.*]] = plan.alloc temporary : memref<4x3xf32>
  // CHECK: %[[PV:.*]] = plan.view %[[P]] : memref<4x3xf32> to memref<2x3xf32, strided<[6, 1], offset: 3>>
  // CHECK: plan.constant %[[P]] = dense<0.000000e+00>
  // CHECK: plan.copy %[[X]] to %[[PV]]
  %p = weft.pad %x low [1, 0] high [0, 0] interior [1, 0] : tensor<2x3xf32>
  // CHECK: plan.copy %[[X]] to %{{.*}} : memref<2x3xf32> to memref<2x3xf32>{{$}}
  // CHECK: plan.copy %[[X]] to %{{.*}} : memref<2x3xf32> to memref<2x3xf32, strided<[3, 1], offset: 6>>
  // expected-remark @+1 {{needs a copy: piece of a concatenation}}
  %c = weft.concat %x, %x {dim = 0} : tensor<2x3xf32>, tensor<2x3xf32>
  // CHECK: plan.copy %{{.*}} to %{{.*}} : memref<5x2x3xf32, strided<[0, 3, 1]>> to memref<5x2x3xf32>
  %b = weft.broadcast %x : tensor<2x3xf32> to tensor<5x2x3xf32>
  // expected-remark @+1 {{needs a copy: dense operand}}
  weft.return %p, %c, %b : tensor<4x3xf32>, tensor<4x3xf32>, tensor<5x2x3xf32>
}

// -----

// A module without programs stays.
// CHECK-LABEL: module @empty
// CHECK-NEXT: }
module @empty {
}

// -----

// Old contents from elsewhere are copied to the place of the sum first.
weft.state @g : tensor<4x4xf32> {kind = #weft.state_kind<gradient>}
weft.state @h : tensor<4x4xf32> {kind = #weft.state_kind<gradient>}
// CHECK-LABEL: plan.program "micro" @moved
weft.program @moved(%x: tensor<4x4xf32> {weft.input = "x"}, %flag: tensor<f32> {weft.input = "accumulate"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[H:.*]] = plan.use @h
  // CHECK: %[[G:.*]] = plan.use @g
  // CHECK: plan.copy %[[H]] to %[[G]]
  // CHECK: plan.gemm {{.*}} -> %[[G]] accumulate(
  // CHECK-NOT: plan.copy
  %old = weft.read @h : tensor<4x4xf32>
  %g = weft.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
  // expected-remark @+1 {{needs a copy: old contents that an accumulation may not overwrite}}
  %sum = weft.accumulate %old, %g, %flag : tensor<4x4xf32>
  weft.return writes @g = %sum : tensor<4x4xf32>
}
