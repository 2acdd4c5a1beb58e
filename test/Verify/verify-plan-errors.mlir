// RUN: weft-opt --weft-verify-plan --split-input-file --verify-diagnostics %s

// Plans with one broken offset or order each; every one is caught.

// expected-error @+1 {{expects plan.persistent_bytes and plan.arena_bytes (weft-plan-memory), but got none}}
module {
}

// -----

// expected-error @+1 {{expects plan.alignment, the alignment of buffers that weft-plan-memory records, but got none}}
module attributes {plan.persistent_bytes = 64 : i64, plan.arena_bytes = 128 : i64} {
}

// -----

module attributes {plan.persistent_bytes = 64 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 128 : i64} {
  // expected-error @+1 {{expects an offset (weft-plan-memory), but got none}}
  plan.state param @w : memref<4xf32>
}

// -----

module attributes {plan.persistent_bytes = 64 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 128 : i64} {
  // expected-error @+1 {{expects an offset that is a multiple of 64, but got 16}}
  plan.state param @w : memref<4xf32> {offset = 16 : i64}
}

// -----

module attributes {plan.persistent_bytes = 64 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 128 : i64} {
  // expected-error @+1 {{expects bytes inside [0, 64), but got [64, 80)}}
  plan.state param @w : memref<4xf32> {offset = 64 : i64}
}

// -----

module attributes {plan.persistent_bytes = 192 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 192 : i64} {
  // expected-note @+1 {{shared with this state}}
  plan.state param @w : memref<20xf32> {offset = 0 : i64}
  // expected-error @+1 {{expects bytes of its own, but got offset 64 below 80}}
  plan.state param @v : memref<20xf32> {offset = 64 : i64}
}

// -----

module attributes {plan.persistent_bytes = 64 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 128 : i64} {
  plan.program "eval" @eval {
    // expected-error @+1 {{expects bytes inside [64, 128), but got [0, 16)}}
    %x = plan.input "x" {offset = 0 : i64} : memref<4xf32>
  }
}

// -----

// The input dies at the second command, its bytes are taken at the first.
module attributes {plan.persistent_bytes = 0 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 128 : i64} {
  plan.program "eval" @eval {
    // expected-note @+1 {{the buffer at [0, 16)}}
    %x = plan.input "x" {offset = 0 : i64} : memref<4xf32>
    // expected-note @+1 {{the other buffer at [0, 16)}}
    %a = plan.alloc temporary {offset = 0 : i64} : memref<4xf32>
    %b = plan.alloc temporary {offset = 64 : i64} : memref<4xf32>
    plan.constant %a = dense<1.0> : tensor<4xf32> : memref<4xf32>
    // expected-error @+1 {{expects 'memref<4xf32>' to keep its bytes until it is read, but got them written by another buffer}}
    plan.copy %x to %b : memref<4xf32> to memref<4xf32>
    plan.output "b" %b : memref<4xf32>
    plan.output "a" %a : memref<4xf32>
  }
}

// -----

// An output must last to the end.
module attributes {plan.persistent_bytes = 0 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 128 : i64} {
  plan.program "eval" @eval {
    // expected-note @+1 {{the buffer at [0, 16)}}
    %a = plan.alloc temporary {offset = 0 : i64} : memref<4xf32>
    // expected-note @+1 {{the other buffer at [0, 16)}}
    %b = plan.alloc temporary {offset = 0 : i64} : memref<4xf32>
    plan.constant %a = dense<1.0> : tensor<4xf32> : memref<4xf32>
    // expected-error @+1 {{expects 'memref<4xf32>' to keep its bytes until it is read, but got them written by another buffer}}
    plan.output "a" %a : memref<4xf32>
    plan.constant %b = dense<1.0> : tensor<4xf32> : memref<4xf32>
  }
}

// -----

module attributes {plan.persistent_bytes = 0 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 128 : i64} {
  plan.program "eval" @eval {
    // expected-note @+1 {{the buffer at [0, 16)}}
    %a = plan.alloc temporary {offset = 0 : i64} : memref<4xf32>
    %b = plan.alloc temporary {offset = 64 : i64} : memref<4xf32>
    // expected-error @+1 {{expects 'memref<4xf32>' to be written before it is read, but got no write}}
    plan.copy %a to %b : memref<4xf32> to memref<4xf32>
  }
}

// -----

