// RUN: weft-opt %s --weft-lower-kernels --split-input-file --verify-diagnostics
// RUN: weft-opt %s --weft-lower-kernels-to-gpu --split-input-file --verify-diagnostics
// Edited linalg forms: functions, buffers and bodies that kernels do not have.

// expected-error @+1 {{expects a body of one block, but got 0}}
func.func private @k_declared(memref<8xf32>, memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64>]}

// -----

// expected-error @+1 {{expects a body of one block, but got 2}}
func.func @k_blocks(%x: memref<8xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  cf.br ^b
^b:
  return
}

// -----

// expected-error @+1 {{expects results only in arguments, but got 1 others}}
func.func @k_returned(%x: memref<8xf32>, %y: memref<8xf32>) -> memref<8xf32> attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return %y : memref<8xf32>
}

// -----

// expected-error @+1 {{expects memrefs of static sizes, dense or with dense rows at one distance, and f16, bf16, f32, f64, i1, i32 or i64 as arguments, but got 'memref<*xf32>' as argument 0}}
func.func @k_unranked(%x: memref<*xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  %p = memref.reinterpret_cast %x to offset: [0], sizes: [8], strides: [1] : memref<*xf32> to memref<8xf32>
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%p : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// expected-error @+1 {{expects memrefs of static sizes, dense or with dense rows at one distance, and f16, bf16, f32, f64, i1, i32 or i64 as arguments, but got 'f32' as argument 0}}
func.func @k_captured(%x: f32, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%y : memref<8xf32>) {
  ^bb0(%old: f32):
    linalg.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{expects memrefs of static sizes, dense or with dense rows at one distance, and f16, bf16, f32, f64, i1, i32 or i64 as arguments, but got 'memref<?xf32>' as argument 0}}
func.func @k_dynamic(%x: memref<?xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : memref<?xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// expected-error @+1 {{expects memrefs of static sizes, dense or with dense rows at one distance, and f16, bf16, f32, f64, i1, i32 or i64 as arguments, but got 'memref<8xf32, strided<[4]>>' as argument 0}}
func.func @k_argument_layout(%x: memref<8xf32, strided<[4]>>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : memref<8xf32, strided<[4]>>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// expected-error @+1 {{expects memrefs of static sizes, dense or with dense rows at one distance, and f16, bf16, f32, f64, i1, i32 or i64 as arguments, but got 'memref<8xvector<4xf32>>' as argument 0}}
func.func @k_vector(%x: memref<8xvector<4xf32>>, %y: memref<8xvector<4xf32>>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : memref<8xvector<4xf32>>) outs(%y : memref<8xvector<4xf32>>) {
  ^bb0(%in: vector<4xf32>, %old: vector<4xf32>):
    %n = arith.negf %in : vector<4xf32>
    linalg.yield %n : vector<4xf32>
  }
  return
}

// -----

// expected-error @+1 {{expects memrefs of static sizes, dense or with dense rows at one distance, and f16, bf16, f32, f64, i1, i32 or i64 as arguments, but got 'memref<8xi7>' as argument 0}}
func.func @k_i7(%x: memref<8xi7>, %y: memref<8xi7>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : memref<8xi7>) outs(%y : memref<8xi7>) {
  ^bb0(%in: i7, %old: i7):
    linalg.yield %in : i7
  }
  return
}

// -----

// expected-error @+1 {{expects memrefs of static sizes, dense or with dense rows at one distance, and f16, bf16, f32, f64, i1, i32 or i64 as arguments, but got 'memref<4294967296x4294967296xf32>' as argument 0}}
func.func @k_huge(%x: memref<4294967296x4294967296xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%y : memref<8xf32>) {
  ^bb0(%old: f32):
    %c = arith.constant 1.0 : f32
    linalg.yield %c : f32
  }
  return
}

// -----

