// RUN: weft-opt %s -split-input-file -verify-diagnostics --weft-verify-plan
// RUN: weft-opt %s -split-input-file -verify-diagnostics --weft-convert-kernels-to-linalg --weft-verify-plan
// The number of an update is what its counter held, plus one: what the counter held
// itself reaches no other state, whatever kernels it goes through.

// One kernel counts, and what it computes beside that has the new number.
module attributes {plan.persistent_bytes = 128 : i64, plan.arena_bytes = 256 : i64} {
  plan.state param @w : memref<f32> {offset = 0 : i64}
  plan.state optimizer @step : memref<i64> {offset = 64 : i64}
  weft.kernel @k_count(%t: tensor<i64>, %bad: tensor<i1>) -> (tensor<i64>, tensor<f32>) elementwise [] inplace [[0], []] {
    %one = weft.constant dense<1> : tensor<i64>
    %next = weft.add %t, %one : tensor<i64>, tensor<i64>
    %kept = weft.select %bad, %t, %next : tensor<i1>, tensor<i64>, tensor<i64>
    %number = weft.cast %kept : tensor<i64> to tensor<f32>
    weft.yield %kept, %number : tensor<i64>, tensor<f32>
  }
  weft.kernel @k_take(%t: tensor<i64>, %w: tensor<f32>) -> tensor<f32> elementwise [] inplace [[1]] {
    %number = weft.cast %t : tensor<i64> to tensor<f32>
    %sum = weft.add %w, %number : tensor<f32>, tensor<f32>
    weft.yield %sum : tensor<f32>
  }
  plan.program "apply" @apply {
    %w = plan.use @w {offset = 0 : i64} : memref<f32>
    %t = plan.use @step {offset = 64 : i64} : memref<i64>
    %bad = plan.input "bad" {offset = 128 : i64} : memref<i1>
    %number = plan.alloc temporary {offset = 192 : i64} : memref<f32>
    plan.launch @k_count ins(%t, %bad : memref<i64>, memref<i1>) outs(%t, %number : memref<i64>, memref<f32>)
    plan.copy %number to %w : memref<f32> to memref<f32>
    plan.launch @k_take ins(%t, %w : memref<i64>, memref<f32>) outs(%w : memref<f32>)
  }
}

// -----

// The kernel of an update stands before the one that counts.
module attributes {plan.persistent_bytes = 128 : i64, plan.arena_bytes = 192 : i64} {
  plan.state param @w : memref<f32> {offset = 0 : i64}
  plan.state optimizer @step : memref<i64> {offset = 64 : i64}
  weft.kernel @k_count(%t: tensor<i64>, %bad: tensor<i1>) -> tensor<i64> elementwise [] inplace [[0]] {
    %one = weft.constant dense<1> : tensor<i64>
    %next = weft.add %t, %one : tensor<i64>, tensor<i64>
    %kept = weft.select %bad, %t, %next : tensor<i1>, tensor<i64>, tensor<i64>
    weft.yield %kept : tensor<i64>
  }
  weft.kernel @k_take(%t: tensor<i64>) -> tensor<f32> elementwise [] inplace [[]] {
    %number = weft.cast %t : tensor<i64> to tensor<f32>
    weft.yield %number : tensor<f32>
  }
  plan.program "apply" @apply {
    %w = plan.use @w {offset = 0 : i64} : memref<f32>
    %t = plan.use @step {offset = 64 : i64} : memref<i64>
    %bad = plan.input "bad" {offset = 128 : i64} : memref<i1>
    // expected-error @+1 {{expects a step that @apply has counted before, but got @step as it was}}
    plan.launch @k_take ins(%t : memref<i64>) outs(%w : memref<f32>)
    plan.launch @k_count ins(%t, %bad : memref<i64>, memref<i1>) outs(%t : memref<i64>)
  }
}

// -----

// Nor is a temporary one of what the counter held.
module attributes {plan.persistent_bytes = 128 : i64, plan.arena_bytes = 256 : i64} {
  plan.state param @w : memref<f32> {offset = 0 : i64}
  plan.state optimizer @step : memref<i64> {offset = 64 : i64}
  weft.kernel @k_count(%t: tensor<i64>) -> (tensor<i64>, tensor<f32>) elementwise [] inplace [[0], []] {
    %one = weft.constant dense<1> : tensor<i64>
    %next = weft.add %t, %one : tensor<i64>, tensor<i64>
    %number = weft.cast %t : tensor<i64> to tensor<f32>
    weft.yield %next, %number : tensor<i64>, tensor<f32>
  }
  plan.program "apply" @apply {
    %w = plan.use @w {offset = 0 : i64} : memref<f32>
    %t = plan.use @step {offset = 64 : i64} : memref<i64>
    %number = plan.alloc temporary {offset = 128 : i64} : memref<f32>
    plan.launch @k_count ins(%t : memref<i64>) outs(%t, %number : memref<i64>, memref<f32>)
    // expected-error @+1 {{expects a step that @apply has counted before, but got @step as it was}}
    plan.copy %number to %w : memref<f32> to memref<f32>
  }
}

// -----

