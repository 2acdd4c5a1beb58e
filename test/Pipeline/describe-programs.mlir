// RUN: weft-opt %s --weft-describe-executable | FileCheck %s

// Two programs of one kind have entries of their own, by their symbols.
// CHECK: weft.metadata = "{{.*}}\22schedule\22:{\22micro\22:{{\[\[}}\22constant\22{{.*}}]],\22micro_wide\22:{{\[\[}}\22copy\22
module attributes {plan.alignment = 64 : i64, plan.arena_bytes = 192 : i64} {
  plan.program "micro" @micro {
    %x = plan.input "x" {offset = 0 : i64} : memref<8xf32>
    %y = plan.alloc temporary {offset = 64 : i64} : memref<8xf32>
    plan.constant %y = dense<1.0> : tensor<8xf32> : memref<8xf32>
  }
  plan.program "micro" @micro_wide {
    %x = plan.input "x" {offset = 0 : i64} : memref<16xf32>
    %y = plan.alloc temporary {offset = 64 : i64} : memref<16xf32>
    plan.copy %x to %y : memref<16xf32> to memref<16xf32>
  }
}
