// RUN: weft-opt %s --weft-lower-kernels-to-gpu --split-input-file --verify-diagnostics
// Edited linalg forms of kernels of rows that also add up rows.

// Other dimensions than its kernel says.
func.func @k(%x: memref<8x4xf32>, %y: memref<8x4xf32>, %s: memref<2x4xf32>) attributes {weft.inplace = [array<i64>, array<i64>], weft.kernel_kind = #weft.kernel_kind<rows>, weft.over = array<i64: 2>, weft.sizes = array<i64: 2, 4, 4>, weft.sums = array<i64: 0>} {
  %zero = arith.constant 0.0 : f32
  %start = arith.constant 0.0 : f32
  %total = memref.alloca() : memref<2x4xf32>
  %sums = memref.alloca() : memref<2x4xf32>
  %rows = memref.reinterpret_cast %x to offset: [0], sizes: [2, 4, 4], strides: [16, 4, 1] : memref<8x4xf32> to memref<2x4x4xf32>
  linalg.fill ins(%zero : f32) outs(%total : memref<2x4xf32>)
  linalg.fill ins(%start : f32) outs(%sums : memref<2x4xf32>)
  // expected-error @+1 {{expects sums over rows over [0], as its kernel says, but got one over [1] in output 1}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d2)>], iterator_types = ["parallel", "reduction", "reduction"]} ins(%rows : memref<2x4x4xf32>) outs(%total, %sums : memref<2x4xf32>, memref<2x4xf32>) {
  ^bb0(%in: f32, %t: f32, %u: f32):
    %0 = arith.addf %t, %in : f32
    %1 = arith.addf %u, %in : f32
    linalg.yield %0, %1 : f32, f32
  }
  %result = memref.reinterpret_cast %y to offset: [0], sizes: [2, 4, 4], strides: [16, 4, 1] : memref<8x4xf32> to memref<2x4x4xf32>
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%rows, %total : memref<2x4x4xf32>, memref<2x4xf32>) outs(%result : memref<2x4x4xf32>) {
  ^bb0(%in: f32, %t: f32, %out: f32):
    %0 = arith.subf %in, %t : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%sums : memref<2x4xf32>) outs(%s : memref<2x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}

// -----

// A maximum.
func.func @k(%x: memref<8x4xf32>, %y: memref<8x4xf32>, %s: memref<2x4xf32>) attributes {weft.inplace = [array<i64>, array<i64>], weft.kernel_kind = #weft.kernel_kind<rows>, weft.over = array<i64: 2>, weft.sizes = array<i64: 2, 4, 4>, weft.sums = array<i64: 1>} {
  %zero = arith.constant 0.0 : f32
  %start = arith.constant 0xFF800000 : f32
  %total = memref.alloca() : memref<2x4xf32>
  %sums = memref.alloca() : memref<2x4xf32>
  %rows = memref.reinterpret_cast %x to offset: [0], sizes: [2, 4, 4], strides: [16, 4, 1] : memref<8x4xf32> to memref<2x4x4xf32>
  linalg.fill ins(%zero : f32) outs(%total : memref<2x4xf32>)
  linalg.fill ins(%start : f32) outs(%sums : memref<2x4xf32>)
  // expected-error @+1 {{expects sums over rows, but got arith.maximumf in output 1}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d2)>], iterator_types = ["parallel", "reduction", "reduction"]} ins(%rows : memref<2x4x4xf32>) outs(%total, %sums : memref<2x4xf32>, memref<2x4xf32>) {
  ^bb0(%in: f32, %t: f32, %u: f32):
    %0 = arith.addf %t, %in : f32
    %1 = arith.maximumf %u, %in : f32
    linalg.yield %0, %1 : f32, f32
  }
  %result = memref.reinterpret_cast %y to offset: [0], sizes: [2, 4, 4], strides: [16, 4, 1] : memref<8x4xf32> to memref<2x4x4xf32>
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%rows, %total : memref<2x4x4xf32>, memref<2x4xf32>) outs(%result : memref<2x4x4xf32>) {
  ^bb0(%in: f32, %t: f32, %out: f32):
    %0 = arith.subf %in, %t : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%sums : memref<2x4xf32>) outs(%s : memref<2x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}

// -----