func.func @k_alloca(%x: memref<8xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  %c = arith.constant 8 : index
  // expected-error @+1 {{expects a dense memref of static sizes and f16, bf16, f32, f64, i1, i32 or i64, but got 'memref<?xf32>'}}
  %t = memref.alloca(%c) : memref<?xf32>
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

func.func @k_alloca_space(%x: memref<8xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  // expected-error @+1 {{expects a dense memref of static sizes and f16, bf16, f32, f64, i1, i32 or i64, but got 'memref<8xf32, 3>'}}
  %t = memref.alloca() : memref<8xf32, 3>
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

func.func @k_dynamic_cast(%x: memref<8xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  %c = arith.constant 8 : index
  %p = memref.reinterpret_cast %x to offset: [0], sizes: [%c], strides: [1] : memref<8xf32> to memref<?xf32, strided<[1]>>
  // expected-error @+1 {{expects static sizes and strides and indexing maps of single loops, but got operand 0 with affine_map<(d0) -> (d0)>}}
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%p : memref<?xf32, strided<[1]>>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

func.func @k_linalg_copy(%x: memref<8xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  // expected-error @+1 {{does not belong in a kernel; expects linalg.generic, linalg.fill with a constant, memref.alloca or memref.reinterpret_cast}}
  linalg.copy ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
  return
}

// -----

func.func @k_store(%x: memref<8xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  %c = arith.constant 0 : index
  // expected-error @+1 {{does not belong in a kernel; expects linalg.generic, linalg.fill with a constant, memref.alloca or memref.reinterpret_cast}}
  %v = memref.load %x[%c] : memref<8xf32>
  memref.store %v, %y[%c] : memref<8xf32>
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// A fill that no total starts from.
func.func @k_fill_result(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{expects to fill a memref.alloca, but got an argument}}
  linalg.fill ins(%zero : f32) outs(%y : memref<8xf32>)
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : memref<8xf32>) outs(%z : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

func.func @k_fill_part(%x: memref<8xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  %zero = arith.constant 0.0 : f32
  %p = memref.reinterpret_cast %x to offset: [0], sizes: [8], strides: [1] : memref<8xf32> to memref<8xf32>
  // expected-error @+1 {{expects to fill a memref.alloca, but got memref.reinterpret_cast}}
  linalg.fill ins(%zero : f32) outs(%p : memref<8xf32>)
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

func.func @k_fill_twice(%x: memref<8x2xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<rows>, weft.sizes = array<i64: 8, 2>, weft.over = array<i64: 1>, weft.inplace = [array<i64>]} {
  %zero = arith.constant 0.0 : f32
  %t = memref.alloca() : memref<8xf32>
  linalg.fill ins(%zero : f32) outs(%t : memref<8xf32>)
  // expected-error @+1 {{expects to fill a memref.alloca before all else that writes it, but got one that is filled}}
  linalg.fill ins(%zero : f32) outs(%t : memref<8xf32>)
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

func.func @k_fill_behind(%x: memref<8x2xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<rows>, weft.sizes = array<i64: 8, 2>, weft.over = array<i64: 1>, weft.inplace = [array<i64>]} {
  %zero = arith.constant 0.0 : f32
  %t = memref.alloca() : memref<8xf32>
  linalg.fill ins(%zero : f32) outs(%t : memref<8xf32>)
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x2xf32>) outs(%t : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %s = arith.addf %old, %in : f32
    linalg.yield %s : f32
  }
  // expected-error @+1 {{expects to fill a memref.alloca before all else that writes it, but got one that is written}}
  linalg.fill ins(%zero : f32) outs(%t : memref<8xf32>)
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%t : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// Each partial sum would start from it.
func.func @k_fill_one(%x: memref<8x2xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<rows>, weft.sizes = array<i64: 8, 2>, weft.over = array<i64: 1>, weft.inplace = [array<i64>]} {
  %zero = arith.constant 1.0 : f32
  %t = memref.alloca() : memref<8xf32>
  linalg.fill ins(%zero : f32) outs(%t : memref<8xf32>)
  // expected-error @+1 {{expects a sum that starts from 0, but got 1.000000e+00 : f32 in output 0}}
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

func.func @k_total_kept(%x: memref<8x2xf32>, %y: memref<8x2xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<rows>, weft.sizes = array<i64: 8, 2>, weft.over = array<i64: 1>, weft.inplace = [array<i64>]} {
  %zero = arith.constant 0.0 : f32
  %t = memref.alloca() : memref<8x2xf32>
  linalg.fill ins(%zero : f32) outs(%t : memref<8x2xf32>)
  // expected-error @+1 {{expects sums, maxima and minima over [1], as its kernel says, but got one over [] in output 0}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x2xf32>) outs(%t : memref<8x2xf32>) {
  ^bb0(%in: f32, %old: f32):
    %s = arith.addf %old, %in : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t : memref<8x2xf32>) outs(%y : memref<8x2xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

func.func @k_elementwise_kept(%x: memref<8xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  %t = memref.alloca() : memref<8xf32>
  // expected-error @+1 {{expects no elements in a memref.alloca in an elementwise kernel, but got output 0}}
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : memref<8xf32>) outs(%t : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%t : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

func.func @k_kept_row(%x: memref<8x2xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<rows>, weft.sizes = array<i64: 8, 2>, weft.over = array<i64: 1>, weft.inplace = [array<i64>]} {
  %t = memref.alloca() : memref<8xf32>
  // expected-error @+1 {{expects a memref.alloca with all elements of a row, but got output 0 without loop 1}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<8x2xf32>) outs(%t : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%t : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

func.func @k_body_vector(%x: memref<8xf32>, %y: memref<8xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %old: f32):
    // expected-error @+1 {{expects a result of f16, bf16, f32, f64, i1, i32 or i64, but got 'vector<4xf32>'}}
    %v = arith.constant dense<1.0> : vector<4xf32>
    %w = arith.negf %v : vector<4xf32>
    linalg.yield %in : f32
  }
  return
}

// -----

func.func @k_operand(%y: memref<8xi64>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  %c = arith.constant 3 : index
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%y : memref<8xi64>) {
  ^bb0(%old: i64):
    // expected-error @+1 {{expects operands of f16, bf16, f32, f64, i1, i32 or i64, but got 'index'}}
    %i = arith.index_cast %c : index to i64
    linalg.yield %i : i64
  }
  return
}

// -----

func.func @k_two_results(%x: memref<8xi32>, %y: memref<8xi32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : memref<8xi32>) outs(%y : memref<8xi32>) {
  ^bb0(%in: i32, %old: i32):
    // expected-error @+1 {{expects one result, but got 2}}
    %l, %h = arith.mului_extended %in, %in : i32
    linalg.yield %h : i32
  }
  return
}

// -----

func.func @k_index_i16(%y: memref<8xi32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%y : memref<8xi32>) {
  ^bb0(%old: i32):
    %i = linalg.index 0 : index
    // expected-error @+1 {{expects an index as i32 or i64, but got 'i16'}}
    %j = arith.index_castui %i : index to i16
    %k = arith.extui %j : i16 to i32
    linalg.yield %k : i32
  }
  return
}

// -----

func.func @k_index_cast(%y: memref<8xi64>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%y : memref<8xi64>) {
  ^bb0(%old: i64):
    %c = arith.constant 3 : i64
    // expected-error @+1 {{expects the index of a loop, but got 'i64'}}
    %i = arith.index_castui %c : i64 to index
    linalg.yield %c : i64
  }
  return
}

// -----

// expected-error @+1 {{with dense rows at one distance, and f16, bf16, f32, f64, i1, i32 or i64 as arguments, but got 'memref<8x4xf32, strided<[3, 1]>>' as argument 0}}
func.func @k_near(%x: memref<8x4xf32, strided<[3, 1]>>, %y: memref<8x4xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8, 4>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<8x4xf32, strided<[3, 1]>>) outs(%y : memref<8x4xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// expected-error @+1 {{with dense rows at one distance, and f16, bf16, f32, f64, i1, i32 or i64 as arguments, but got 'memref<8x4xf32, strided<[8, 2]>>' as argument 0}}
func.func @k_apart(%x: memref<8x4xf32, strided<[8, 2]>>, %y: memref<8x4xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8, 4>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<8x4xf32, strided<[8, 2]>>) outs(%y : memref<8x4xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// expected-error @+1 {{with dense rows at one distance, and f16, bf16, f32, f64, i1, i32 or i64 as arguments, but got 'memref<8x4xf32, strided<[8, 1], offset: 1>>' as argument 0}}
func.func @k_behind(%x: memref<8x4xf32, strided<[8, 1], offset: 1>>, %y: memref<8x4xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8, 4>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<8x4xf32, strided<[8, 1], offset: 1>>) outs(%y : memref<8x4xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// expected-error @+1 {{with dense rows at one distance, and f16, bf16, f32, f64, i1, i32 or i64 as arguments, but got 'memref<8x4xf32, strided<[4611686018427387904, 1]>>' as argument 0}}
func.func @k_far(%x: memref<8x4xf32, strided<[4611686018427387904, 1]>>, %y: memref<8x4xf32>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8, 4>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<8x4xf32, strided<[4611686018427387904, 1]>>) outs(%y : memref<8x4xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// As many elements as the result has, one of which lies behind its row.
func.func @k_between(%x: memref<8x4xf32>, %y: memref<8x4xf32, strided<[5, 1]>>) attributes {weft.kernel_kind = #weft.kernel_kind<elementwise>, weft.sizes = array<i64: 8, 4>, weft.over = array<i64>, weft.inplace = [array<i64>]} {
  %z = memref.reinterpret_cast %y to offset: [0], sizes: [8, 4], strides: [4, 1] : memref<8x4xf32, strided<[5, 1]>> to memref<8x4xf32>
  // expected-error @+1 {{expects to write the rows of 'memref<8x4xf32, strided<[5, 1]>>', but got 'memref<8x4xf32>' as output 0}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<8x4xf32>) outs(%z : memref<8x4xf32>) {
  ^bb0(%in: f32, %old: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}
