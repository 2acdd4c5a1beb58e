// RUN: weft-opt %s --split-input-file --verify-diagnostics

// Collectives that no ranks can run are errors on the command.

plan.program "apply" @apply {
  %s = plan.alloc temporary : memref<8xf32>
  %f = plan.alloc temporary : memref<24xf32>
  // expected-error @+1 {{expects 2 slices, but got 'memref<8xf32>' of 'memref<24xf32>'}}
  plan.all_gather %s to %f among 2 : memref<8xf32> to memref<24xf32>
}

// -----

plan.program "apply" @apply {
  %s = plan.alloc temporary : memref<8xf32>
  %f = plan.alloc temporary : memref<8xf32>
  // expected-error @+1 {{expects 1 to 100000 ranks, but got 0}}
  plan.all_gather %s to %f among 0 : memref<8xf32> to memref<8xf32>
}

// -----

plan.program "apply" @apply {
  %f = plan.alloc temporary : memref<16xf32>
  %s = plan.alloc temporary : memref<8xf32>
  // expected-error @+1 {{expects two divisors of at least 1 whose product is the number of ranks, 2, but got 2.000000e+00 and 2.000000e+00}}
  plan.reduce_scatter %f to %s by 2.0, 2.0 among 2 : memref<16xf32> to memref<8xf32>
}

// -----

plan.program "apply" @apply {
  %f = plan.alloc temporary : memref<16xf32>
  %s = plan.view %f : memref<16xf32> to memref<8xf32, strided<[1], offset: 8>>
  // expected-error @+1 {{expects a buffer that it writes to share no bytes with its other operands}}
  plan.reduce_scatter %f to %s by 1.0, 2.0 among 2 : memref<16xf32> to memref<8xf32, strided<[1], offset: 8>>
}

// -----

plan.program "apply" @apply {
  %f = plan.alloc temporary : memref<32xf32>
  %v = plan.view %f : memref<32xf32> to memref<16xf32, strided<[2]>>
  %s = plan.alloc temporary : memref<8xf32>
  // expected-error @+1 {{expects dense buffers, but got 'memref<16xf32, strided<[2]>>'}}
  plan.reduce_scatter %v to %s by 1.0, 2.0 among 2 : memref<16xf32, strided<[2]>> to memref<8xf32>
}

// -----

plan.program "apply" @apply {
  %n = plan.alloc temporary : memref<f64>
  %m = plan.alloc temporary : memref<f64>
  // expected-error @+1 {{expects sum or max of an f64, or of an i1, but got or of 'memref<f64>'}}
  plan.all_reduce %n by ["or"] to %m among 2 : memref<f64> to memref<f64>
}

// -----

plan.program "apply" @apply {
  %n = plan.alloc temporary : memref<f64>
  %m = plan.alloc temporary : memref<f64>
  // expected-error @+1 {{expects a reduction and a result of the same type for each of at least one number, but got 2 and 1 for 1}}
  plan.all_reduce %n by ["sum", "sum"] to %m among 2 : memref<f64> to memref<f64>
}

// -----

plan.program "init" @init {
  %f = plan.alloc temporary : memref<24xf32>
  %s = plan.alloc temporary : memref<8xf32>
  // expected-error @+1 {{expects 2 slices, but got 'memref<8xf32>' of 'memref<24xf32>'}}
  plan.own_slice %f to %s among 2 : memref<24xf32> to memref<8xf32>
}

// -----

plan.program "init" @init {
  %r = plan.alloc temporary : memref<i64>
  // expected-error @+1 {{expects at least one rank, but got 0}}
  plan.rank to %r among 0 : memref<i64>
}

// -----

plan.program "apply" @apply {
  %n = plan.alloc temporary : memref<f64>
  %s = plan.alloc temporary : memref<f64>
  // expected-error @+1 {{expects sum, max or or, but got mean}}
  plan.all_reduce %n by ["mean"] to %s among 2 : memref<f64> to memref<f64>
}