// A sum that takes the buffer of an argument.
func.func @k(%x: memref<8x4xf32>, %y: memref<8x4xf32>, %s: memref<2x4xf32>) attributes {weft.inplace = [array<i64>, array<i64: 0>], weft.kernel_kind = #weft.kernel_kind<rows>, weft.over = array<i64: 2>, weft.sizes = array<i64: 2, 4, 4>, weft.sums = array<i64: 1>} {
  %zero = arith.constant 0.0 : f32
  %start = arith.constant 0.0 : f32
  %total = memref.alloca() : memref<2x4xf32>
  %sums = memref.alloca() : memref<2x4xf32>
  %rows = memref.reinterpret_cast %x to offset: [0], sizes: [2, 4, 4], strides: [16, 4, 1] : memref<8x4xf32> to memref<2x4x4xf32>
  linalg.fill ins(%zero : f32) outs(%total : memref<2x4xf32>)
  linalg.fill ins(%start : f32) outs(%sums : memref<2x4xf32>)
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d2)>], iterator_types = ["parallel", "reduction", "reduction"]} ins(%rows : memref<2x4x4xf32>) outs(%total, %sums : memref<2x4xf32>, memref<2x4xf32>) {
  ^bb0(%in: f32, %t: f32, %u: f32):
    %0 = arith.addf %t, %in : f32
    %1 = arith.addf %u, %in : f32
    linalg.yield %0, %1 : f32, f32
  }
  %result = memref.reinterpret_cast %y to offset: [0], sizes: [2, 4, 4], strides: [16, 4, 1] : memref<8x4xf32> to memref<2x4x4xf32>
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%rows, %total : memref<2x4x4xf32>, memref<2x4xf32>) outs(%result : memref<2x4x4xf32>) {
  ^bb0(%in: f32, %t: f32, %out: f32):
    %0 = arith.subf %in, %t : f32
    linalg.yield %0 : f32
  }
  // expected-error @+1 {{expects no argument in weft.inplace for a sum over rows, but got [0]}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%sums : memref<2x4xf32>) outs(%s : memref<2x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}

// -----

// A sum that is read before all rows are added up.
func.func @k(%x: memref<8x4xf32>, %y: memref<8x4xf32>, %s: memref<2x4xf32>) attributes {weft.inplace = [array<i64>, array<i64>], weft.kernel_kind = #weft.kernel_kind<rows>, weft.over = array<i64: 2>, weft.sizes = array<i64: 2, 4, 4>, weft.sums = array<i64: 1>} {
  %zero = arith.constant 0.0 : f32
  %start = arith.constant 0.0 : f32
  %total = memref.alloca() : memref<2x4xf32>
  %sums = memref.alloca() : memref<2x4xf32>
  %rows = memref.reinterpret_cast %x to offset: [0], sizes: [2, 4, 4], strides: [16, 4, 1] : memref<8x4xf32> to memref<2x4x4xf32>
  linalg.fill ins(%zero : f32) outs(%total : memref<2x4xf32>)
  linalg.fill ins(%start : f32) outs(%sums : memref<2x4xf32>)
  // expected-note @+1 {{written here}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d2)>], iterator_types = ["parallel", "reduction", "reduction"]} ins(%rows : memref<2x4x4xf32>) outs(%total, %sums : memref<2x4xf32>, memref<2x4xf32>) {
  ^bb0(%in: f32, %t: f32, %u: f32):
    %0 = arith.addf %t, %in : f32
    %1 = arith.addf %u, %in : f32
    linalg.yield %0, %1 : f32, f32
  }
  %result = memref.reinterpret_cast %y to offset: [0], sizes: [2, 4, 4], strides: [16, 4, 1] : memref<8x4xf32> to memref<2x4x4xf32>
  // expected-error @+1 {{expects to read sums over rows, and no other memref.alloca, behind the loops over all rows, but got one elsewhere as operand 2}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%rows, %total, %sums : memref<2x4x4xf32>, memref<2x4xf32>, memref<2x4xf32>) outs(%result : memref<2x4x4xf32>) {
  ^bb0(%in: f32, %t: f32, %u: f32, %out: f32):
    %0 = arith.subf %in, %u : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%sums : memref<2x4xf32>) outs(%s : memref<2x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}

// -----

// A sum that is kept.
func.func @k(%x: memref<8x4xf32>, %y: memref<8x4xf32>, %s: memref<2x4xf32>) attributes {weft.inplace = [array<i64>, array<i64>], weft.kernel_kind = #weft.kernel_kind<rows>, weft.over = array<i64: 2>, weft.sizes = array<i64: 2, 4, 4>, weft.sums = array<i64: 1>} {
  %zero = arith.constant 0.0 : f32
  %start = arith.constant 0.0 : f32
  %total = memref.alloca() : memref<2x4xf32>
  %sums = memref.alloca() : memref<2x4xf32>
  %rows = memref.reinterpret_cast %x to offset: [0], sizes: [2, 4, 4], strides: [16, 4, 1] : memref<8x4xf32> to memref<2x4x4xf32>
  linalg.fill ins(%zero : f32) outs(%total : memref<2x4xf32>)
  linalg.fill ins(%start : f32) outs(%sums : memref<2x4xf32>)
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d2)>], iterator_types = ["parallel", "reduction", "reduction"]} ins(%rows : memref<2x4x4xf32>) outs(%total, %sums : memref<2x4xf32>, memref<2x4xf32>) {
  ^bb0(%in: f32, %t: f32, %u: f32):
    %0 = arith.addf %t, %in : f32
    %1 = arith.addf %u, %in : f32
    linalg.yield %0, %1 : f32, f32
  }
  %result = memref.reinterpret_cast %y to offset: [0], sizes: [2, 4, 4], strides: [16, 4, 1] : memref<8x4xf32> to memref<2x4x4xf32>
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%rows, %total : memref<2x4x4xf32>, memref<2x4xf32>) outs(%result : memref<2x4x4xf32>) {
  ^bb0(%in: f32, %t: f32, %out: f32):
    %0 = arith.subf %in, %t : f32
    linalg.yield %0 : f32
  }
  %kept = memref.alloca() : memref<2x4xf32>
  // expected-error @+1 {{expects sums over rows in results, but got memref.alloca as output 1}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%sums : memref<2x4xf32>) outs(%s, %kept : memref<2x4xf32>, memref<2x4xf32>) {
  ^bb0(%in: f32, %out: f32, %o2: f32):
    linalg.yield %in, %in : f32, f32
  }
  return
}

