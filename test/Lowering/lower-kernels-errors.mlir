// RUN: weft-opt %s --weft-lower-kernels --split-input-file --verify-diagnostics
// Functions that are not the linalg form of a kernel.

// expected-error @+1 {{expects weft.kernel_kind, weft.sizes and weft.over, as weft-convert-kernels-to-linalg writes them}}
func.func @k_plain(%x: memref<8xf32>) {
  return
}

// -----

// expected-error @+1 {{expects rows over the last dimension, but got over [0]}}
func.func @k_over(%x: memref<8x8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<rows>, weft.sizes = array<i64: 8, 8>, weft.over = array<i64: 0>} {
  return
}

// -----

func.func @k_loops(%x: memref<8x8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 64>, weft.over = array<i64>} {
  // expected-error @+1 {{expects the 1 loops of its kernel or its outer loops, but got 2 loops}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%x : memref<8x8xf32>) {
  ^bb0(%old: f32):
    %zero = arith.constant 0.0 : f32
    linalg.yield %zero : f32
  }
  return
}

// -----

func.func @k_base(%x: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>} {
  // expected-error @+1 {{does not belong in a kernel}}
  %y = memref.cast %x : memref<8xf32> to memref<?xf32>
  return
}

// -----

func.func @k_map(%x: memref<9xf32>, %y: memref<8x2xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<rows>, weft.sizes = array<i64: 8, 2>, weft.over = array<i64: 1>} {
  // expected-error @+1 {{expects static sizes and strides and indexing maps of single loops, but got operand 0 with affine_map<(d0, d1) -> (d0 + d1)>}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 + d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<9xf32>) outs(%y : memref<8x2xf32>) {
  ^bb0(%in: f32, %old: f32):
    linalg.yield %in : f32
  }
  return
}

// -----

func.func @k_elementwise_total(%x: memref<8x2xf32>, %y: memref<8x2xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8, 2>, weft.over = array<i64>} {
  %zero = arith.constant 0.0 : f32
  %total = memref.alloca() : memref<8xf32>
  linalg.fill ins(%zero : f32) outs(%total : memref<8xf32>)
  // expected-error @+1 {{expects no sum, maximum or minimum in an elementwise kernel, but got one in output 0}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x2xf32>) outs(%total : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %sum = arith.addf %old, %in : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

func.func @k_elementwise_outer(%x: memref<8xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8, 2>, weft.over = array<i64>} {
  // expected-error @+1 {{expects a kernel that is elementwise to write its results in the loops of all dimensions, but got output 0 in the outer ones}}
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    linalg.yield %in : f32
  }
  return
}

// -----

func.func @k_total(%x: memref<8x2xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<rows>, weft.sizes = array<i64: 8, 2>, weft.over = array<i64: 1>} {
  // expected-error @+1 {{expects a sum, maximum or minimum that starts from a linalg.fill in output 0}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x2xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %sum = arith.addf %old, %in : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

func.func @k_vector(%x: memref<8xi64>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>} {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%x : memref<8xi64>) {
  ^bb0(%old: i64):
    // expected-error @+1 {{does not belong in the body of a kernel; expects elementwise ops}}
    %v = vector.broadcast %old : i64 to vector<4xi64>
    %j = vector.extract %v[0] : i64 from vector<4xi64>
    linalg.yield %j : i64
  }
  return
}

// -----

func.func @k_index(%x: memref<8xi64>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>} {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%x : memref<8xi64>) {
  ^bb0(%old: i64):
    // expected-error @+1 {{expects arith.index_castui as its user, but got arith.index_cast}}
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i64
    linalg.yield %j : i64
  }
  return
}

// -----

// Rows that are taken for columns.
func.func @k_swapped(%x: memref<8x2xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<columns>, weft.sizes = array<i64: 8, 2>, weft.over = array<i64: 0>, weft.inplace = [array<i64>]} {
  %zero = arith.constant 0.0 : f32
  %total = memref.alloca() : memref<8xf32>
  linalg.fill ins(%zero : f32) outs(%total : memref<8xf32>)
  // expected-error @+1 {{expects sums, maxima and minima over [0], as its kernel says, but got one over [1] in output 0}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x2xf32>) outs(%total : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %sum = arith.addf %old, %in : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

// The two dimensions in the other order.
func.func @k_turned(%x: memref<8x2xf32>, %y: memref<8x2xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<rows>, weft.sizes = array<i64: 2, 8>, weft.over = array<i64: 1>, weft.inplace = [array<i64>]} {
  // expected-error @+1 {{expects loops of [2, 8] steps, as its kernel says, but got [8, 2]}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<8x2xf32>) outs(%y : memref<8x2xf32>) {
  ^bb0(%in: f32, %old: f32):
    linalg.yield %in : f32
  }
  return
}

