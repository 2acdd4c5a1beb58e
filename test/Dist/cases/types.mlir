// RUN: weft-opt %s --weft-bucket=align=1 | FileCheck %s

// A unit with weights of two types, some of which are frozen: no bucket mixes them.

// CHECK: weft.param @h.0.flat : tensor<4xf32> {{.*}}[#weft.segment<@h.0.a [2] at 0 to 2>, #weft.segment<@h.0.b [2] at 2 to 4>]
// CHECK-NEXT: weft.param @h.0.flat.1 : tensor<4xf16> {{.*}}[#weft.segment<@h.0.c [2] at 0 to 2>, #weft.segment<@h.0.d [2] at 2 to 4>]
// CHECK-NEXT: weft.param @h.0.flat.2 : tensor<4xf32> {{.*}}[#weft.segment<@h.0.e [2] at 0 to 2>, #weft.segment<@h.0.f [2] at 2 to 4>], trainable = false}
// CHECK-NOT: weft.param
weft.param @h.0.a : tensor<2xf32>
weft.param @h.0.c : tensor<2xf16>
weft.param @h.0.e : tensor<2xf32> {trainable = false}
weft.param @h.0.b : tensor<2xf32>
weft.param @h.0.d : tensor<2xf16>
weft.param @h.0.f : tensor<2xf32> {trainable = false}
