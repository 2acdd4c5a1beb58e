// RUN: weft-opt %s --weft-lower-kernels --split-input-file --verify-diagnostics
// Functions that are not the linalg form of a kernel.

// expected-error @+1 {{expects weft.schedule, weft.loops and weft.sizes, as weft-convert-kernels-to-linalg writes them}}
func.func @k_plain(%x: memref<8xf32>) {
  return
}

// -----

// expected-error @+1 {{expects lanes in the last of weft.loops, but got ["lane", "outer"]}}
func.func @k_roles(%x: memref<8x8xf32>) attributes {weft.schedule = "rows", weft.loops = ["lane", "outer"], weft.sizes = array<i64: 8, 8>} {
  return
}

// -----

// expected-error @+1 {{expects weft.tile on a kernel over columns}}
func.func @k_tile(%x: memref<8x8xf32>) attributes {weft.schedule = "columns", weft.loops = ["inner", "lane"], weft.sizes = array<i64: 8, 8>} {
  return
}

// -----

func.func @k_loops(%x: memref<8x8xf32>) attributes {weft.schedule = "flat", weft.loops = ["lane"], weft.sizes = array<i64: 64>} {
  // expected-error @+1 {{expects the 1 loops of its kernel or its outer loops, but got 2 loops}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%x : memref<8x8xf32>) {
  ^bb0(%old: f32):
    %zero = arith.constant 0.0 : f32
    linalg.yield %zero : f32
  }
  return
}

// -----

func.func @k_base(%x: memref<8xf32>) attributes {weft.schedule = "flat", weft.loops = ["lane"], weft.sizes = array<i64: 8>} {
  // expected-error @+1 {{does not belong in a kernel}}
  %y = memref.cast %x : memref<8xf32> to memref<?xf32>
  return
}

// -----

func.func @k_map(%x: memref<9xf32>, %y: memref<8x2xf32>) attributes {weft.schedule = "rows", weft.loops = ["outer", "lane"], weft.sizes = array<i64: 8, 2>} {
  // expected-error @+1 {{expects static strides and indexing maps of single loops, but got operand 0 with affine_map<(d0, d1) -> (d0 + d1)>}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 + d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<9xf32>) outs(%y : memref<8x2xf32>) {
  ^bb0(%in: f32, %old: f32):
    linalg.yield %in : f32
  }
  return
}

// -----

func.func @k_total(%x: memref<8x2xf32>, %y: memref<8xf32>) attributes {weft.schedule = "rows", weft.loops = ["outer", "lane"], weft.sizes = array<i64: 8, 2>} {
  // expected-error @+1 {{expects a sum, maximum or minimum that starts from a linalg.fill in output 0}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x2xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %sum = arith.addf %old, %in : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

func.func @k_vector(%x: memref<8xi64>) attributes {weft.schedule = "flat", weft.loops = ["lane"], weft.sizes = array<i64: 8>} {
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

func.func @k_index(%x: memref<8xi64>) attributes {weft.schedule = "flat", weft.loops = ["lane"], weft.sizes = array<i64: 8>} {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%x : memref<8xi64>) {
  ^bb0(%old: i64):
    // expected-error @+1 {{expects arith.index_castui as its user, but got arith.index_cast}}
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i64
    linalg.yield %j : i64
  }
  return
}