// -----

// A sum over one dimension of a row alone.
func.func @k_part(%x: memref<4x8x2xf32>, %y: memref<4xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<rows>, weft.sizes = array<i64: 4, 8, 2>, weft.over = array<i64: 1, 2>, weft.inplace = [array<i64>]} {
  %zero = arith.constant 0.0 : f32
  %total = memref.alloca() : memref<4x8xf32>
  linalg.fill ins(%zero : f32) outs(%total : memref<4x8xf32>)
  // expected-error @+1 {{expects sums, maxima and minima over [1, 2], as its kernel says, but got one over [2] in output 0}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : memref<4x8x2xf32>) outs(%total : memref<4x8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %sum = arith.addf %old, %in : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

// -----

func.func @k_columns_outer(%x: memref<4xf32>, %y: memref<4xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<columns>, weft.sizes = array<i64: 4, 8, 2>, weft.over = array<i64: 1>, weft.inplace = [array<i64>]} {
  // expected-error @+1 {{expects a kernel that is columns to write its results in the loops of all dimensions or of its columns, but got output 0 in the outer ones}}
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%in: f32, %old: f32):
    linalg.yield %in : f32
  }
  return
}

// -----

func.func @k_columns_kept(%x: memref<8x2xf32>, %y: memref<2xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<columns>, weft.sizes = array<i64: 8, 2>, weft.over = array<i64: 0>, weft.inplace = [array<i64>]} {
  %kept = memref.alloca() : memref<8x2xf32>
  // expected-error @+1 {{expects nothing but sums, maxima and minima of columns in a memref.alloca, but got output 0}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<8x2xf32>) outs(%kept : memref<8x2xf32>) {
  ^bb0(%in: f32, %old: f32):
    linalg.yield %in : f32
  }
  return
}

// -----

// Each of the columns would write one element of the row.
func.func @k_shared_result(%x: memref<8x2xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<rows>, weft.sizes = array<i64: 8, 2>, weft.over = array<i64: 1>, weft.inplace = [array<i64>]} {
  // expected-error @+1 {{expects an element of a result for each step of its loops, but got one of output 0 for all 2 of a dimension}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<8x2xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    linalg.yield %in : f32
  }
  return
}

// -----

// expected-error @+1 {{expects weft.inplace, as weft-convert-kernels-to-linalg writes it}}
func.func @k_without_inplace(%x: memref<8xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>} {
  return
}

// -----

// expected-error @+1 {{expects a list in weft.inplace for each argument that is written, the last ones, but got 2 where [1] are written}}
func.func @k_lists(%x: memref<8xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64>, array<i64>]} {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    linalg.yield %in : f32
  }
  return
}

// -----

// expected-error @+1 {{expects numbers of the 1 arguments in inplace, but got 1}}
func.func @k_number(%x: memref<8xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64: 1>]} {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    linalg.yield %in : f32
  }
  return
}

// -----

// expected-error @+1 {{expects in inplace an argument that 'memref<8xf32>' of result 0 fits into, but got 'memref<8xf16>'}}
func.func @k_type(%x: memref<8xf16>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64: 0>]} {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : memref<8xf16>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f16, %old: f32):
    %wide = arith.extf %in : f16 to f32
    linalg.yield %wide : f32
  }
  return
}

// -----

// Read the other way round.
// expected-error @+1 {{expects result 0 not to reuse the buffer of argument 0, whose elements are read in another order or later}}
func.func @k_order(%x: memref<8x8xf32>, %y: memref<8x8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8, 8>, weft.over = array<i64>, weft.inplace = [array<i64: 0>]} {
  // expected-note @+1 {{reads argument 0}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<8x8xf32>) outs(%y : memref<8x8xf32>) {
  ^bb0(%in: f32, %old: f32):
    linalg.yield %in : f32
  }
  return
}

// -----

// Read again when the result is there.
// expected-error @+1 {{expects result 0 not to reuse the buffer of argument 0, whose elements are read in another order or later}}
func.func @k_late(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64: 0>, array<i64>]} {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    linalg.yield %in : f32
  }
  // expected-note @+1 {{reads argument 0}}
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : memref<8xf32>) outs(%z : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    linalg.yield %in : f32
  }
  return
}
