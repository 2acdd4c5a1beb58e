// RUN: weft-opt %s --split-input-file --weft-convert-kernels-to-linalg --weft-lower-kernels-to-gpu --verify-diagnostics
// RUN: not weft-opt %s --split-input-file --weft-lower-kernels-to-gpu 2>&1 | FileCheck %s
// Groups that have no launch.
// CHECK: error: 'weft.kernel_group' op expects a lowered kernel, but got @k_long

// A column of more than 512 rows is the work of more threads.
weft.kernel @k_long(%x: tensor<1024x2xf32>) -> tensor<2xf32> columns [1024, 2] over [0] inplace [[]] {
  %y = weft.reduce sum %x dims [0] : tensor<1024x2xf32>
  weft.yield %y : tensor<2xf32>
}
// expected-error@+1 {{expects kernels with blocks of 256 threads, but @k_long has 1024}}
weft.kernel_group @g of [@k_long, @k_long] : (tensor<1024x2xf32>, tensor<1024x2xf32>) -> (tensor<2xf32>, tensor<2xf32>) inplace [[], []]
