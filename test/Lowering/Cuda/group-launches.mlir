// RUN: weft-opt %s --weft-group-launches="bytes=4096" -o %t.mlir && FileCheck %s --input-file=%t.mlir
// RUN: weft-interp --compare %s %t.mlir --tolerance=0
// RUN: weft-opt %t.mlir --weft-plan-memory --weft-verify-plan -o %t.memory.mlir
// RUN: weft-interp --compare %s %t.memory.mlir --tolerance=0
// RUN: weft-opt %t.mlir --weft-group-launches="bytes=4096" -o %t.twice.mlir && cmp %t.mlir %t.twice.mlir
// RUN: weft-opt %s --weft-group-launches="bytes=4096 buffers=5" | FileCheck %s --check-prefix=FEW
// RUN: weft-opt %t.memory.mlir --weft-convert-kernels-to-linalg --weft-lower-kernels-to-gpu | FileCheck %s --check-prefix=GPU
// Independent launches become one. Results stay the same.

module {

weft.kernel @k_sums(%x: tensor<16x8xf32>) -> tensor<8xf32> columns [16, 8] over [0] inplace [[]] {
  %y = weft.reduce sum %x dims [0] : tensor<16x8xf32>
  weft.yield %y : tensor<8xf32>
}
weft.kernel @k_wide_sums(%x: tensor<16x40xf32>) -> tensor<40xf32> columns [16, 40] over [0] inplace [[]] {
  %y = weft.reduce sum %x dims [0] : tensor<16x40xf32>
  weft.yield %y : tensor<40xf32>
}
weft.kernel @k_neg(%x: tensor<8xf32>) -> tensor<8xf32> elementwise [8] inplace [[0]] {
  %y = weft.neg %x : tensor<8xf32>
  weft.yield %y : tensor<8xf32>
}
weft.kernel @k_large(%x: tensor<2048xf32>) -> tensor<2048xf32> elementwise [2048] inplace [[0]] {
  %y = weft.neg %x : tensor<2048xf32>
  weft.yield %y : tensor<2048xf32>
}
weft.kernel @k_larger(%x: tensor<4096xf32>) -> tensor<4096xf32> elementwise [4096] inplace [[0]] {
  %y = weft.neg %x : tensor<4096xf32>
  weft.yield %y : tensor<4096xf32>
}
weft.kernel @k_exp(%x: tensor<2048xf32>) -> tensor<2048xf32> elementwise [2048] inplace [[0]] {
  %y = weft.exp %x : tensor<2048xf32>
  weft.yield %y : tensor<2048xf32>
}
// Its blocks have 1024 threads.
weft.kernel @k_long(%x: tensor<1024x2xf32>) -> tensor<2xf32> columns [1024, 2] over [0] inplace [[]] {
  %y = weft.reduce sum %x dims [0] : tensor<1024x2xf32>
  weft.yield %y : tensor<2xf32>
}

// CHECK: weft.kernel_group @[[MIXED:g_[0-9a-f]+]] of [@k_sums, @k_neg, @k_sums] : (tensor<16x8xf32>, tensor<8xf32>, tensor<16x8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) inplace {{\[\[}}], [1], []]

// Past a product; in the scope of all.
// CHECK-LABEL: plan.program "eval" @past
// CHECK-NOT: plan.launch
// CHECK: plan.gemm
// CHECK-NEXT: plan.launch @[[MIXED]] ins(%[[X:.*]], %[[V:.*]], %[[X]] : memref<16x8xf32>, memref<8xf32>, memref<16x8xf32>) outs({{.*}}) {flops = 272 : i64, scope = "h.0"}
// CHECK-NEXT: }
// FEW-LABEL: plan.program "eval" @past
// FEW: plan.launch @g_{{.*}} ins({{.*}} : memref<16x8xf32>, memref<8xf32>)
// FEW: plan.gemm
// FEW: plan.launch @k_sums
plan.program "eval" @past {
  %x = plan.input "x" : memref<16x8xf32>
  %v = plan.input "v" : memref<8xf32>
  %a = plan.alloc temporary : memref<8xf32>
  plan.output "a" %a : memref<8xf32>
  %b = plan.alloc temporary : memref<8xf32>
  plan.output "b" %b : memref<8xf32>
  %c = plan.alloc temporary : memref<8xf32>
  plan.output "c" %c : memref<8xf32>
  %p = plan.alloc temporary : memref<8x8xf32>
  plan.output "p" %p : memref<8x8xf32>
  plan.launch @k_sums ins(%x : memref<16x8xf32>) outs(%a : memref<8xf32>) {flops = 128 : i64, scope = "h.0.ln"}
  plan.launch @k_neg ins(%v : memref<8xf32>) outs(%b : memref<8xf32>) {flops = 16 : i64, scope = "h.0"}
  plan.gemm %x transposed * %x -> %p : memref<16x8xf32> * memref<16x8xf32> -> memref<8x8xf32>
  plan.launch @k_sums ins(%x : memref<16x8xf32>) outs(%c : memref<8xf32>) {flops = 128 : i64, scope = "h.0.ln"}
}

// A launch that reads a result, and a command that does.
// CHECK-LABEL: plan.program "eval" @read
// CHECK: plan.launch @g_
// CHECK-NEXT: plan.launch @k_neg
// CHECK-NEXT: plan.copy
// CHECK-NEXT: plan.launch @k_sums
plan.program "eval" @read {
  %x = plan.input "x" : memref<16x8xf32>
  %a = plan.alloc temporary : memref<8xf32>
  plan.output "a" %a : memref<8xf32>
  %b = plan.alloc temporary : memref<8xf32>
  plan.output "b" %b : memref<8xf32>
  %c = plan.alloc temporary : memref<8xf32>
  plan.output "c" %c : memref<8xf32>
  %d = plan.alloc temporary : memref<8xf32>
  plan.output "d" %d : memref<8xf32>
  plan.launch @k_sums ins(%x : memref<16x8xf32>) outs(%a : memref<8xf32>)
  plan.launch @k_sums ins(%x : memref<16x8xf32>) outs(%b : memref<8xf32>)
  plan.launch @k_neg ins(%a : memref<8xf32>) outs(%c : memref<8xf32>)
  plan.copy %c to %d : memref<8xf32> to memref<8xf32>
  plan.launch @k_sums ins(%x : memref<16x8xf32>) outs(%a : memref<8xf32>)
}

// A buffer that a launch of the group reads is overwritten behind it.
// CHECK-LABEL: plan.program "eval" @overwritten
// CHECK: plan.launch @k_neg
// CHECK-NEXT: plan.copy
// CHECK-NEXT: plan.launch @k_neg
plan.program "eval" @overwritten {
  %v = plan.input "v" : memref<8xf32>
  %w = plan.alloc temporary : memref<8xf32>
  %a = plan.alloc temporary : memref<8xf32>
  plan.output "a" %a : memref<8xf32>
  %b = plan.alloc temporary : memref<8xf32>
  plan.output "b" %b : memref<8xf32>
  plan.copy %v to %w : memref<8xf32> to memref<8xf32>
  plan.launch @k_neg ins(%w : memref<8xf32>) outs(%a : memref<8xf32>)
  plan.copy %v to %w : memref<8xf32> to memref<8xf32>
  plan.launch @k_neg ins(%w : memref<8xf32>) outs(%b : memref<8xf32>)
}

// Two kernels with memory of their blocks.
// CHECK-LABEL: plan.program "eval" @shared
// CHECK: plan.launch @g_
// CHECK-NEXT: }
plan.program "eval" @shared {
  %x = plan.input "x" : memref<16x8xf32>
  %y = plan.input "y" : memref<16x40xf32>
  %a = plan.alloc temporary : memref<8xf32>
  plan.output "a" %a : memref<8xf32>
  %b = plan.alloc temporary : memref<40xf32>
  plan.output "b" %b : memref<40xf32>
  plan.launch @k_sums ins(%x : memref<16x8xf32>) outs(%a : memref<8xf32>)
  plan.launch @k_wide_sums ins(%y : memref<16x40xf32>) outs(%b : memref<40xf32>)
}

// Parts of one buffer that share no byte, updated in place.
// CHECK-LABEL: plan.program "eval" @parts
// CHECK: plan.launch @g_{{.*}} ins(%[[A:.*]], %[[B:.*]] : {{.*}}) outs(%[[A]], %[[B]] : {{.*}})
// CHECK-NEXT: }
plan.program "eval" @parts {
  %v = plan.input "v" : memref<16xf32>
  %w = plan.alloc temporary : memref<16xf32>
  plan.output "w" %w : memref<16xf32>
  %a = plan.view %w : memref<16xf32> to memref<8xf32>
  %b = plan.view %w : memref<16xf32> to memref<8xf32, strided<[1], offset: 8>>
  plan.copy %v to %w : memref<16xf32> to memref<16xf32>
  plan.launch @k_neg ins(%a : memref<8xf32>) outs(%a : memref<8xf32>)
  plan.launch @k_neg ins(%b : memref<8xf32, strided<[1], offset: 8>>) outs(%b : memref<8xf32, strided<[1], offset: 8>>)
}

// Large ones join others of the same ops, and wait for no other command.
// CHECK-LABEL: plan.program "eval" @large
// CHECK: plan.launch @g_{{.*}} ins(%{{.*}}, %{{.*}} : memref<2048xf32>, memref<4096xf32>)
// CHECK-NEXT: plan.launch @k_exp
// CHECK-NEXT: plan.copy
// CHECK-NEXT: plan.launch @k_exp
// CHECK-NEXT: plan.launch @k_long
// CHECK-NEXT: plan.launch @k_long
plan.program "eval" @large {
  %x = plan.input "x" : memref<2048xf32>
  %y = plan.input "y" : memref<4096xf32>
  %z = plan.input "z" : memref<1024x2xf32>
  %a = plan.alloc temporary : memref<2048xf32>
  plan.output "a" %a : memref<2048xf32>
  %b = plan.alloc temporary : memref<4096xf32>
  plan.output "b" %b : memref<4096xf32>
  %c = plan.alloc temporary : memref<2048xf32>
  plan.output "c" %c : memref<2048xf32>
  %d = plan.alloc temporary : memref<2048xf32>
  plan.output "d" %d : memref<2048xf32>
  %e = plan.alloc temporary : memref<2048xf32>
  plan.output "e" %e : memref<2048xf32>
  %f = plan.alloc temporary : memref<2xf32>
  plan.output "f" %f : memref<2xf32>
  %g = plan.alloc temporary : memref<2xf32>
  plan.output "g" %g : memref<2xf32>
  plan.launch @k_large ins(%x : memref<2048xf32>) outs(%a : memref<2048xf32>)
  plan.launch @k_larger ins(%y : memref<4096xf32>) outs(%b : memref<4096xf32>)
  plan.launch @k_exp ins(%x : memref<2048xf32>) outs(%c : memref<2048xf32>)
  plan.copy %x to %d : memref<2048xf32> to memref<2048xf32>
  plan.launch @k_exp ins(%x : memref<2048xf32>) outs(%e : memref<2048xf32>)
  plan.launch @k_long ins(%z : memref<1024x2xf32>) outs(%f : memref<2xf32>)
  plan.launch @k_long ins(%z : memref<1024x2xf32>) outs(%g : memref<2xf32>)
}
}

