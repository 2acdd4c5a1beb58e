// RUN: split-file %s %t
// RUN: weft-opt "--weft-autocast=dtype=f16 overrides=%t/overrides.toml" %t/model.mlir | FileCheck %t/model.mlir
// RUN: weft-opt "--weft-autocast=dtype=f16 overrides=%t/overrides.toml" --remarks-filter=casts %t/model.mlir -o %t/out.mlir 2>&1 | FileCheck %t/model.mlir --check-prefix=EXPLAIN
// RUN: weft-opt "--weft-autocast=dtype=f16 overrides=%t/norms.toml" %t/norms.mlir | FileCheck %t/norms.mlir
// RUN: weft-opt "--weft-autocast=dtype=f16 recipe=pure-f16 overrides=%t/pure.toml" %t/norms.mlir | FileCheck %t/norms.mlir --check-prefix=PURE

// Overrides come before recipe and lists; the first that finds an op decides.
// A file may choose the lists.

//--- overrides.toml
[[override]]
op = "^exp$"
scope = "^h\\.1$"
policy = "follow"

[[override]]
scope = "^h\\.1$"
policy = "f32"

[[override]]
op = "^reduce sum$"
policy = "lower"

[[override]]
op = "^add$"
policy = "promote"

//--- model.mlir
weft.param @w : tensor<4x4xf32>
// CHECK-LABEL: weft.program @model
// CHECK: %[[H:.*]] = weft.matmul {{.*}} {weft.scope = "h.0"} : tensor<4x4xf16>, tensor<4x4xf16>
// CHECK: weft.exp %{{.*}} {weft.scope = "h.0"} : tensor<4x4xf32>
// CHECK-NEXT: weft.exp %[[H]] {weft.scope = "h.1"} : tensor<4x4xf16>
// CHECK-NEXT: weft.cast
// CHECK-NEXT: weft.matmul %{{.*}}, %{{.*}} {weft.scope = "h.1"} : tensor<4x4xf32>, tensor<4x4xf32>
// CHECK-NEXT: weft.cast
// CHECK-NEXT: weft.add %{{.*}} : tensor<4x4xf32>, tensor<4x4xf32>
// CHECK-NEXT: weft.cast
// CHECK-NEXT: weft.reduce sum %{{.*}} dims [0, 1] : tensor<4x4xf16>
// CHECK-NEXT: %[[L:.*]] = weft.cast %{{.*}} : tensor<f16> to tensor<f32>
// CHECK-NEXT: weft.return %[[L]]

// EXPLAIN: model.mlir:[[# @LINE + 11]]:{{.*}}: remark: {{.*}}Remark="matmul of h.0 casts operand 0 from f32 to f16: lower in the cuda lists
// EXPLAIN: model.mlir:[[# @LINE + 10]]:{{.*}}: remark: {{.*}}Remark="matmul of h.0 casts operand 1 from f32 to f16, one cast for all uses of @w: lower in the cuda lists
// EXPLAIN: Remark="exp of h.0 casts operand 0 from f16 to f32: f32 in the cuda lists
// EXPLAIN: Remark="exp of h.1 runs in f16: follow in {{.*}}overrides.toml:1
// EXPLAIN: Remark="matmul of h.1 casts operand 0 from f16 to f32: f32 in {{.*}}overrides.toml:6
// EXPLAIN: Remark="add casts operand 1 from f16 to f32: promote in {{.*}}overrides.toml:14
// EXPLAIN: Remark="reduce sum casts operand 0 from f32 to f16: lower in {{.*}}overrides.toml:10
// EXPLAIN: Remark="return casts operand 0 from f16 to f32: outputs and states keep their types
weft.program @model(%x: tensor<4x4xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<4x4xf32>
  %h = weft.matmul %x, %w {weft.scope = "h.0"} : tensor<4x4xf32>, tensor<4x4xf32>
  %e = weft.exp %h {weft.scope = "h.0"} : tensor<4x4xf32>
  %f = weft.exp %h {weft.scope = "h.1"} : tensor<4x4xf32>
  %m = weft.matmul %f, %w {weft.scope = "h.1"} : tensor<4x4xf32>, tensor<4x4xf32>
  %a = weft.add %m, %h : tensor<4x4xf32>, tensor<4x4xf32>
  %l = weft.reduce sum %a dims [0, 1] : tensor<4x4xf32>
  weft.return %l : tensor<f32>
}

//--- norms.toml
lists = "cpu"
[[override]]
op = "norm|embedding|rope|cross_entropy"
policy = "lower"
[[override]]
op = "^mul$"
policy = "narrow"

//--- pure.toml
[[override]]
op = "norm"
policy = "f32"
[[override]]
op = "mul|rope"
policy = "follow"

//--- norms.mlir
// The weights of a norm, the tables of rope and the class weights stay f32
// where the op goes low.
weft.param @table : tensor<8x4xf32>
weft.param @g : tensor<4xf32>
// CHECK-LABEL: weft.program @norms
// CHECK: weft.embedding {{.*}} : tensor<8x4xf16>, tensor<2x3xi32>
// CHECK: weft.rms_norm %{{.*}}, %{{.*}} {eps = {{.*}}} : tensor<2x3x4xf16>, tensor<4xf32>
// CHECK: weft.rope {{.*}} : tensor<2x3x1x4xf16>, tensor<3x2xf32>
// CHECK: weft.mul {{.*}} : tensor<2x3x4xf16>, tensor<4xf16>
// CHECK: weft.exp {{.*}} : tensor<2x3x4xf16>
// CHECK: weft.cross_entropy %{{.*}}, %{{.*}} weight %{{.*}} : tensor<4xf32> : tensor<2x3x4xf16>, tensor<2x3xi32>
// PURE-LABEL: weft.program @norms
// PURE: weft.rms_norm %{{.*}}, %{{.*}} {eps = {{.*}}} : tensor<2x3x4xf32>, tensor<4xf32>
weft.program @norms(%ids: tensor<2x3xi32> {weft.input = "tokens"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %table = weft.read @table : tensor<8x4xf32>
  %g = weft.read @g : tensor<4xf32>
  %c = weft.constant dense<0.5> : tensor<3x2xf32>
  %e = weft.embedding %table, %ids : tensor<8x4xf32>, tensor<2x3xi32>
  %n, %rstd = weft.rms_norm %e, %g {eps = 1.0e-5 : f64} : tensor<2x3x4xf32>, tensor<4xf32>
  %q = weft.reshape %n : tensor<2x3x4xf32> to tensor<2x3x1x4xf32>
  %r = weft.rope %q, %c, %c : tensor<2x3x1x4xf32>, tensor<3x2xf32>
  %p = weft.reshape %r : tensor<2x3x1x4xf32> to tensor<2x3x4xf32>
  %m = weft.mul %p, %g : tensor<2x3x4xf32>, tensor<4xf32>
  %x = weft.exp %m : tensor<2x3x4xf32>
  %l, %lse, %denom = weft.cross_entropy %x, %ids weight %g : tensor<4xf32> : tensor<2x3x4xf32>, tensor<2x3xi32>
  weft.return %l : tensor<f32>
}
