// RUN: split-file %s %t
// RUN: weft-opt --weft-estimate=cost-table=%t/costs.toml %t/plan.mlir | FileCheck %s
// RUN: weft-opt --weft-estimate=cost-table=%t/old.toml %t/plan.mlir | FileCheck %s --check-prefix=OLD

// A launch has the rates of its formula, else of its iteration space, else of
// all launches. A table without kinds of kernels has the rates of launches.

//--- costs.toml
format = 2
target = "cpu"
gigabytes_per_second = 1
overhead_us = 0

[bf16]
overhead_us = 7000

[launch]
overhead_us = 1000

[launch.bf16]
overhead_us = 2000

[elementwise]
overhead_us = 3000

[rope.f32]
overhead_us = 4000

[layer_norm]
overhead_us = 5000
gigabytes_per_second = 2

//--- old.toml
gigabytes_per_second = 1
overhead_us = 0

[launch]
overhead_us = 1000

//--- plan.mlir
// CHECK-LABEL: plan.program "eval"
// OLD-LABEL: plan.program "eval"
plan.program "eval" @eval {
  %x = plan.input "x" : memref<10x25xf32>
  %y = plan.alloc temporary : memref<10x25xf32>
  %u = plan.alloc temporary : memref<10x25xbf16>
  %v = plan.alloc temporary : memref<10x25xbf16>
  %s = plan.alloc temporary : memref<10xf32>
  // The formula, though another op comes first.
  // CHECK: plan.launch @k_rope {{.*}}est_us = 4.002000e+03
  // OLD: plan.launch @k_rope {{.*}}est_us = 1.002000e+03
  plan.launch @k_rope ins(%x : memref<10x25xf32>) outs(%y : memref<10x25xf32>)
  // No table of rope on bf16: its space.
  // CHECK: plan.launch @k_rope_bf16 {{.*}}est_us = 3.001000e+03
  // OLD: plan.launch @k_rope_bf16 {{.*}}est_us = 1.001000e+03
  plan.launch @k_rope_bf16 ins(%u : memref<10x25xbf16>) outs(%v : memref<10x25xbf16>)
  // Primitive ops: its space.
  // CHECK: plan.launch @k_add {{.*}}est_us = 3.002000e+03
  plan.launch @k_add ins(%x : memref<10x25xf32>) outs(%y : memref<10x25xf32>)
  // 2000 bytes at 2 GB/s.
  // CHECK: plan.launch @k_norm {{.*}}est_us = 5.001000e+03
  plan.launch @k_norm ins(%x : memref<10x25xf32>) outs(%y : memref<10x25xf32>)
  // Rows have no table.
  // CHECK: plan.launch @k_sum {{.*}}est_us = 1.001040e+03
  // OLD: plan.launch @k_sum {{.*}}est_us = 1.001040e+03
  plan.launch @k_sum ins(%x : memref<10x25xf32>) outs(%s : memref<10xf32>)
}
weft.kernel @k_rope(%x: tensor<10x25xf32>) -> tensor<10x25xf32> elementwise [250] inplace [[0]] attributes {weft.computes = ["neg", "rope"]} {
  %y = weft.neg %x : tensor<10x25xf32>
  weft.yield %y : tensor<10x25xf32>
}
weft.kernel @k_rope_bf16(%x: tensor<10x25xbf16>) -> tensor<10x25xbf16> elementwise [250] inplace [[0]] attributes {weft.computes = ["rope"]} {
  %y = weft.neg %x : tensor<10x25xbf16>
  weft.yield %y : tensor<10x25xbf16>
}
weft.kernel @k_add(%x: tensor<10x25xf32>) -> tensor<10x25xf32> elementwise [250] inplace [[0]] {
  %y = weft.add %x, %x : tensor<10x25xf32>, tensor<10x25xf32>
  weft.yield %y : tensor<10x25xf32>
}
weft.kernel @k_norm(%x: tensor<10x25xf32>) -> tensor<10x25xf32> rows [10, 25] over [1] inplace [[0]] attributes {weft.computes = ["add", "layer_norm"]} {
  %s = weft.reduce sum %x dims [1] {keep_dims} : tensor<10x25xf32>
  %y = weft.sub %x, %s : tensor<10x25xf32>, tensor<10x1xf32>
  weft.yield %y : tensor<10x25xf32>
}
weft.kernel @k_sum(%x: tensor<10x25xf32>) -> tensor<10xf32> rows [10, 25] over [1] inplace [[]] {
  %s = weft.reduce sum %x dims [1] : tensor<10x25xf32>
  weft.yield %s : tensor<10xf32>
}