// The blocks of one kernel after those of another one: a tile of columns, twice,
// and the only block of an elementwise kernel, all with 256 threads.
// GPU: gpu.func @[[MIXED:g_[0-9a-f]+]](%[[IN0:.*]]: !llvm.ptr<1>, %[[IN1:.*]]: !llvm.ptr<1>, %[[IN2:.*]]: !llvm.ptr<1>, %[[OUT0:.*]]: !llvm.ptr<1>, %[[OUT1:.*]]: !llvm.ptr<1>, %[[OUT2:.*]]: !llvm.ptr<1>) workgroup(%{{.*}} : memref<{{.*}}>){{.*}} kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 3, 1, 1>}
// GPU: %[[BLOCK:.*]] = gpu.block_id x
// GPU: %[[FIRST:.*]] = arith.cmpi uge, %[[BLOCK]], %c0
// GPU: %[[BEFORE:.*]] = arith.cmpi ult, %[[BLOCK]], %c2
// GPU: %[[HERE:.*]] = arith.andi %[[FIRST]], %[[BEFORE]]
// GPU: scf.if %[[HERE]]
// GPU: arith.select %{{.*}}, %[[IN2]], %[[IN0]] : !llvm.ptr<1>
// GPU: arith.select %{{.*}}, %[[OUT2]], %[[OUT0]] : !llvm.ptr<1>
// GPU: arith.remui %{{.*}}, %c32
// GPU: gpu.barrier
// GPU: scf.if
// GPU-NOT: gpu.barrier
// GPU: gpu.return
// GPU-NOT: gpu.func @k_larger

// Kernels run in different blocks, so they share the memory of a block.
// RUN: weft-opt %t.memory.mlir --weft-convert-kernels-to-linalg --weft-lower-kernels-to-gpu | FileCheck %s --check-prefix=SHARED
// SHARED: gpu.func @g_{{.*}} workgroup(%{{[a-z0-9]+}} : memref<8x1x32xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 32, 8, 1>, known_grid_size = array<i32: 3, 1, 1>}
// SHARED: scf.if
// SHARED: gpu.barrier
// SHARED: scf.if
// SHARED: gpu.barrier
