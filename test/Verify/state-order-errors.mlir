// RUN: weft-opt --weft-verify-plan --split-input-file --verify-diagnostics %s

// States that a program reads before any command of a run has written them.

// A parameter without its first value.
module attributes {plan.persistent_bytes = 64 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 128 : i64} {
  // expected-note @+1 {{the state is declared here}}
  plan.state param @w : memref<4xf32> {offset = 0 : i64}
  plan.program "init" @init {
  }
  plan.program "eval" @eval {
    %w = plan.use @w {offset = 0 : i64} : memref<4xf32>
    %y = plan.alloc temporary {offset = 64 : i64} : memref<4xf32>
    // expected-error @+1 {{expects every element of @w that it reads to be written before, in init or eval, but got no write}}
    plan.copy %w to %y : memref<4xf32> to memref<4xf32>
    plan.output "y" %y : memref<4xf32>
  }
}

// -----

// The same without a program that trains or begins: states come from elsewhere.
module attributes {plan.persistent_bytes = 64 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 128 : i64} {
  plan.state param @w : memref<4xf32> {offset = 0 : i64}
  plan.program "eval" @eval {
    %w = plan.use @w {offset = 0 : i64} : memref<4xf32>
    %y = plan.alloc temporary {offset = 64 : i64} : memref<4xf32>
    plan.copy %w to %y : memref<4xf32> to memref<4xf32>
    plan.output "y" %y : memref<4xf32>
  }
}

// -----

// The last element is missing.
module attributes {plan.persistent_bytes = 64 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 128 : i64} {
  // expected-note @+1 {{the state is declared here}}
  plan.state param @w : memref<4xf32> {offset = 0 : i64}
  plan.program "init" @init {
    %w = plan.use @w {offset = 0 : i64} : memref<4xf32>
    %v = plan.view %w : memref<4xf32> to memref<3xf32>
    plan.constant %v = dense<1.0> : tensor<3xf32> : memref<3xf32>
  }
  plan.program "eval" @eval {
    %w = plan.use @w {offset = 0 : i64} : memref<4xf32>
    // expected-error @+1 {{expects every element of @w that it reads to be written before, in init or eval, but got a part of them}}
    plan.output "w" %w : memref<4xf32>
  }
}

// -----

// init itself reads a state before it writes it.
module attributes {plan.persistent_bytes = 128 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 128 : i64} {
  // expected-note @+1 {{the state is declared here}}
  plan.state param @w : memref<4xf32> {offset = 0 : i64}
  plan.state optimizer @m : memref<4xf32> {offset = 64 : i64, param = @w}
  plan.program "init" @init {
    %w = plan.use @w {offset = 0 : i64} : memref<4xf32>
    %m = plan.use @m {offset = 64 : i64} : memref<4xf32>
    // expected-error @+1 {{expects every element of @w that it reads to be written before, in init, but got no write}}
    plan.copy %w to %m : memref<4xf32> to memref<4xf32>
    plan.constant %w = dense<1.0> : tensor<4xf32> : memref<4xf32>
  }
}

// -----

// A gradient that no micro-step writes. The optimizer of apply reads it.
module attributes {plan.persistent_bytes = 128 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 256 : i64} {
  weft.kernel @k_norm(%g: tensor<4xf32>) -> (tensor<f64>, tensor<i1>) rows [4] over [0] inplace [[], []] {
    %wide = weft.cast %g : tensor<4xf32> to tensor<4xf64>
    %sum = weft.reduce sum %wide dims [0] : tensor<4xf64>
    %zero = weft.constant dense<0.0> : tensor<f64>
    %bad = weft.compare lt %sum, %zero : tensor<f64>, tensor<f64>
    weft.yield %sum, %bad : tensor<f64>, tensor<i1>
  }
  // expected-note @+1 {{the state is declared here}}
  plan.state gradient @g : memref<4xf32> {offset = 64 : i64}
  plan.program "init" @init {
  }
  plan.program "micro" @micro {
  }
  plan.program "apply" @apply {
    %g = plan.use @g {offset = 64 : i64} : memref<4xf32>
    %n = plan.alloc temporary {offset = 128 : i64} : memref<f64>
    %b = plan.alloc temporary {offset = 192 : i64} : memref<i1>
    // expected-error @+1 {{expects every element of @g that it reads to be written before, in init or micro or apply, but got no write}}
    plan.launch @k_norm ins(%g : memref<4xf32>) outs(%n, %b : memref<f64>, memref<i1>)
    plan.output "grad_norm" %n : memref<f64>
    plan.output "found_inf" %b : memref<i1>
  }
}

