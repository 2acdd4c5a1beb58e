// RUN: weft-opt %s --weft-expand-math | FileCheck %s
// RUN: weft-opt %s --weft-expand-math=fma=false | FileCheck %s --check-prefix=PLAIN
// f32 functions become arithmetic, the same for scalars and vectors.

// CHECK-LABEL: llvm.func @exp
// CHECK-NOT: math.exp
// CHECK: math.roundeven {{.*}} : vector<16xf32>
// CHECK: math.fma
// PLAIN-LABEL: llvm.func @exp
// PLAIN-NOT: math.fma
// PLAIN: llvm.return
llvm.func @exp(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp %x : vector<16xf32>
  llvm.return %y : vector<16xf32>
}

// CHECK-LABEL: llvm.func @all
// CHECK-NOT: math.{{(exp|log|log1p|tanh|erf|sin|cos|powf) }}
// CHECK: llvm.return
llvm.func @all(%x: f32) -> f32 {
  %a = math.log %x : f32
  %b = math.log1p %a : f32
  %c = math.tanh %b : f32
  %d = math.erf %c : f32
  %e = math.sin %d : f32
  %f = math.cos %e : f32
  %g = math.powf %f, %x : f32
  llvm.return %g : f32
}

// Approximate functions have no cases but the limits of their operands and NaN.
// CHECK-LABEL: llvm.func @approximate
// CHECK-NOT: math.roundeven
// CHECK-COUNT-5: math.fma
// CHECK-NOT: arith.select
// CHECK: arith.shli
// CHECK-NEXT: arith.bitcast
// CHECK-NEXT: arith.addi
// CHECK-NEXT: arith.bitcast
// CHECK-NEXT: arith.cmpf uno
// CHECK-NEXT: %[[E:.*]] = arith.select
// CHECK-NEXT: llvm.return %[[E]]
llvm.func @approximate(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp %x fastmath<afn> : vector<16xf32>
  llvm.return %y : vector<16xf32>
}

// CHECK-LABEL: llvm.func @approximate_tanh
// CHECK-COUNT-5: math.fma
// CHECK: arith.divf
// CHECK: math.fma
// CHECK-NOT: math.copysign
// CHECK: llvm.return
llvm.func @approximate_tanh(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.tanh %x fastmath<afn> : vector<16xf32>
  llvm.return %y : vector<16xf32>
}

// f64 functions stay: they become calls of libm.
// CHECK-LABEL: llvm.func @wide
// CHECK: math.exp
llvm.func @wide(%x: f64) -> f64 {
  %y = math.exp %x : f64
  llvm.return %y : f64
}

// LLVM has no intrinsic for erf: each lane calls it.
// CHECK-LABEL: llvm.func @lanes
// CHECK: %[[A:.*]] = vector.extract %{{.*}}[0] : f64 from vector<2xf64>
// CHECK: llvm.call @erf(%[[A]]) : (f64) -> f64
// CHECK: %[[B:.*]] = vector.extract %{{.*}}[1] : f64 from vector<2xf64>
// CHECK: llvm.call @erf(%[[B]]) : (f64) -> f64
// CHECK: llvm.return
llvm.func @lanes(%x: vector<2xf64>) -> vector<2xf64> {
  %y = math.erf %x : vector<2xf64>
  llvm.return %y : vector<2xf64>
}

// Conversions of bf16 are integer operations: LLVM sees none.
// CHECK-LABEL: llvm.func @brain
// CHECK-NOT: arith.extf {{.*}} bf16
// CHECK: %[[WORD:.*]] = arith.bitcast %arg0 : vector<16xbf16> to vector<16xi16>
// CHECK: %[[LOW:.*]] = arith.extui %[[WORD]] : vector<16xi16> to vector<16xi32>
// CHECK: %[[BITS:.*]] = arith.shli %[[LOW]], %{{.*}} : vector<16xi32>
// CHECK: %[[X:.*]] = arith.bitcast %[[BITS]] : vector<16xi32> to vector<16xf32>
// CHECK: arith.negf %[[X]]
// CHECK-NOT: arith.truncf
// CHECK: llvm.return
llvm.func @brain(%x: vector<16xbf16>) -> vector<16xbf16> {
  %a = arith.extf %x : vector<16xbf16> to vector<16xf32>
  %b = arith.negf %a : vector<16xf32>
  %c = arith.truncf %b : vector<16xf32> to vector<16xbf16>
  llvm.return %c : vector<16xbf16>
}

// To f64 through f32; f16 has instructions of its own.
// CHECK-LABEL: llvm.func @double
// CHECK: arith.extf %{{.*}} : f32 to f64
// CHECK: arith.extf %arg1 : f16 to f32
llvm.func @double(%x: bf16, %y: f16) -> f64 {
  %a = arith.extf %x : bf16 to f64
  %b = arith.extf %y : f16 to f32
  %c = arith.extf %b : f32 to f64
  %d = arith.addf %a, %c : f64
  llvm.return %d : f64
}
// CHECK: llvm.func @erf(f64) -> f64
