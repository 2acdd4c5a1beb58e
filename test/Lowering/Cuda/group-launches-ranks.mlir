// RUN: weft-opt %s --weft-group-launches -o %t.mlir && FileCheck %s --input-file=%t.mlir
// RUN: weft-opt %t.mlir --weft-split-async --weft-schedule | FileCheck %s --check-prefix=EARLY
// Launches whose results are gathered stay alone, so that the scheduler starts each
// with its gather: one unit early.

module {

weft.kernel @k_neg(%x: tensor<8xf32>) -> tensor<8xf32> elementwise [8] inplace [[0]] {
  %y = weft.neg %x : tensor<8xf32>
  weft.yield %y : tensor<8xf32>
}

// CHECK-LABEL: plan.program "eval" @gathered
// CHECK: plan.launch @k_neg ins({{.*}}) outs(%[[A:.*]] : memref<8xf32>)
// CHECK-NEXT: plan.launch @k_neg ins({{.*}}) outs(%[[B:.*]] : memref<8xf32>)
// CHECK-NEXT: plan.all_gather %[[A]] to %{{.*}} among 2
// CHECK-NEXT: plan.all_gather %{{.*}} to %{{.*}} among 2
// CHECK-NEXT: plan.launch @g_{{.*}} ins(%{{.*}}, %{{.*}} : memref<8xf32>, memref<8xf32>)
// CHECK-NEXT: plan.all_gather {{.*}} among 1
plan.state param @v : memref<8xf32>
plan.state param @w : memref<8xf32>
plan.program "eval" @gathered {
  %v = plan.use @v : memref<8xf32>
  %w = plan.use @w : memref<8xf32>
  %a = plan.alloc temporary : memref<8xf32>
  %b = plan.alloc temporary : memref<8xf32>
  %low = plan.view %b : memref<8xf32> to memref<4xf32>
  %c = plan.alloc temporary : memref<8xf32>
  %d = plan.alloc temporary : memref<8xf32>
  %wholeA = plan.alloc temporary : memref<16xf32>
  %wholeB = plan.alloc temporary : memref<8xf32>
  %wholeC = plan.alloc temporary : memref<8xf32>
  plan.launch @k_neg ins(%v : memref<8xf32>) outs(%a : memref<8xf32>)
  plan.launch @k_neg ins(%w : memref<8xf32>) outs(%b : memref<8xf32>)
  plan.all_gather %a to %wholeA among 2 : memref<8xf32> to memref<16xf32>
  plan.all_gather %low to %wholeB among 2 : memref<4xf32> to memref<8xf32>
  plan.launch @k_neg ins(%v : memref<8xf32>) outs(%c : memref<8xf32>)
  plan.launch @k_neg ins(%w : memref<8xf32>) outs(%d : memref<8xf32>)
  plan.all_gather %c to %wholeC among 1 : memref<8xf32> to memref<8xf32>
  plan.output "a" %wholeA : memref<16xf32>
  plan.output "b" %wholeB : memref<8xf32>
  plan.output "c" %wholeC : memref<8xf32>
  plan.output "d" %d : memref<8xf32>
}

// The gather of the second block runs beside the product of the first one.
// EARLY-LABEL: plan.program "eval" @blocks
// EARLY: plan.launch @k_neg
// EARLY: plan.all_gather {{.*}} {scope = "h.0", stream = 3 : i64}
// EARLY: plan.launch @k_neg
// EARLY: plan.all_gather {{.*}} {scope = "h.1", stream = 3 : i64}
// EARLY-NEXT: plan.record @[[SECOND:.*]] {stream = 3 : i64}
// EARLY: plan.gemm {{.*}} {scope = "h.0"}
// EARLY-NEXT: plan.wait @[[SECOND]]
// EARLY-NEXT: plan.gemm {{.*}} {scope = "h.1"}
plan.program "eval" @blocks {
  %x = plan.input "x" : memref<4x4xf32>
  %v = plan.use @v : memref<8xf32>
  %w = plan.use @w : memref<8xf32>
  %a = plan.alloc temporary : memref<8xf32>
  %b = plan.alloc temporary : memref<8xf32>
  %wholeA = plan.alloc temporary : memref<16xf32>
  %wholeB = plan.alloc temporary : memref<16xf32>
  %first = plan.view %wholeA : memref<16xf32> to memref<4x4xf32>
  %second = plan.view %wholeB : memref<16xf32> to memref<4x4xf32>
  %y = plan.alloc temporary : memref<4x4xf32>
  %z = plan.alloc temporary : memref<4x4xf32>
  plan.launch @k_neg ins(%v : memref<8xf32>) outs(%a : memref<8xf32>) {scope = "h.0"}
  plan.launch @k_neg ins(%w : memref<8xf32>) outs(%b : memref<8xf32>) {scope = "h.1"}
  plan.all_gather %a to %wholeA among 2 {scope = "h.0"} : memref<8xf32> to memref<16xf32>
  plan.gemm %x * %first -> %y {scope = "h.0"} : memref<4x4xf32> * memref<4x4xf32> -> memref<4x4xf32>
  plan.all_gather %b to %wholeB among 2 {scope = "h.1"} : memref<8xf32> to memref<16xf32>
  plan.gemm %y * %second -> %z {scope = "h.1"} : memref<4x4xf32> * memref<4x4xf32> -> memref<4x4xf32>
  plan.output "z" %z : memref<4x4xf32>
}

}