// A command overwrites its own operand.
module attributes {plan.persistent_bytes = 0 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 128 : i64} {
  plan.program "eval" @eval {
    // expected-note @+1 {{the other buffer}}
    %x = plan.input "x" {offset = 0 : i64} : memref<20xf32>
    %part = plan.view %x : memref<20xf32> to memref<16xf32>
    %b = plan.alloc temporary {offset = 64 : i64} : memref<16xf32>
    // expected-error @+1 {{expects a written buffer that shares no bytes with its other buffers, but got [64, 128) and [0, 80)}}
    plan.copy %part to %b : memref<16xf32> to memref<16xf32>
  }
}

// -----

// Half of a buffer is written, all of it is read.
module attributes {plan.persistent_bytes = 0 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 256 : i64} {
  plan.program "eval" @eval {
    %x = plan.input "x" {offset = 0 : i64} : memref<4x2xf32>
    %a = plan.alloc temporary {offset = 64 : i64} : memref<4x4xf32>
    %left = plan.view %a : memref<4x4xf32> to memref<4x2xf32, strided<[4, 1]>>
    %right = plan.view %a : memref<4x4xf32> to memref<4x2xf32, strided<[4, 1], offset: 2>>
    %b = plan.alloc temporary {offset = 128 : i64} : memref<4x4xf32>
    %c = plan.alloc temporary {offset = 192 : i64} : memref<4x2xf32>
    plan.copy %x to %left : memref<4x2xf32> to memref<4x2xf32, strided<[4, 1]>>
    plan.copy %left to %c : memref<4x2xf32, strided<[4, 1]>> to memref<4x2xf32>
    // expected-error @+1 {{expects every element of 'memref<4x4xf32>' to be written before it is read, but got a part of it}}
    plan.copy %a to %b : memref<4x4xf32> to memref<4x4xf32>
    plan.copy %x to %right : memref<4x2xf32> to memref<4x2xf32, strided<[4, 1], offset: 2>>
  }
}

// -----

// The same with both halves written: nothing to say, the module stays.
module attributes {plan.persistent_bytes = 0 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 256 : i64} {
  plan.program "eval" @eval {
    %x = plan.input "x" {offset = 0 : i64} : memref<4x2xf32>
    %a = plan.alloc temporary {offset = 64 : i64} : memref<4x4xf32>
    %left = plan.view %a : memref<4x4xf32> to memref<4x2xf32, strided<[4, 1]>>
    %right = plan.view %a : memref<4x4xf32> to memref<4x2xf32, strided<[4, 1], offset: 2>>
    %b = plan.alloc temporary {offset = 128 : i64} : memref<4x4xf32>
    plan.copy %x to %left : memref<4x2xf32> to memref<4x2xf32, strided<[4, 1]>>
    plan.copy %x to %right : memref<4x2xf32> to memref<4x2xf32, strided<[4, 1], offset: 2>>
    plan.copy %a to %b : memref<4x4xf32> to memref<4x4xf32>
    plan.output "b" %b : memref<4x4xf32>
  }
}

// -----

module attributes {plan.persistent_bytes = 64 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 64 : i64} {
  // expected-note @+1 {{declared here}}
  plan.state param @w : memref<4xf32> {offset = 0 : i64}
  plan.program "eval" @eval {
    // expected-error @+1 {{expects the offset of the state, 0 : i64, but got 64 : i64}}
    %w = plan.use @w {offset = 64 : i64} : memref<4xf32>
  }
}

// -----

// expected-error @+1 {{expects metrics of weft.training to name outputs of @micro beside the loss, 'hits', but got 'loss'}}
module attributes {plan.persistent_bytes = 0 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 256 : i64, weft.training = #weft.training<optimizers = ["sgd"], metrics = ["hits", "loss"]>} {
  plan.program "micro" @micro {
    %l = plan.input "l" {offset = 0 : i64} : memref<f32>
    %h = plan.input "h" {offset = 64 : i64} : memref<f32>
    plan.output "loss" %l : memref<f32>
    plan.output "hits" %h : memref<f32>
  }
}

// -----

// expected-error @+1 {{expects index_inputs of weft.training to name data of i32 or i64 that @micro reads, 'y', but got 'x'}}
module attributes {plan.persistent_bytes = 0 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 256 : i64, weft.training = #weft.training<optimizers = ["sgd"], index_inputs = [#weft.index_input<"x", limit = 8>]>} {
  plan.program "micro" @micro {
    %x = plan.input "x" {offset = 0 : i64} : memref<4x2xf32>
    %y = plan.input "y" {offset = 64 : i64} : memref<4xi32>
  }
}