// -----

// The sum may be there before a flag chooses, in a kernel of its own.
module attributes {plan.persistent_bytes = 64 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 384 : i64} {
  plan.state gradient @g : memref<4xf32> {offset = 0 : i64}
  weft.kernel @k_add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> elementwise [4] inplace [[]] {
    %y = weft.add %a, %b : tensor<4xf32>, tensor<4xf32>
    weft.yield %y : tensor<4xf32>
  }
  weft.kernel @k_first(%f: tensor<f32>) -> tensor<i1> elementwise [] inplace [[]] {
    %zero = weft.constant dense<0.0> : tensor<f32>
    %y = weft.compare eq %f, %zero : tensor<f32>, tensor<f32>
    weft.yield %y : tensor<i1>
  }
  weft.kernel @k_select(%c: tensor<i1>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> elementwise [4] inplace [[]] {
    %y = weft.select %c, %a, %b : tensor<i1>, tensor<4xf32>, tensor<4xf32>
    weft.yield %y : tensor<4xf32>
  }
  plan.program "init" @init {
  }
  plan.program "micro" @micro {
    %g = plan.use @g {offset = 0 : i64} : memref<4xf32>
    %x = plan.input "x" {offset = 64 : i64} : memref<4xf32>
    %flag = plan.input "accumulate" {offset = 128 : i64} : memref<f32>
    %sum = plan.alloc temporary {offset = 192 : i64} : memref<4xf32>
    %first = plan.alloc temporary {offset = 256 : i64} : memref<i1>
    plan.launch @k_add ins(%g, %x : memref<4xf32>, memref<4xf32>) outs(%sum : memref<4xf32>)
    plan.launch @k_first ins(%flag : memref<f32>) outs(%first : memref<i1>)
    plan.launch @k_select ins(%first, %x, %sum : memref<i1>, memref<4xf32>, memref<4xf32>) outs(%g : memref<4xf32>)
  }
}

// -----

// A checkpoint has parameters but no copies of them: what init writes is lost.
module attributes {plan.persistent_bytes = 128 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 192 : i64} {
  plan.state param @w : memref<4xf32> {offset = 0 : i64}
  // expected-note @+1 {{the state is declared here}}
  plan.state working @w.bf16 : memref<4xbf16> {offset = 64 : i64, param = @w}
  plan.program "init" @init {
    %w = plan.use @w {offset = 0 : i64} : memref<4xf32>
    %c = plan.use @w.bf16 {offset = 64 : i64} : memref<4xbf16>
    plan.constant %w = dense<1.0> : tensor<4xf32> : memref<4xf32>
    plan.constant %c = dense<1.0> : tensor<4xbf16> : memref<4xbf16>
  }
  plan.program "eval" @eval {
    %c = plan.use @w.bf16 {offset = 64 : i64} : memref<4xbf16>
    %y = plan.alloc temporary {offset = 128 : i64} : memref<4xbf16>
    // expected-error @+1 {{expects every element of @w.bf16 that it reads to be written before, in refresh or eval, but got no write, in a run that resumes from a checkpoint}}
    plan.copy %c to %y : memref<4xbf16> to memref<4xbf16>
    plan.output "y" %y : memref<4xbf16>
  }
}

// -----

// The same with refresh: nothing to say.
module attributes {plan.persistent_bytes = 128 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 192 : i64} {
  plan.state param @w : memref<4xf32> {offset = 0 : i64}
  plan.state working @w.bf16 : memref<4xbf16> {offset = 64 : i64, param = @w}
  plan.program "init" @init {
    %w = plan.use @w {offset = 0 : i64} : memref<4xf32>
    %c = plan.use @w.bf16 {offset = 64 : i64} : memref<4xbf16>
    plan.constant %w = dense<1.0> : tensor<4xf32> : memref<4xf32>
    plan.constant %c = dense<1.0> : tensor<4xbf16> : memref<4xbf16>
  }
  plan.program "eval" @eval {
    %c = plan.use @w.bf16 {offset = 64 : i64} : memref<4xbf16>
    %y = plan.alloc temporary {offset = 128 : i64} : memref<4xbf16>
    plan.copy %c to %y : memref<4xbf16> to memref<4xbf16>
    plan.output "y" %y : memref<4xbf16>
  }
  plan.program "refresh" @refresh {
    %c = plan.use @w.bf16 {offset = 64 : i64} : memref<4xbf16>
    plan.constant %c = dense<1.0> : tensor<4xbf16> : memref<4xbf16>
  }
}

// -----

// A parameter moves on and its copy does not.
module attributes {plan.persistent_bytes = 128 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 128 : i64} {
  plan.state param @w : memref<4xf32> {offset = 0 : i64}
  plan.state working @w.bf16 : memref<4xbf16> {offset = 64 : i64, param = @w}
  plan.program "apply" @apply {
    %w = plan.use @w {offset = 0 : i64} : memref<4xf32>
    %c = plan.use @w.bf16 {offset = 64 : i64} : memref<4xbf16>
    %part = plan.view %w : memref<4xf32> to memref<2xf32>
    %rest = plan.view %w : memref<4xf32> to memref<2xf32, strided<[1], offset: 2>>
    %copy = plan.view %c : memref<4xbf16> to memref<2xbf16>
    plan.constant %part = dense<1.0> : tensor<2xf32> : memref<2xf32>
    // expected-error @+1 {{expects those elements of @w.bf16, the copy of @w, to be written here or after it in @apply, but got a part of them}}
    plan.constant %rest = dense<1.0> : tensor<2xf32> : memref<2xf32, strided<[1], offset: 2>>
    plan.constant %copy = dense<1.0> : tensor<2xbf16> : memref<2xbf16>
  }
}

// -----

// An update that counts, and writes the copy itself: nothing to say.
module attributes {plan.persistent_bytes = 320 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 576 : i64} {
  weft.kernel @k_count(%t: tensor<i64>, %bad: tensor<i1>) -> tensor<i64> elementwise [] inplace [[0]] {
    %one = weft.constant dense<1> : tensor<i64>
    %next = weft.add %t, %one : tensor<i64>, tensor<i64>
    %y = weft.select %bad, %t, %next : tensor<i1>, tensor<i64>, tensor<i64>
    weft.yield %y : tensor<i64>
  }
  weft.kernel @k_update(%w: tensor<4xf32>, %m: tensor<4xf32>, %g: tensor<4xf32>, %t: tensor<i64>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xbf16>) elementwise [4] inplace [[0], [1], []] {
    %number = weft.cast %t : tensor<i64> to tensor<f32>
    %step = weft.div %g, %number : tensor<4xf32>, tensor<f32>
    %w1 = weft.sub %w, %step : tensor<4xf32>, tensor<4xf32>
    %m1 = weft.add %m, %g : tensor<4xf32>, tensor<4xf32>
    %low = weft.cast %w1 : tensor<4xf32> to tensor<4xbf16>
    weft.yield %w1, %m1, %low : tensor<4xf32>, tensor<4xf32>, tensor<4xbf16>
  }
  plan.state param @w : memref<4xf32> {offset = 0 : i64}
  plan.state gradient @g : memref<4xf32> {offset = 64 : i64}
  plan.state optimizer @m : memref<4xf32> {offset = 128 : i64, param = @w}
  plan.state optimizer @step : memref<i64> {offset = 192 : i64}
  plan.state working @w.bf16 : memref<4xbf16> {offset = 256 : i64, param = @w}
  plan.program "micro" @micro {
    %g = plan.use @g {offset = 64 : i64} : memref<4xf32>
    plan.constant %g = dense<1.0> : tensor<4xf32> : memref<4xf32>
  }
  plan.program "apply" @apply {
    %w = plan.use @w {offset = 0 : i64} : memref<4xf32>
    %g = plan.use @g {offset = 64 : i64} : memref<4xf32>
    %m = plan.use @m {offset = 128 : i64} : memref<4xf32>
    %t = plan.use @step {offset = 192 : i64} : memref<i64>
    %copy = plan.use @w.bf16 {offset = 256 : i64} : memref<4xbf16>
    %bad = plan.input "bad" {offset = 384 : i64} : memref<i1>
    plan.launch @k_count ins(%t, %bad : memref<i64>, memref<i1>) outs(%t : memref<i64>)
    plan.launch @k_update ins(%w, %m, %g, %t : memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<i64>) outs(%w, %m, %copy : memref<4xf32>, memref<4xf32>, memref<4xbf16>)
  }
}

// -----

// Each copy follows its parameter, not one of them.
module attributes {plan.persistent_bytes = 192 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 192 : i64} {
  plan.state param @w : memref<4xf32> {offset = 0 : i64}
  plan.state working @w.bf16 : memref<4xbf16> {offset = 64 : i64, param = @w}
  plan.state working @w.f16 : memref<4xf16> {offset = 128 : i64, param = @w}
  plan.program "apply" @apply {
    %w = plan.use @w {offset = 0 : i64} : memref<4xf32>
    %c = plan.use @w.f16 {offset = 128 : i64} : memref<4xf16>
    // expected-error @+1 {{expects those elements of @w.bf16, the copy of @w, to be written here or after it in @apply, but got no write}}
    plan.constant %w = dense<1.0> : tensor<4xf32> : memref<4xf32>
    plan.constant %c = dense<1.0> : tensor<4xf16> : memref<4xf16>
  }
}

// -----

// A copy of the old parameter.
module attributes {plan.persistent_bytes = 128 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 128 : i64} {
  plan.state param @w : memref<4xf32> {offset = 0 : i64}
  plan.state working @w.bf16 : memref<4xbf16> {offset = 64 : i64, param = @w}
  weft.kernel @k_round(%a: tensor<4xf32>) -> tensor<4xbf16> elementwise [4] inplace [[]] {
    %y = weft.cast %a : tensor<4xf32> to tensor<4xbf16>
    weft.yield %y : tensor<4xbf16>
  }
  plan.program "apply" @apply {
    %w = plan.use @w {offset = 0 : i64} : memref<4xf32>
    %c = plan.use @w.bf16 {offset = 64 : i64} : memref<4xbf16>
    plan.launch @k_round ins(%w : memref<4xf32>) outs(%c : memref<4xbf16>)
    // expected-error @+1 {{expects those elements of @w.bf16, the copy of @w, to be written here or after it in @apply, but got no write}}
    plan.constant %w = dense<1.0> : tensor<4xf32> : memref<4xf32>
  }
}

// -----

// Values that do not depend on the parameter may come before it.
module attributes {plan.persistent_bytes = 128 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 128 : i64} {
  plan.state param @w : memref<4xf32> {offset = 0 : i64}
  plan.state working @w.bf16 : memref<4xbf16> {offset = 64 : i64, param = @w}
  plan.program "init" @init {
    %w = plan.use @w {offset = 0 : i64} : memref<4xf32>
    %c = plan.use @w.bf16 {offset = 64 : i64} : memref<4xbf16>
    plan.constant %c = dense<1.0> : tensor<4xbf16> : memref<4xbf16>
    plan.constant %w = dense<1.0> : tensor<4xf32> : memref<4xf32>
  }
}

// -----

// A flat copy belongs to the state with its segments.
module attributes {plan.persistent_bytes = 192 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 192 : i64} {
  plan.state param @other : memref<4xf32> {offset = 0 : i64, segments = [#plan.segment<@v [4] at 0 to 4>]}
  plan.state param @flat : memref<4xf32> {offset = 64 : i64, segments = [#plan.segment<@w [4] at 0 to 4>]}
  plan.state working @flat.bf16 : memref<4xbf16> {offset = 128 : i64, slot = "bf16", segments = [#plan.segment<@w [4] at 0 to 4>]}
  plan.program "apply" @apply {
    %o = plan.use @other {offset = 0 : i64} : memref<4xf32>
    %w = plan.use @flat {offset = 64 : i64} : memref<4xf32>
    plan.constant %o = dense<1.0> : tensor<4xf32> : memref<4xf32>
    // expected-error @+1 {{expects those elements of @flat.bf16, the copy of @flat, to be written here or after it in @apply, but got no write}}
    plan.constant %w = dense<1.0> : tensor<4xf32> : memref<4xf32>
  }
}

// -----

// A module that trains and has no init program goes on from checkpoints.
module attributes {plan.persistent_bytes = 128 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 192 : i64} {
  plan.state param @w : memref<4xf32> {offset = 0 : i64}
  // expected-note @+1 {{the state is declared here}}
  plan.state working @w.bf16 : memref<4xbf16> {offset = 64 : i64, param = @w}
  plan.program "micro" @micro {
    %w = plan.use @w {offset = 0 : i64} : memref<4xf32>
    %c = plan.use @w.bf16 {offset = 64 : i64} : memref<4xbf16>
    %y = plan.alloc temporary {offset = 128 : i64} : memref<4xbf16>
    plan.output "w" %w : memref<4xf32>
    // expected-error @+1 {{expects every element of @w.bf16 that it reads to be written before, in refresh or micro, but got no write, in a run that resumes from a checkpoint}}
    plan.copy %c to %y : memref<4xbf16> to memref<4xbf16>
    plan.output "y" %y : memref<4xbf16>
  }
}

// -----

// Later micro-steps may read states of the first micro-step of a step: not the other way
// round, and apply counts on none of them.
module attributes {plan.persistent_bytes = 192 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 192 : i64} {
  plan.state working @kept : memref<4xf32> {offset = 0 : i64}
  // expected-note @+1 {{the state is declared here}}
  plan.state working @late : memref<4xf32> {offset = 64 : i64}
  plan.program "init" @init {
  }
  plan.program "micro" @micro_later {
    %kept = plan.use @kept {offset = 0 : i64} : memref<4xf32>
    %late = plan.use @late {offset = 64 : i64} : memref<4xf32>
    plan.copy %kept to %late : memref<4xf32> to memref<4xf32>
    plan.output "loss" %late : memref<4xf32>
  }
  plan.program "micro" @micro {
    %kept = plan.use @kept {offset = 0 : i64} : memref<4xf32>
    plan.constant %kept = dense<1.0> : tensor<4xf32> : memref<4xf32>
    plan.output "loss" %kept : memref<4xf32>
  }
  plan.program "apply" @apply {
    %late = plan.use @late {offset = 64 : i64} : memref<4xf32>
    // expected-error @+1 {{expects every element of @late that it reads to be written before, in init or micro or apply, but got no write}}
    plan.output "found_inf" %late : memref<4xf32>
  }
}

// -----

module attributes {plan.persistent_bytes = 64 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 64 : i64} {
  // expected-note @+1 {{the state is declared here}}
  plan.state working @kept : memref<4xf32> {offset = 0 : i64}
  plan.program "init" @init {
  }
  plan.program "micro" @micro_later {
    %kept = plan.use @kept {offset = 0 : i64} : memref<4xf32>
    // expected-error @+1 {{expects every element of @kept that it reads to be written before, in init or micro or micro_later, but got no write}}
    plan.output "loss" %kept : memref<4xf32>
  }
}

// -----

// A step of one micro-step writes the states that apply reads, and so does a step of several.
module attributes {plan.persistent_bytes = 64 : i64, plan.alignment = 64 : i64, plan.arena_bytes = 64 : i64} {
  // expected-note @+1 {{the state is declared here}}
  plan.state working @mean : memref<4xf32> {offset = 0 : i64}
  plan.program "init" @init {
  }
  plan.program "micro" @micro {
    %mean = plan.use @mean {offset = 0 : i64} : memref<4xf32>
    plan.constant %mean = dense<1.0> : tensor<4xf32> : memref<4xf32>
    plan.output "loss" %mean : memref<4xf32>
  }
  plan.program "micro" @micro_keep {
  }
  plan.program "micro" @micro_later {
  }
  plan.program "apply" @apply {
    %mean = plan.use @mean {offset = 0 : i64} : memref<4xf32>
    // expected-error @+1 {{expects every element of @mean that it reads to be written before, in init or micro or apply, but got no write}}
    plan.output "found_inf" %mean : memref<4xf32>
  }
}
