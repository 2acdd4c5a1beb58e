// RUN: weft-opt --weft-mark-beside-collectives %s | FileCheck %s
// RUN: weft-opt --weft-mark-beside-collectives=ctas=8 %s | FileCheck %s --check-prefix=EIGHT
// RUN: weft-opt --weft-mark-beside-collectives %s | weft-opt --weft-mark-beside-collectives | FileCheck %s
// RUN: sed 's/"dp" = 2/"dp" = 1/' %s | weft-opt --weft-mark-beside-collectives | FileCheck %s --check-prefix=ONE
// RUN: not weft-opt --weft-mark-beside-collectives=ctas=0 %s 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not weft-opt --weft-mark-beside-collectives=ctas=65 %s 2>&1 | FileCheck %s --check-prefix=MANY

// A product is beside a collective from its start to the wait of stream 0 that
// covers it, whatever the stream of the collective is.

// CHECK: plan.collective_ctas = 16 : i64
// EIGHT: plan.collective_ctas = 8 : i64
// ONE-NOT: collective
// NONE: error: expects `ctas` from 1 to 64, but got 0
// MANY: error: expects `ctas` from 1 to 64, but got 65
dist.mesh @mesh("dp" = 2)
plan.event @ready on 0
plan.event @a on 3
plan.event @b on 4

// CHECK-LABEL: plan.program "eval" @eval
plan.program "eval" @eval {
  %s = plan.alloc temporary : memref<4xf32>
  %f = plan.alloc temporary : memref<8xf32>
  %g = plan.alloc temporary : memref<8xf32>
  %t = plan.alloc temporary : memref<4xf32>
  %x = plan.alloc temporary : memref<2x2xf32>
  %y = plan.alloc temporary : memref<2x2xf32>
  // CHECK: plan.gemm {{.*}} {scope = "before"} :
  plan.gemm %x * %x -> %y {scope = "before"} : memref<2x2xf32> * memref<2x2xf32> -> memref<2x2xf32>
  plan.record @ready
  plan.wait @ready {stream = 3 : i64}
  plan.all_gather %s to %f among 2 {stream = 3 : i64} : memref<4xf32> to memref<8xf32>
  plan.record @a {stream = 3 : i64}
  // CHECK: plan.gemm {{.*}} {beside_collectives, scope = "gather"} :
  plan.gemm %x * %x -> %y {scope = "gather"} : memref<2x2xf32> * memref<2x2xf32> -> memref<2x2xf32>
  plan.wait @ready {stream = 4 : i64}
  plan.reduce_scatter %g to %t by 2.0, 1.0 among 2 {stream = 4 : i64} : memref<8xf32> to memref<4xf32>
  plan.record @b {stream = 4 : i64}
  plan.wait @a
  // CHECK: plan.gemm {{.*}} {beside_collectives, scope = "reduction"} :
  plan.gemm %x * %x -> %y {scope = "reduction"} : memref<2x2xf32> * memref<2x2xf32> -> memref<2x2xf32>
  plan.wait @b
  // CHECK: plan.gemm {{.*}} {scope = "behind"} :
  plan.gemm %x * %x -> %y {scope = "behind"} : memref<2x2xf32> * memref<2x2xf32> -> memref<2x2xf32>
}

// A gather behind the record is not covered by a wait for it. One of stream 0
// is done when the next command begins.
// CHECK-LABEL: plan.program "eval" @again
plan.program "eval" @again {
  %s = plan.alloc temporary : memref<4xf32>
  %t = plan.alloc temporary : memref<4xf32>
  %f = plan.alloc temporary : memref<8xf32>
  %g = plan.alloc temporary : memref<8xf32>
  %h = plan.alloc temporary : memref<8xf32>
  %x = plan.alloc temporary : memref<2x2xf32>
  %y = plan.alloc temporary : memref<2x2xf32>
  plan.all_gather %t to %h among 2 : memref<4xf32> to memref<8xf32>
  // CHECK: plan.gemm {{.*}} {scope = "before"} :
  plan.gemm %x * %x -> %y {scope = "before"} : memref<2x2xf32> * memref<2x2xf32> -> memref<2x2xf32>
  plan.record @ready
  plan.wait @ready {stream = 3 : i64}
  plan.all_gather %s to %f among 2 {stream = 3 : i64} : memref<4xf32> to memref<8xf32>
  plan.record @a {stream = 3 : i64}
  plan.all_gather %t to %g among 2 {stream = 3 : i64} : memref<4xf32> to memref<8xf32>
  plan.wait @a
  // CHECK: plan.gemm {{.*}} {beside_collectives, scope = "second"} :
  plan.gemm %x * %x -> %y {scope = "second"} : memref<2x2xf32> * memref<2x2xf32> -> memref<2x2xf32>
}
