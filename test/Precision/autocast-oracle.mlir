// RUN: weft-opt --split-input-file --weft-autocast=dtype=f16 %s | FileCheck %s
// RUN: weft-opt --split-input-file "--weft-autocast=dtype=bf16 lists=cpu" %s | FileCheck %s --check-prefix=CPU

// The types of PyTorch's autocast for one op after the other, from an f16 (CPU: a
// bf16) value %h and an f32 value %x. In-place ops, no_grad and norm have no
// op here; docs/explanation/precision.md says what stands for them.

weft.param @w : tensor<4x4xf32>
// CHECK-LABEL: weft.program @ops
// CPU-LABEL: weft.program @ops
weft.program @ops(%x: tensor<4x4xf32> {weft.input = "x"}, %d: tensor<4x4xf64> {weft.input = "d"},
                  %i: tensor<4x4xi32> {weft.input = "i"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<4x4xf32>
  // mm(f32, f32) -> f16
  // CHECK: %[[H:.*]] = weft.matmul %{{.*}}, %{{.*}} {{.*}} : tensor<4x4xf16>, tensor<4x4xf16>
  // CPU: %[[H:.*]] = weft.matmul %{{.*}}, %{{.*}} {{.*}} : tensor<4x4xbf16>, tensor<4x4xbf16>
  %h = weft.matmul %x, %w {weft.scope = "mm"} : tensor<4x4xf32>, tensor<4x4xf32>
  // softmax(f16) -> f32, on the CPU as it is
  // CHECK: weft.softmax %{{.*}} {weft.scope = "softmax"} : tensor<4x4xf32>
  // CPU-NEXT: weft.softmax %[[H]] {weft.scope = "softmax"} : tensor<4x4xbf16>
  %softmax = weft.softmax %h {weft.scope = "softmax"} : tensor<4x4xf32>
  // sum(f16) -> f32
  // CHECK-NEXT: %[[H1:.*]] = weft.cast %[[H]] {weft.scope = "sum"} : tensor<4x4xf16> to tensor<4x4xf32>
  // CHECK-NEXT: weft.reduce sum %[[H1]] dims [0] {weft.scope = "sum"} : tensor<4x4xf32>
  // CPU-NEXT: weft.reduce sum %[[H]] dims [0] {weft.scope = "sum"} : tensor<4x4xbf16>
  %sum = weft.reduce sum %h dims [0] {weft.scope = "sum"} : tensor<4x4xf32>
  // sum(f16, dtype = f16) -> f16
  // CHECK-NEXT: weft.reduce sum %[[H]] dims [0] {weft.scope = "sum.dtype"} : tensor<4x4xf16>
  // CPU-NEXT: %[[H16:.*]] = weft.cast %[[H]] {weft.scope = "sum.dtype"} : tensor<4x4xbf16> to tensor<4x4xf16>
  // CPU-NEXT: weft.reduce sum %[[H16]] dims [0] {weft.scope = "sum.dtype"} : tensor<4x4xf16>
  %sum16 = weft.reduce sum %h dims [0] {dtype = f16, weft.scope = "sum.dtype"} : tensor<4x4xf32>
  // addcmul(f16, f32, f32) -> f32: its mul and its add
  // CHECK-NEXT: %[[P:.*]] = weft.mul %{{.*}}, %{{.*}} : tensor<4x4xf32>, tensor<4x4xf32>
  // CHECK-NEXT: %[[H2:.*]] = weft.cast %[[H]]
  // CHECK-NEXT: weft.add %[[H2]], %[[P]] : tensor<4x4xf32>, tensor<4x4xf32>
  %mul = weft.mul %x, %w : tensor<4x4xf32>, tensor<4x4xf32>
  %addcmul = weft.add %h, %mul : tensor<4x4xf32>, tensor<4x4xf32>
  // add(f16, f32) -> f32
  // CHECK: weft.add %{{.*}}, %{{.*}} {weft.scope = "add"} : tensor<4x4xf32>, tensor<4x4xf32>
  // CPU: weft.add %{{.*}}, %{{.*}} {weft.scope = "add"} : tensor<4x4xf32>, tensor<4x4xf32>
  %add = weft.add %h, %x {weft.scope = "add"} : tensor<4x4xf32>, tensor<4x4xf32>
  // eq(f16, f32) -> bool, compared in f32; eq(f16, f16) as it is
  // CHECK: weft.compare eq %{{.*}}, %{{.*}} {weft.scope = "eq"} : tensor<4x4xf32>, tensor<4x4xf32>
  // CHECK-NEXT: weft.compare eq %[[H]], %[[H]] : tensor<4x4xf16>, tensor<4x4xf16>
  %eq = weft.compare eq %h, %x {weft.scope = "eq"} : tensor<4x4xf32>, tensor<4x4xf32>
  %eq16 = weft.compare eq %h, %h : tensor<4x4xf32>, tensor<4x4xf32>
  // exp(f16) -> f32; bf16 stays bf16 on the CPU
  // CHECK: weft.exp %{{.*}} {weft.scope = "exp"} : tensor<4x4xf32>
  // CPU: weft.exp %[[H]] {weft.scope = "exp"} : tensor<4x4xbf16>
  %exp = weft.exp %h {weft.scope = "exp"} : tensor<4x4xf32>
  // cat(f16, f32) -> f32, cat(f16, f16) -> f16
  // CHECK: weft.concat {{.*}} : tensor<4x4xf32>, tensor<4x4xf32>
  // CHECK-NEXT: weft.concat %[[H]], %[[H]] {dim = 0 : i64} : tensor<4x4xf16>, tensor<4x4xf16>
  // CPU: weft.concat {{.*}} : tensor<4x4xf32>, tensor<4x4xf32>
  // CPU-NEXT: weft.concat %[[H]], %[[H]] {dim = 0 : i64} : tensor<4x4xbf16>, tensor<4x4xbf16>
  %cat = weft.concat %h, %x {dim = 0 : i64} : tensor<4x4xf32>, tensor<4x4xf32>
  %cat16 = weft.concat %h, %h {dim = 0 : i64} : tensor<4x4xf32>, tensor<4x4xf32>
  // Doubles and integers pass, under every policy.
  // CHECK-NEXT: weft.matmul %{{.*}}, %{{.*}} : tensor<4x4xf64>, tensor<4x4xf64>
  // CHECK-NEXT: weft.exp %{{.*}} : tensor<4x4xf64>
  // CHECK-NEXT: weft.softmax %{{.*}} : tensor<4x4xf64>
  // CHECK-NEXT: weft.concat {{.*}} : tensor<4x4xf64>, tensor<4x4xf64>
  // CHECK-NEXT: weft.add %{{.*}}, %{{.*}} : tensor<4x4xi32>, tensor<4x4xi32>
  // CPU-NEXT: weft.matmul %{{.*}}, %{{.*}} : tensor<4x4xf64>, tensor<4x4xf64>
  // CPU-NEXT: weft.exp %{{.*}} : tensor<4x4xf64>
  // CPU-NEXT: weft.softmax %{{.*}} : tensor<4x4xf64>
  // CPU-NEXT: weft.concat {{.*}} : tensor<4x4xf64>, tensor<4x4xf64>
  // CPU-NEXT: weft.add %{{.*}}, %{{.*}} : tensor<4x4xi32>, tensor<4x4xi32>
  %mm64 = weft.matmul %d, %d : tensor<4x4xf64>, tensor<4x4xf64>
  %exp64 = weft.exp %d : tensor<4x4xf64>
  %softmax64 = weft.softmax %d : tensor<4x4xf64>
  %cat64 = weft.concat %d, %d {dim = 0 : i64} : tensor<4x4xf64>, tensor<4x4xf64>
  %int = weft.add %i, %i : tensor<4x4xi32>, tensor<4x4xi32>
  %l = weft.mse %h, %x : tensor<4x4xf32>
  weft.return %l : tensor<f32>
}

// -----

// f32 in the CUDA lists.

weft.param @w : tensor<4x4xf32>
// CHECK-LABEL: weft.program @f32_ops
weft.program @f32_ops(%x: tensor<4x4xf32> {weft.input = "x"}, %t: tensor<4xi32> {weft.input = "t"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<4x4xf32>
  %h = weft.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32>
  // CHECK: weft.log %{{.*}} : tensor<4x4xf32>
  // CPU: weft.log %{{.*}} : tensor<4x4xbf16>
  %log = weft.log %h : tensor<4x4xf32>
  // CHECK: weft.log1p %{{.*}} : tensor<4x4xf32>
  // CPU: weft.log1p %{{.*}} : tensor<4x4xbf16>
  %log1p = weft.log1p %h : tensor<4x4xf32>
  // CHECK: weft.reciprocal %{{.*}} : tensor<4x4xf32>
  // CPU: weft.reciprocal %{{.*}} : tensor<4x4xbf16>
  %reciprocal = weft.reciprocal %h : tensor<4x4xf32>
  // CHECK: weft.rsqrt %{{.*}} : tensor<4x4xf32>
  // CPU: weft.rsqrt %{{.*}} : tensor<4x4xbf16>
  %rsqrt = weft.rsqrt %h : tensor<4x4xf32>
  // CHECK: weft.pow %{{.*}}, %{{.*}} : tensor<4x4xf32>, tensor<4x4xf32>
  // CPU: weft.pow %{{.*}}, %{{.*}} : tensor<4x4xbf16>, tensor<4x4xbf16>
  %pow = weft.pow %h, %h : tensor<4x4xf32>, tensor<4x4xf32>
  // CHECK: weft.softplus %{{.*}} : tensor<4x4xf32>
  // CPU: weft.softplus %{{.*}} : tensor<4x4xbf16>
  %softplus = weft.softplus %h : tensor<4x4xf32>
  // CHECK: weft.log_softmax %{{.*}} : tensor<4x4xf32>
  // CPU: weft.log_softmax %{{.*}} : tensor<4x4xbf16>
  %log_softmax = weft.log_softmax %h : tensor<4x4xf32>
  // The losses of both lists.
  // CHECK: weft.cross_entropy {{.*}} : tensor<4x4xf32>, tensor<4xi32>
  // CHECK: weft.mse %{{.*}} : tensor<4x4xf32>
  // CHECK: weft.bce_with_logits %{{.*}} : tensor<4x4xf32>
  // CPU: weft.cross_entropy {{.*}} : tensor<4x4xf32>, tensor<4xi32>
  // CPU: weft.mse %{{.*}} : tensor<4x4xf32>
  // CPU: weft.bce_with_logits %{{.*}} : tensor<4x4xf32>
  %l, %lse, %denom = weft.cross_entropy %h, %t : tensor<4x4xf32>, tensor<4xi32>
  %mse = weft.mse %h, %h : tensor<4x4xf32>
  %bce = weft.bce_with_logits %h, %h : tensor<4x4xf32>
  // Neither list has what follows.
  // CHECK: %[[M:.*]] = weft.reduce mean %{{.*}} dims [0] : tensor<4x4xf16>
  // CHECK-NEXT: weft.reduce max %{{.*}} dims [0] : tensor<4x4xf16>
  // CHECK-NEXT: weft.reduce min %{{.*}} dims [0] : tensor<4x4xf16>
  // CHECK-NEXT: weft.sqrt %{{.*}} : tensor<4x4xf16>
  // CHECK-NEXT: weft.tanh %{{.*}} : tensor<4x4xf16>
  // CHECK-NEXT: weft.gelu %{{.*}} : tensor<4x4xf16>
  // CHECK-NEXT: weft.sigmoid %{{.*}} : tensor<4x4xf16>
  // CHECK-NEXT: weft.dropout %{{.*}} {op_id = 3 : i64, p = {{.*}}} : tensor<4x4xf16>
  // CHECK-NEXT: weft.layer_drop %{{.*}}, %{{.*}} {op_id = 4 : i64, p = {{.*}}} : tensor<4x4xf16>
  %mean = weft.reduce mean %h dims [0] : tensor<4x4xf32>
  %max = weft.reduce max %h dims [0] : tensor<4x4xf32>
  %min = weft.reduce min %h dims [0] : tensor<4x4xf32>
  %sqrt = weft.sqrt %h : tensor<4x4xf32>
  %tanh = weft.tanh %h : tensor<4x4xf32>
  %gelu = weft.gelu %h : tensor<4x4xf32>
  %sigmoid = weft.sigmoid %h : tensor<4x4xf32>
  %dropout = weft.dropout %h {p = 0.1 : f64, op_id = 3} : tensor<4x4xf32>
  %drop, %dropped = weft.layer_drop %h, %dropout {p = 0.1 : f64, op_id = 4} : tensor<4x4xf32>
  weft.return %l : tensor<f32>
}

// -----

// attention: lower, with f32 statistics. rope promotes by its f32 tables.

// CHECK-LABEL: weft.program @attention
// CHECK: %[[Q:.*]] = weft.rope %{{.*}}, %{{.*}}, %{{.*}} : tensor<1x2x2x4xf32>, tensor<2x2xf32>
// CHECK-NEXT: %[[Q16:.*]] = weft.cast %[[Q]] : tensor<1x2x2x4xf32> to tensor<1x2x2x4xf16>
// CHECK: %[[OUT:.*]], %[[LSE:.*]] = weft.attention %[[Q16]], {{.*}} : tensor<1x2x2x4xf16>, tensor<1x2x2x4xf16>, tensor<1x2x2x4xf16>
// CHECK-NEXT: weft.reduce mean %[[LSE]] dims [0, 1, 2] : tensor<1x2x2xf32>
weft.program @attention(%x: tensor<1x2x2x4xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %c = weft.constant dense<0.5> : tensor<2x2xf32>
  %q = weft.rope %x, %c, %c : tensor<1x2x2x4xf32>, tensor<2x2xf32>
  %out, %lse = weft.attention %q, %x, %x {scale = 0.5 : f64} : tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>
  %l = weft.reduce mean %lse dims [0, 1, 2] : tensor<1x2x2xf32>
  weft.return %l : tensor<f32>
}
