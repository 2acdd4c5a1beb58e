// RUN: weft-opt --split-input-file --verify-diagnostics %s

// Module attributes of passes are read by emission, reports and the runtime.

// expected-error @+1 {{expects no attribute "plan.arena": plan has none of that name}}
module attributes {plan.arena = 64 : i64} {
}

// -----

plan.program "eval" @eval {
  // expected-error @+1 {{expects "plan.alignment" on a module, where it has an effect}}
  %x = plan.input "x" {plan.alignment = 64 : i64} : memref<8xf32>
}

// -----

// expected-error @+1 {{expects "plan.arena_bytes" to be an i64 from 0 to 2^47, but got 64 : i32}}
module attributes {plan.arena_bytes = 64 : i32} {
}

// -----

// expected-error @+1 {{expects "plan.staging_bytes" to be an i64 from 0 to 2^47, but got 9223372036854775807 : i64}}
module attributes {plan.staging_bytes = 9223372036854775807 : i64} {
}

// -----

// expected-error @+1 {{expects "plan.alignment" to be an i64 that is a power of two up to 2^47, but got 48 : i64}}
module attributes {plan.alignment = 48 : i64} {
}

// -----

// expected-error @+1 {{expects "plan.collective_ctas" to be an i64 from 1 to 64, but got 65 : i64}}
module attributes {plan.collective_ctas = 65 : i64} {
}

// -----

// expected-error @+1 {{expects "plan.max_threads" to be an i64 from 1 to 2^31, but got 0 : i64}}
module attributes {plan.max_threads = 0 : i64} {
}

// -----

// expected-error @+1 {{expects "plan.speeds" to be a dictionary of finite numbers above 0 (slows_compute: below 1, slows_compute_across: from 0 to below 1), but got {gflops = -1.000000e+00 : f64}}}
module attributes {plan.speeds = {gflops = -1.0 : f64}} {
}
