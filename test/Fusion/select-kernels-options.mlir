// RUN: not weft-opt %s --weft-select-kernels=library=abacus 2>&1 | FileCheck %s --check-prefix=LIBRARY
// LIBRARY: error: expects the name of a kernel library, but got 'abacus'
weft.param @w : tensor<4xf32>
