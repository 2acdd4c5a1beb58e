// RUN: weft-opt %s --split-input-file --verify-diagnostics
// Groups of kernels, and what a group has of its kernels.

weft.kernel @k_neg(%x: tensor<8xf32>) -> tensor<8xf32> elementwise [8] inplace [[0]] {
  %y = weft.neg %x : tensor<8xf32>
  weft.yield %y : tensor<8xf32>
}
weft.kernel_group @g of [@k_neg, @k_neg] : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) inplace [[0], [1]]

// -----

weft.kernel @k_neg(%x: tensor<8xf32>) -> tensor<8xf32> elementwise [8] inplace [[0]] {
  %y = weft.neg %x : tensor<8xf32>
  weft.yield %y : tensor<8xf32>
}
// expected-error@+1 {{expects at least 2 kernels, but got 1}}
weft.kernel_group @g of [@k_neg] : (tensor<8xf32>) -> tensor<8xf32> inplace [[0]]

// -----

weft.kernel @k_neg(%x: tensor<8xf32>) -> tensor<8xf32> elementwise [8] inplace [[0]] {
  %y = weft.neg %x : tensor<8xf32>
  weft.yield %y : tensor<8xf32>
}
// expected-error@+1 {{expects kernels of the module, but got @k_abs}}
weft.kernel_group @g of [@k_neg, @k_abs] : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) inplace [[0], [1]]

// -----

weft.kernel @k_neg(%x: tensor<8xf32>) -> tensor<8xf32> elementwise [8] inplace [[0]] {
  %y = weft.neg %x : tensor<8xf32>
  weft.yield %y : tensor<8xf32>
}
// expected-error@+1 {{expects the types of its kernels, '(tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)', but got '(tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)'}}
weft.kernel_group @g of [@k_neg, @k_neg] : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) inplace [[0], [1]]

// -----

weft.kernel @k_neg(%x: tensor<8xf32>) -> tensor<8xf32> elementwise [8] inplace [[0]] {
  %y = weft.neg %x : tensor<8xf32>
  weft.yield %y : tensor<8xf32>
}
// expected-error@+1 {{expects the inplace lists of its kernels}}
weft.kernel_group @g of [@k_neg, @k_neg] : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) inplace [[0], [0]]

// -----

weft.kernel @k_neg(%x: tensor<8xf32>) -> tensor<8xf32> elementwise [8] inplace [[0]] {
  %y = weft.neg %x : tensor<8xf32>
  weft.yield %y : tensor<8xf32>
}
// expected-error@+1 {{expects a list of inputs for each of 2 results, but got 1}}
weft.kernel_group @g of [@k_neg, @k_neg] : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) inplace [[0]]

// -----

weft.kernel @k_neg(%x: tensor<8xf32>) -> tensor<8xf32> elementwise [8] inplace [[0]] {
  %y = weft.neg %x : tensor<8xf32>
  weft.yield %y : tensor<8xf32>
}
// expected-error@+1 {{expects the pitches of its kernels}}
weft.kernel_group @g of [@k_neg, @k_neg] : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) inplace [[0], [1]] pitches [16, 0, 0, 0]

// -----

weft.kernel @k_neg(%x: tensor<8xf32>) -> tensor<8xf32> elementwise [8] inplace [[0]] {
  %y = weft.neg %x : tensor<8xf32>
  weft.yield %y : tensor<8xf32>
}
// expected-note@+1 {{inplace of the kernel does not list it}}
weft.kernel_group @g of [@k_neg, @k_neg] : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) inplace [[0], [1]]
plan.program "eval" @eval {
  %x = plan.input "x" : memref<8xf32>
  %y = plan.alloc temporary : memref<8xf32>
  %z = plan.alloc temporary : memref<8xf32>
  // Each output may be the input of its own kernel only.
  // expected-error@+1 {{expects output 1 not to be the buffer of input 0, which @g still reads}}
  plan.launch @g ins(%x, %y : memref<8xf32>, memref<8xf32>) outs(%z, %x : memref<8xf32>, memref<8xf32>)
}

// -----

// In the linalg form of its kernels.
func.func @k_neg(%x: memref<8xf32>, %y: memref<8xf32>) attributes {weft.inplace = [array<i64: 0>]} {
  return
}
// expected-error@+1 {{expects the inplace lists of its kernels, [array<i64: 0>, array<i64: 1>], but got [array<i64: 0>, array<i64: 0>]}}
weft.kernel_group @g of [@k_neg, @k_neg] : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) inplace [[0], [0]]

// -----

func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) attributes {weft.inplace = [array<i64: 0>]} {
  return
}
weft.kernel @k_neg(%x: tensor<8xf32>) -> tensor<8xf32> elementwise [8] inplace [[0]] {
  %y = weft.neg %x : tensor<8xf32>
  weft.yield %y : tensor<8xf32>
}
// expected-error@+1 {{expects kernels of one form, but got weft.kernel and functions}}
weft.kernel_group @g of [@k_neg, @f] : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) inplace [[0], [1]]
