// RUN: not weft-opt %s --weft-select-kernels=library=abacus 2>&1 | FileCheck %s --check-prefix=LIBRARY
// LIBRARY: error: expects the name of a kernel library, but got 'abacus'
// RUN: not weft-opt %s --weft-select-kernels=parts=bias,rely 2>&1 | FileCheck %s --check-prefix=PART
// PART: error: expects a part of a product, such as bias, but got 'rely'
weft.param @w : tensor<4xf32>