// A counter that another number is added to has not counted.
module attributes {plan.persistent_bytes = 128 : i64, plan.arena_bytes = 128 : i64} {
  plan.state param @w : memref<f32> {offset = 0 : i64}
  plan.state optimizer @step : memref<i64> {offset = 64 : i64}
  weft.kernel @k_two(%t: tensor<i64>) -> tensor<i64> elementwise [] inplace [[0]] {
    %two = weft.constant dense<2> : tensor<i64>
    %next = weft.add %t, %two : tensor<i64>, tensor<i64>
    weft.yield %next : tensor<i64>
  }
  weft.kernel @k_take(%t: tensor<i64>) -> tensor<f32> elementwise [] inplace [[]] {
    %number = weft.cast %t : tensor<i64> to tensor<f32>
    weft.yield %number : tensor<f32>
  }
  plan.program "apply" @apply {
    %w = plan.use @w {offset = 0 : i64} : memref<f32>
    %t = plan.use @step {offset = 64 : i64} : memref<i64>
    plan.launch @k_two ins(%t : memref<i64>) outs(%t : memref<i64>)
    // expected-error @+1 {{expects a step that @apply has counted before, but got @step as it was}}
    plan.launch @k_take ins(%t : memref<i64>) outs(%w : memref<f32>)
  }
}

// -----

// What a kernel chooses by the counter depends on what it held.
module attributes {plan.persistent_bytes = 128 : i64, plan.arena_bytes = 128 : i64} {
  plan.state param @w : memref<f32> {offset = 0 : i64}
  plan.state optimizer @step : memref<i64> {offset = 64 : i64}
  weft.kernel @k_choose(%t: tensor<i64>, %w: tensor<f32>) -> (tensor<i64>, tensor<f32>) elementwise [] inplace [[0], [1]] {
    %one = weft.constant dense<1> : tensor<i64>
    %next = weft.add %t, %one : tensor<i64>, tensor<i64>
    %number = weft.cast %next : tensor<i64> to tensor<f32>
    %is = weft.compare eq %t, %one : tensor<i64>, tensor<i64>
    %y = weft.select %is, %w, %number : tensor<i1>, tensor<f32>, tensor<f32>
    weft.yield %next, %y : tensor<i64>, tensor<f32>
  }
  plan.program "apply" @apply {
    %w = plan.use @w {offset = 0 : i64} : memref<f32>
    %t = plan.use @step {offset = 64 : i64} : memref<i64>
    // expected-error @+1 {{expects a step that @apply has counted before, but got @step as it was}}
    plan.launch @k_choose ins(%t, %w : memref<i64>, memref<f32>) outs(%t, %w : memref<i64>, memref<f32>)
  }
}

// -----

// In a form of a kernel with ops that say nothing of what they do, all that is written
// may be what the counter held; in one with linalg ops, what a temporary takes along.
module attributes {plan.persistent_bytes = 128 : i64, plan.arena_bytes = 192 : i64} {
  plan.state param @w : memref<f32> {offset = 0 : i64}
  plan.state optimizer @step : memref<i64> {offset = 64 : i64}
  func.func @k_unknown(%t: memref<i64>, %next: memref<i64>, %y: memref<f32>) {
    %c1 = arith.constant 1 : i64
    %0 = memref.load %t[] : memref<i64>
    %1 = arith.addi %0, %c1 : i64
    memref.store %1, %next[] : memref<i64>
    return
  }
  plan.program "apply" @apply {
    %w = plan.use @w {offset = 0 : i64} : memref<f32>
    %t = plan.use @step {offset = 64 : i64} : memref<i64>
    // expected-error @+1 {{expects a step that @apply has counted before, but got @step as it was}}
    plan.launch @k_unknown ins(%t : memref<i64>) outs(%t, %w : memref<i64>, memref<f32>)
  }
}

// -----

#scalar = affine_map<() -> ()>
module attributes {plan.persistent_bytes = 128 : i64, plan.arena_bytes = 192 : i64} {
  plan.state param @w : memref<f32> {offset = 0 : i64}
  plan.state optimizer @step : memref<i64> {offset = 64 : i64}
  func.func @k_kept(%t: memref<i64>, %next: memref<i64>, %y: memref<f32>) {
    %old = memref.alloca() : memref<i64>
    linalg.generic {indexing_maps = [#scalar, #scalar, #scalar], iterator_types = []} ins(%t : memref<i64>) outs(%next, %old : memref<i64>, memref<i64>) {
    ^bb0(%in: i64, %out: i64, %out_0: i64):
      %c1 = arith.constant 1 : i64
      %0 = arith.addi %in, %c1 : i64
      linalg.yield %0, %in : i64, i64
    }
    linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%old : memref<i64>) outs(%y : memref<f32>) {
    ^bb0(%in: i64, %out: f32):
      %0 = arith.sitofp %in : i64 to f32
      linalg.yield %0 : f32
    }
    return
  }
  func.func @k_counted(%t: memref<i64>, %next: memref<i64>, %y: memref<f32>) {
    linalg.generic {indexing_maps = [#scalar, #scalar, #scalar], iterator_types = []} ins(%t : memref<i64>) outs(%next, %y : memref<i64>, memref<f32>) {
    ^bb0(%in: i64, %out: i64, %out_0: f32):
      %c1 = arith.constant 1 : i64
      %0 = arith.addi %in, %c1 : i64
      %1 = arith.sitofp %0 : i64 to f32
      linalg.yield %0, %1 : i64, f32
    }
    return
  }
  plan.program "apply" @apply {
    %w = plan.use @w {offset = 0 : i64} : memref<f32>
    %t = plan.use @step {offset = 64 : i64} : memref<i64>
    plan.launch @k_counted ins(%t : memref<i64>) outs(%t, %w : memref<i64>, memref<f32>)
  }
  plan.program "apply" @again {
    %w = plan.use @w {offset = 0 : i64} : memref<f32>
    %t = plan.use @step {offset = 64 : i64} : memref<i64>
    // expected-error @+1 {{expects a step that @again has counted before, but got @step as it was}}
    plan.launch @k_kept ins(%t : memref<i64>) outs(%t, %w : memref<i64>, memref<f32>)
  }
}