// -----

// Sums in a kernel without rows.
// expected-error @+1 {{expects sums in a kernel of rows alone, but got sums [0] in one that is elementwise}}
func.func @k(%x: memref<8xf32>, %y: memref<8xf32>) attributes {weft.inplace = [array<i64>], weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.over = array<i64>, weft.sizes = array<i64: 8>, weft.sums = array<i64: 0>} {
  return
}

// -----

// More rows than a block adds up.
// expected-error @+1 {{expects sums over at most 128 rows of 4 elements, but got 129}}
func.func @k(%x: memref<258x4xf32>, %y: memref<258x4xf32>, %s: memref<2x4xf32>) attributes {weft.inplace = [array<i64>, array<i64>], weft.kernel_kind = #weft.kernel_kind<rows>, weft.over = array<i64: 2>, weft.sizes = array<i64: 2, 129, 4>, weft.sums = array<i64: 1>} {
  %zero = arith.constant 0.0 : f32
  %start = arith.constant 0.0 : f32
  %total = memref.alloca() : memref<2x129xf32>
  %sums = memref.alloca() : memref<2x4xf32>
  %rows = memref.reinterpret_cast %x to offset: [0], sizes: [2, 129, 4], strides: [516, 4, 1] : memref<258x4xf32> to memref<2x129x4xf32>
  linalg.fill ins(%zero : f32) outs(%total : memref<2x129xf32>)
  linalg.fill ins(%start : f32) outs(%sums : memref<2x4xf32>)
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d2)>], iterator_types = ["parallel", "reduction", "reduction"]} ins(%rows : memref<2x129x4xf32>) outs(%total, %sums : memref<2x129xf32>, memref<2x4xf32>) {
  ^bb0(%in: f32, %t: f32, %u: f32):
    %0 = arith.addf %t, %in : f32
    %1 = arith.addf %u, %in : f32
    linalg.yield %0, %1 : f32, f32
  }
  %result = memref.reinterpret_cast %y to offset: [0], sizes: [2, 129, 4], strides: [516, 4, 1] : memref<258x4xf32> to memref<2x129x4xf32>
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%rows, %total : memref<2x129x4xf32>, memref<2x129xf32>) outs(%result : memref<2x129x4xf32>) {
  ^bb0(%in: f32, %t: f32, %out: f32):
    %0 = arith.subf %in, %t : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%sums : memref<2x4xf32>) outs(%s : memref<2x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}

// -----

// Totals in f64.
func.func @k(%x: memref<8x4xf32>, %y: memref<8x4xf32>, %s: memref<2x4xf64>) attributes {weft.inplace = [array<i64>, array<i64>], weft.kernel_kind = #weft.kernel_kind<rows>, weft.over = array<i64: 2>, weft.sizes = array<i64: 2, 4, 4>, weft.sums = array<i64: 1>} {
  %zero = arith.constant 0.0 : f32
  %start = arith.constant 0.0 : f64
  %total = memref.alloca() : memref<2x4xf32>
  %sums = memref.alloca() : memref<2x4xf64>
  %rows = memref.reinterpret_cast %x to offset: [0], sizes: [2, 4, 4], strides: [16, 4, 1] : memref<8x4xf32> to memref<2x4x4xf32>
  linalg.fill ins(%zero : f32) outs(%total : memref<2x4xf32>)
  linalg.fill ins(%start : f64) outs(%sums : memref<2x4xf64>)
  // expected-error @+1 {{expects sums over rows in 'f32', but got 'f64'}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d2)>], iterator_types = ["parallel", "reduction", "reduction"]} ins(%rows : memref<2x4x4xf32>) outs(%total, %sums : memref<2x4xf32>, memref<2x4xf64>) {
  ^bb0(%in: f32, %t: f32, %u: f64):
    %w = arith.extf %in : f32 to f64
    %0 = arith.addf %t, %in : f32
    %1 = arith.addf %u, %w : f64
    linalg.yield %0, %1 : f32, f64
  }
  %result = memref.reinterpret_cast %y to offset: [0], sizes: [2, 4, 4], strides: [16, 4, 1] : memref<8x4xf32> to memref<2x4x4xf32>
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%rows, %total : memref<2x4x4xf32>, memref<2x4xf32>) outs(%result : memref<2x4x4xf32>) {
  ^bb0(%in: f32, %t: f32, %out: f32):
    %0 = arith.subf %in, %t : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%sums : memref<2x4xf64>) outs(%s : memref<2x4xf64>) {
  ^bb0(%in: f64, %out: f64):
    linalg.yield %in : f64
  }
  return
}
