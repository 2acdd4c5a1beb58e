// RUN: split-file %s %t
// RUN: weft-interp %t/blocks.mlir | FileCheck %s --check-prefix=BLOCKS
// RUN: weft-interp %t/blocks.mlir --mode=f32 | FileCheck %s --check-prefix=BLOCKS
// RUN: weft-interp %t/arena.mlir | FileCheck %s --check-prefix=ARENA
// RUN: weft-interp %t/arena.mlir --mode=f32 | FileCheck %s --check-prefix=ARENA
// RUN: weft-interp %t/steps.mlir --steps=2 --set x=3 | FileCheck %s --check-prefix=STEPS
// RUN: weft-interp %t/steps.mlir --program=apply --save-state=%t/state.safetensors | FileCheck %s --check-prefix=ONE
// RUN: weft-interp %t/steps.mlir --program=apply --state=%t/state.safetensors | FileCheck %s --check-prefix=NEXT
// RUN: weft-interp --compare %t/steps.mlir %t/graph.mlir --steps=2 | FileCheck %s --check-prefix=SAME
// RUN: not weft-interp --compare %t/graph.mlir %t/twice.mlir | FileCheck %s --check-prefix=WRONG

// Memory of a plan: bytes that no command wrote are wild, buffers that share bytes
// disturb each other, and states outlive a program.

// BLOCKS: float = [nan, 1] : 2xf32
// BLOCKS: half = [nan] : 1xf16
// BLOCKS: number = [-1] : 1xi32
//--- blocks.mlir
plan.program "eval" @eval {
  %x = plan.alloc temporary : memref<2xf32>
  %h = plan.alloc temporary : memref<1xf16>
  %n = plan.alloc temporary : memref<1xi32>
  %part = plan.view %x : memref<2xf32> to memref<1xf32, strided<[1], offset: 1>>
  plan.constant %part = dense<1.0> : tensor<1xf32> : memref<1xf32, strided<[1], offset: 1>>
  plan.output "float" %x : memref<2xf32>
  plan.output "half" %h : memref<1xf16>
  plan.output "number" %n : memref<1xi32>
}

// The second buffer starts in the middle of the first.
// ARENA: x = [1, 2] : 2xf32
// ARENA: y = [2, 2] : 2xf32
//--- arena.mlir
module attributes {plan.persistent_bytes = 0 : i64, plan.arena_bytes = 12 : i64} {
  plan.program "eval" @eval {
    %x = plan.alloc temporary {offset = 0 : i64} : memref<2xf32>
    %y = plan.alloc temporary {offset = 4 : i64} : memref<2xf32>
    plan.constant %x = dense<1.0> : tensor<2xf32> : memref<2xf32>
    plan.constant %y = dense<2.0> : tensor<2xf32> : memref<2xf32>
    plan.output "x" %x : memref<2xf32>
    plan.output "y" %y : memref<2xf32>
  }
}

// STEPS: x = 3 : f32
// STEPS-NEXT: sum = 4 : f32
// STEPS-NEXT: x = 3 : f32
// STEPS-NEXT: sum = 8 : f32
// ONE: sum = 1 : f32
// ONE-NEXT: @sum = 1 : f32
// NEXT: sum = 2 : f32
// SAME: init: 0 of {{[0-9]+}} tensors differ; largest difference 0.000e+00
// SAME: micro: 0 of {{[0-9]+}} tensors differ; largest difference 0.000e+00
// SAME: apply: 0 of {{[0-9]+}} tensors differ; largest difference 0.000e+00
//--- steps.mlir
weft.kernel @k_add(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> elementwise [] inplace [[0]] {
  %y = weft.add %a, %b : tensor<f32>, tensor<f32>
  weft.yield %y : tensor<f32>
}
plan.state param @w : memref<f32>
plan.state optimizer @sum : memref<f32>
plan.program "init" @init {
  %w = plan.use @w : memref<f32>
  plan.constant %w = dense<1.0> : tensor<f32> : memref<f32>
}
plan.program "micro" @micro {
  %x = plan.input "x" : memref<f32>
  %sum = plan.use @sum : memref<f32>
  plan.launch @k_add ins(%sum, %x : memref<f32>, memref<f32>) outs(%sum : memref<f32>)
  plan.output "x" %x : memref<f32>
}
plan.program "apply" @apply {
  %w = plan.use @w : memref<f32>
  %sum = plan.use @sum : memref<f32>
  plan.launch @k_add ins(%sum, %w : memref<f32>, memref<f32>) outs(%sum : memref<f32>)
  plan.output "sum" %sum : memref<f32>
}

//--- graph.mlir
weft.param @w : tensor<f32> {init = #weft.init<ones>}
weft.state @sum : tensor<f32> {kind = #weft.state_kind<optimizer>}
weft.program @init() attributes {kind = #weft.kind<init>} {
  %w = weft.constant dense<1.0> : tensor<f32>
  weft.return writes @w = %w : tensor<f32>
}
weft.program @micro(%x: tensor<f32> {weft.input = "x"}) -> (tensor<f32> {weft.output = "x"}) attributes {kind = #weft.kind<micro>} {
  %old = weft.read @sum : tensor<f32>
  %sum = weft.add %old, %x : tensor<f32>, tensor<f32>
  weft.return %x : tensor<f32> writes @sum = %sum : tensor<f32>
}
weft.program @apply() -> (tensor<f32> {weft.output = "sum"}) attributes {kind = #weft.kind<apply>} {
  %old = weft.read @sum : tensor<f32>
  %w = weft.read @w : tensor<f32>
  %sum = weft.add %old, %w : tensor<f32>, tensor<f32>
  weft.return %sum : tensor<f32> writes @sum = %sum : tensor<f32>
}

// WRONG: differs: micro @sum
//--- twice.mlir
weft.kernel @k_add(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> elementwise [] inplace [[0]] {
  %y = weft.add %a, %b : tensor<f32>, tensor<f32>
  weft.yield %y : tensor<f32>
}
plan.state param @w : memref<f32>
plan.state optimizer @sum : memref<f32>
plan.program "micro" @micro {
  %x = plan.input "x" : memref<f32>
  %sum = plan.use @sum : memref<f32>
  plan.launch @k_add ins(%sum, %x : memref<f32>, memref<f32>) outs(%sum : memref<f32>)
  plan.launch @k_add ins(%sum, %x : memref<f32>, memref<f32>) outs(%sum : memref<f32>)
}
