// RUN: weft-opt %s --split-input-file --verify-diagnostics
// Rows of padding behind a gradient.

// expected-error @+1 {{'plan.state' op expects padded_rows on a gradient alone, but got a state of kind param}}
plan.state param @w : memref<31x4xf32> {padded_rows = 32 : i64}

// -----

plan.state param @w : memref<31x4xf32>
// expected-error @+1 {{'plan.state' op expects padded_rows of more rows than 'memref<31x4xf32>' has, and at most twice as many, but got 31}}
plan.state gradient @w.grad : memref<31x4xf32> {padded_rows = 31 : i64, param = @w}

// -----

plan.state param @w : memref<31x4xf32>
// expected-error @+1 {{'plan.state' op expects padded_rows of more rows than 'memref<31x4xf32>' has, and at most twice as many, but got 63}}
plan.state gradient @w.grad : memref<31x4xf32> {padded_rows = 63 : i64, param = @w}

// -----

plan.state param @w : memref<f32>
// expected-error @+1 {{'plan.state' op expects padded_rows of more rows than 'memref<f32>' has, and at most twice as many, but got 1}}
plan.state gradient @w.grad : memref<f32> {padded_rows = 1 : i64, param = @w}

// -----

plan.state param @w : memref<31x4xf32>
// expected-note @+1 {{declared here}}
plan.state gradient @w.grad : memref<31x4xf32> {padded_rows = 32 : i64, param = @w}
plan.program "apply" @apply {
  // expected-error @+1 {{'plan.use' op expects the type of the state, 'memref<32x4xf32>', but got 'memref<31x4xf32>'}}
  %g = plan.use @w.grad : memref<31x4xf32>
  plan.output "g" %g : memref<31x4xf32>
}
