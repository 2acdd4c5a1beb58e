// RUN: weft-opt %s --weft-lower-kernels --split-input-file --verify-diagnostics
// RUN: weft-opt %s --weft-lower-kernels-to-gpu --split-input-file --verify-diagnostics
// Edited linalg forms whose nests read and write what no target orders.

// A result that a later nest reads in another order.
func.func @k_read_later_turned(%x: memref<8x8xf32>, %y: memref<8x8xf32>, %z: memref<8x8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8, 8>, weft.over = array<i64>, weft.inplace = [array<i64>, array<i64>]} {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<8x8xf32>) outs(%y : memref<8x8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  // expected-error @+1 {{expects to read no results, but got argument 1 as operand 0}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%y : memref<8x8xf32>) outs(%z : memref<8x8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// Old elements of a result.
func.func @k_read_own(%y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  // expected-error @+1 {{expects to read no results, but got argument 0 as operand 0}}
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%y : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// One result of two nests.
func.func @k_two_nests(%x: memref<8xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  // expected-note @+1 {{written here}}
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  // expected-error @+1 {{expects to write each buffer once, but got output 0 again}}
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// One result twice in a nest.
func.func @k_one_nest(%x: memref<8xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  // expected-error @+2 {{expects to write each buffer once, but got output 1 again}}
  // expected-note @+1 {{written here}}
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : memref<8xf32>) outs(%y, %y : memref<8xf32>, memref<8xf32>) {
  ^bb0(%in: f32, %old: f32, %o2: f32):
    %n = arith.negf %in : f32
    linalg.yield %in, %n : f32, f32
  }
  return
}

// -----

// One sum of two nests.
func.func @k_two_totals(%x: memref<8x2xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<rows>, weft.sizes = array<i64: 8, 2>, weft.over = array<i64: 1>, weft.inplace = [array<i64>]} {
  %zero = arith.constant 0.0 : f32
  %t = memref.alloca() : memref<8xf32>
  linalg.fill ins(%zero : f32) outs(%t : memref<8xf32>)
  // expected-note @+1 {{written here}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x2xf32>) outs(%t : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %s = arith.addf %old, %in : f32
    linalg.yield %s : f32
  }
  // expected-error @+1 {{expects to write each buffer once, but got output 0 again}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x2xf32>) outs(%t : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %s = arith.addf %old, %in : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%t : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// Every second element of a result.
func.func @k_part(%x: memref<8xf32>, %y: memref<16xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  %p = memref.reinterpret_cast %y to offset: [0], sizes: [8], strides: [2] : memref<16xf32> to memref<8xf32, strided<[2]>>
  // expected-error @+1 {{expects to write the 16 elements of a result, but got 8 of output 0}}
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : memref<8xf32>) outs(%p : memref<8xf32, strided<[2]>>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// Elements of a result that lie over each other.
func.func @k_same_element(%x: memref<8x8xf32>, %y: memref<8x8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8, 8>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  %p = memref.reinterpret_cast %y to offset: [0], sizes: [8, 8], strides: [1, 1] : memref<8x8xf32> to memref<8x8xf32, strided<[1, 1]>>
  // expected-error @+1 {{expects to write each element once, but got 'memref<8x8xf32, strided<[1, 1]>>' as output 0}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<8x8xf32>) outs(%p : memref<8x8xf32, strided<[1, 1]>>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// Elements behind an argument.
func.func @k_outside(%x: memref<8xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  %p = memref.reinterpret_cast %x to offset: [1000], sizes: [8], strides: [1] : memref<8xf32> to memref<8xf32, strided<[1], offset: 1000>>
  // expected-error @+1 {{expects operands within the 8 elements of their buffer, but got 'memref<8xf32, strided<[1], offset: 1000>>' as operand 0}}
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%p : memref<8xf32, strided<[1], offset: 1000>>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// Elements before it.
func.func @k_before(%x: memref<8xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  %p = memref.reinterpret_cast %x to offset: [0], sizes: [8], strides: [-1] : memref<8xf32> to memref<8xf32, strided<[-1]>>
  // expected-error @+1 {{expects operands within the 8 elements of their buffer, but got 'memref<8xf32, strided<[-1]>>' as operand 0}}
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%p : memref<8xf32, strided<[-1]>>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// Elements beyond all numbers.
func.func @k_overflow(%x: memref<8xf32>, %y: memref<8x8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8, 8>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  %p = memref.reinterpret_cast %x to offset: [0], sizes: [8, 8], strides: [9223372036854775807, 1] : memref<8xf32> to memref<8x8xf32, strided<[9223372036854775807, 1]>>
  // expected-error @+1 {{expects operands within the 8 elements of their buffer, but got 'memref<8x8xf32, strided<[9223372036854775807, 1]>>' as operand 0}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%p : memref<8x8xf32, strided<[9223372036854775807, 1]>>) outs(%y : memref<8x8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// Elements of an argument that has none.
func.func @k_zero_buffer(%z: memref<0xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  %p = memref.reinterpret_cast %z to offset: [0], sizes: [8], strides: [1] : memref<0xf32> to memref<8xf32>
  // expected-error @+1 {{expects operands within the 0 elements of their buffer, but got 'memref<8xf32>' as operand 0}}
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%p : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// A temporary that nothing has written.
func.func @k_unwritten(%x: memref<8x2xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<rows>, weft.sizes = array<i64: 8, 2>, weft.over = array<i64: 1>, weft.inplace = [array<i64>]} {
  %t = memref.alloca() : memref<8xf32>
  // expected-error @+1 {{expects a linalg.generic before it to write the memref.alloca that it reads, but got none for operand 0}}
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%t : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// A temporary that no total has taken up.
func.func @k_filled_alone(%x: memref<8x2xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<rows>, weft.sizes = array<i64: 8, 2>, weft.over = array<i64: 1>, weft.inplace = [array<i64>]} {
  %zero = arith.constant 0.0 : f32
  %t = memref.alloca() : memref<8xf32>
  linalg.fill ins(%zero : f32) outs(%t : memref<8xf32>)
  // expected-error @+1 {{expects a linalg.generic before it to write the memref.alloca that it reads, but got none for operand 0}}
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%t : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// A temporary that is written too late.
func.func @k_written_later(%x: memref<8x2xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<rows>, weft.sizes = array<i64: 8, 2>, weft.over = array<i64: 1>, weft.inplace = [array<i64>]} {
  %zero = arith.constant 0.0 : f32
  %t = memref.alloca() : memref<8xf32>
  // expected-error @+1 {{expects a linalg.generic before it to write the memref.alloca that it reads, but got none for operand 0}}
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%t : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  linalg.fill ins(%zero : f32) outs(%t : memref<8xf32>)
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x2xf32>) outs(%t : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %s = arith.addf %old, %in : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Elements of a row that are read from other rows.
func.func @k_kept_turned(%x: memref<8x8xf32>, %y: memref<8x8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<rows>, weft.sizes = array<i64: 8, 8>, weft.over = array<i64: 1>, weft.inplace = [array<i64>]} {
  %t = memref.alloca() : memref<8x8xf32>
  // expected-note @+1 {{written here}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<8x8xf32>) outs(%t : memref<8x8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  // expected-error @+1 {{expects to read the elements of a memref.alloca as they were written, but got others as operand 0}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t : memref<8x8xf32>) outs(%y : memref<8x8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// Other totals than the written ones.
func.func @k_offset_total(%x: memref<8x2xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<rows>, weft.sizes = array<i64: 8, 2>, weft.over = array<i64: 1>, weft.inplace = [array<i64>]} {
  %zero = arith.constant 0.0 : f32
  %t = memref.alloca() : memref<16xf32>
  %p = memref.reinterpret_cast %t to offset: [8], sizes: [8], strides: [1] : memref<16xf32> to memref<8xf32, strided<[1], offset: 8>>
  %q = memref.reinterpret_cast %t to offset: [0], sizes: [8], strides: [1] : memref<16xf32> to memref<8xf32>
  linalg.fill ins(%zero : f32) outs(%t : memref<16xf32>)
  // expected-note @+1 {{written here}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x2xf32>) outs(%p : memref<8xf32, strided<[1], offset: 8>>) {
  ^bb0(%in: f32, %old: f32):
    %s = arith.addf %old, %in : f32
    linalg.yield %s : f32
  }
  // expected-error @+1 {{expects to read the elements of a memref.alloca as they were written, but got others as operand 0}}
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%q : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// One number for several values.
func.func @k_outer_shared(%x: memref<4x8xf32>, %y: memref<4x8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<rows>, weft.sizes = array<i64: 4, 8, 2>, weft.over = array<i64: 2>, weft.inplace = [array<i64>]} {
  %t = memref.alloca() : memref<4xf32>
  // expected-error @+1 {{expects an element of a memref.alloca for each value, but got one of output 0 for all 8 of a dimension}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<4x8xf32>) outs(%t : memref<4xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t : memref<4xf32>) outs(%y : memref<4x8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// More of a row than a stack may hold.
func.func @k_large(%x: memref<8x100000xf32>, %y: memref<8x100000xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<rows>, weft.sizes = array<i64: 8, 100000>, weft.over = array<i64: 1>, weft.inplace = [array<i64>]} {
  %t = memref.alloca() : memref<8x100000xf32>
  // expected-error @+1 {{expects at most 262144 bytes of a row in memref.alloca, but got 100000 elements in output 0 in addition to 0 bytes}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<8x100000xf32>) outs(%t : memref<8x100000xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t : memref<8x100000xf32>) outs(%y : memref<8x100000xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// Sums of columns that are spread over the rows again.
func.func @k_columns_spread(%x: memref<8x2xf32>, %y: memref<8x2xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<columns>, weft.sizes = array<i64: 8, 2>, weft.over = array<i64: 0>, weft.inplace = [array<i64>]} {
  %zero = arith.constant 0.0 : f32
  %t = memref.alloca() : memref<2xf32>
  linalg.fill ins(%zero : f32) outs(%t : memref<2xf32>)
  // expected-note @+1 {{written here}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%x : memref<8x2xf32>) outs(%t : memref<2xf32>) {
  ^bb0(%in: f32, %old: f32):
    %s = arith.addf %old, %in : f32
    linalg.yield %s : f32
  }
  // expected-error @+1 {{expects to read sums, maxima and minima of columns in loops over the columns, but got one in others as operand 1}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %t : memref<8x2xf32>, memref<2xf32>) outs(%y : memref<8x2xf32>) {
  ^bb0(%in: f32, %s: f32, %old: f32):
    %d = arith.subf %in, %s : f32
    linalg.yield %d : f32
  }
  return
}

// -----

// Threads that have not met: others of the column may still read what one of them writes over.
func.func @k_no_barrier(%x: memref<8x2xf32>, %v: memref<2xf32>, %y: memref<8x2xf32>, %w: memref<2xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<columns>, weft.sizes = array<i64: 8, 2>, weft.over = array<i64: 0>, weft.inplace = [array<i64>, array<i64: 1>]} {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %v : memref<8x2xf32>, memref<2xf32>) outs(%y : memref<8x2xf32>) {
  ^bb0(%in: f32, %s: f32, %old: f32):
    %d = arith.subf %in, %s : f32
    linalg.yield %d : f32
  }
  // expected-error @+1 {{expects a sum, maximum or minimum after the last read of argument 1, whose buffer a result may reuse, but got output 0 after none}}
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%v : memref<2xf32>) outs(%w : memref<2xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}
