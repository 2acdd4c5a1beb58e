// RUN: weft-opt --split-input-file --weft-autocast=dtype=f16 %s | FileCheck %s
// RUN: weft-opt --split-input-file "--weft-autocast=dtype=bf16 lists=cpu" %s | FileCheck %s --check-prefix=CPU
// RUN: weft-opt --split-input-file --weft-autocast %s | FileCheck %s --check-prefix=NONE

// Lower, f32-set-dtype and follow; the parameter is cast beside its read, the
// input at its use, the loss keeps its type.

weft.param @w : tensor<4x3xf32>
// CHECK-LABEL: weft.program @lower
// CHECK: %[[W:.*]] = weft.read @w {weft.scope = "fc"} : tensor<4x3xf32>
// CHECK-NEXT: %[[W16:.*]] = weft.cast %[[W]] {weft.scope = "fc"} : tensor<4x3xf32> to tensor<4x3xf16>
// CHECK-NEXT: %[[X16:.*]] = weft.cast %{{.*}} {weft.scope = "fc.dot"} : tensor<8x4xf32> to tensor<8x4xf16>
// CHECK-NEXT: %[[Y:.*]] = weft.matmul %[[X16]], %[[W16]] {weft.scope = "fc.dot"} : tensor<8x4xf16>, tensor<4x3xf16>
// CHECK-NEXT: %[[R:.*]] = weft.relu %[[Y]] : tensor<8x3xf16>
// CHECK-NEXT: %[[R32:.*]] = weft.cast %[[R]] : tensor<8x3xf16> to tensor<8x3xf32>
// CHECK-NEXT: %[[S:.*]] = weft.softmax %[[R32]] : tensor<8x3xf32>
// CHECK-NEXT: weft.reduce sum %[[S]] dims [0, 1] : tensor<8x3xf32>
// The CPU lists let softmax and sum follow, but what makes the loss is in f32.
// CPU-LABEL: weft.program @lower
// CPU: %[[Y:.*]] = weft.matmul {{.*}} : tensor<8x4xbf16>, tensor<4x3xbf16>
// CPU-NEXT: %[[R:.*]] = weft.relu %[[Y]] : tensor<8x3xbf16>
// CPU-NEXT: %[[S:.*]] = weft.softmax %[[R]] : tensor<8x3xbf16>
// CPU-NEXT: %[[S32:.*]] = weft.cast %[[S]] : tensor<8x3xbf16> to tensor<8x3xf32>
// CPU-NEXT: %[[L:.*]] = weft.reduce sum %[[S32]] dims [0, 1] : tensor<8x3xf32>
// CPU-NEXT: weft.return %[[L]] : tensor<f32>
// NONE-LABEL: weft.program @lower
// NONE-NOT: weft.cast
// NONE: weft.return
weft.program @lower(%x: tensor<8x4xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w {weft.scope = "fc"} : tensor<4x3xf32>
  %y = weft.matmul %x, %w {weft.scope = "fc.dot"} : tensor<8x4xf32>, tensor<4x3xf32>
  %r = weft.relu %y : tensor<8x3xf32>
  %s = weft.softmax %r : tensor<8x3xf32>
  %l = weft.reduce sum %s dims [0, 1] : tensor<8x3xf32>
  weft.return %l : tensor<f32>
}

// -----

// A parameter that three ops read through two reads is cast once; each use of
// another value has a cast of its own.

weft.param @w : tensor<4x4xf32>
// CHECK-LABEL: weft.program @once
// CHECK: %[[W:.*]] = weft.read @w
// CHECK-NEXT: %[[W16:.*]] = weft.cast %[[W]] : tensor<4x4xf32> to tensor<4x4xf16>
// CHECK-NEXT: %[[X0:.*]] = weft.cast %[[X:.*]] : tensor<4x4xf32> to tensor<4x4xf16>
// CHECK-NEXT: %[[A:.*]] = weft.matmul %[[X0]], %[[W16]]
// CHECK-NEXT: %[[X1:.*]] = weft.cast %[[X]] : tensor<4x4xf32> to tensor<4x4xf16>
// CHECK-NEXT: %[[B:.*]] = weft.matmul %[[X1]], %[[W16]]
// CHECK-NEXT: weft.read @w
// CHECK-NEXT: weft.matmul %[[A]], %[[W16]]
// CHECK-NOT: tensor<4x4xf32> to tensor<4x4xf16>
// CHECK: weft.return
weft.program @once(%x: tensor<4x4xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<4x4xf32>
  %a = weft.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32>
  %b = weft.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32>
  %w1 = weft.read @w : tensor<4x4xf32>
  %c = weft.matmul %a, %w1 : tensor<4x4xf32>, tensor<4x4xf32>
  %s = weft.add %b, %c : tensor<4x4xf32>, tensor<4x4xf32>
  %l = weft.reduce sum %s dims [0, 1] : tensor<4x4xf32>
  weft.return %l : tensor<f32>
}

// -----

// A view of a parameter is no parameter: it is cast at each use.

weft.param @w : tensor<4x4xf32>
// CHECK-LABEL: weft.program @view
// CHECK: %[[T:.*]] = weft.transpose %{{.*}} [1, 0] : tensor<4x4xf32>
// CHECK: weft.cast %[[T]] : tensor<4x4xf32> to tensor<4x4xf16>
// CHECK: weft.cast %[[T]] : tensor<4x4xf32> to tensor<4x4xf16>
weft.program @view(%x: tensor<4x4xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<4x4xf32>
  %t = weft.transpose %w [1, 0] : tensor<4x4xf32>
  %a = weft.matmul %x, %t : tensor<4x4xf32>, tensor<4x4xf32>
  %b = weft.matmul %a, %t : tensor<4x4xf32>, tensor<4x4xf32>
  %l = weft.reduce sum %b dims [0, 1] : tensor<4x4xf32>
  weft.return %l : tensor<f32>
}

// -----

// Norms: f32 in the CUDA lists. In the CPU lists the operand stays low beside
// f32 weights. The bias of a matmul goes low with it.

weft.param @w : tensor<4x4xf32>
weft.param @b : tensor<4xf32>
weft.param @g : tensor<4xf32>
// CHECK-LABEL: weft.program @norm
// CHECK: weft.matmul %{{.*}}, %{{.*}} bias %{{.*}} : tensor<4xf16> : tensor<8x4xf16>, tensor<4x4xf16>
// CHECK: weft.layer_norm %{{.*}}, %{{.*}}, %{{.*}} {eps = {{.*}}} : tensor<8x4xf32>, tensor<4xf32>
// CHECK: weft.rms_norm {{.*}} : tensor<8x4xf32>, tensor<4xf32>
// CPU-LABEL: weft.program @norm
// CPU: %[[Y:.*]] = weft.matmul
// CPU-NEXT: weft.layer_norm %[[Y]], {{.*}} : tensor<8x4xbf16>, tensor<4xf32>
// CPU-NEXT: weft.rms_norm {{.*}} : tensor<8x4xbf16>, tensor<4xf32>
weft.program @norm(%x: tensor<8x4xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<4x4xf32>
  %b = weft.read @b : tensor<4xf32>
  %g = weft.read @g : tensor<4xf32>
  %y = weft.matmul %x, %w bias %b : tensor<4xf32> : tensor<8x4xf32>, tensor<4x4xf32>
  %n, %mean, %rstd = weft.layer_norm %y, %g, %b {eps = 1.0e-5 : f64} : tensor<8x4xf32>, tensor<4xf32>
  %m, %rms = weft.rms_norm %n, %g {eps = 1.0e-5 : f64} : tensor<8x4xf32>, tensor<4xf32>
  %l = weft.reduce mean %m dims [0, 1] : tensor<8x4xf32>
  weft.return %l : tensor<f32>
}

// -----

// Type promotion of the ops themselves: the widest tensor decides, a scalar
// does not; shape ops and activations follow.

weft.param @w : tensor<4x4xf32>
// CHECK-LABEL: weft.program @promotion
// CHECK: %[[C:.*]] = weft.constant dense<5.000000e-01> : tensor<f32>
// CHECK: %[[Y:.*]] = weft.matmul
// CHECK-NEXT: %[[Y32:.*]] = weft.cast %[[Y]] : tensor<4x4xf16> to tensor<4x4xf32>
// CHECK-NEXT: weft.add %[[Y32]], %{{.*}} : tensor<4x4xf32>, tensor<4x4xf32>
// CHECK-NEXT: %[[C16:.*]] = weft.cast %[[C]] : tensor<f32> to tensor<f16>
// CHECK-NEXT: %[[M:.*]] = weft.mul %[[Y]], %[[C16]] : tensor<4x4xf16>, tensor<f16>
// CHECK-NEXT: %[[V:.*]] = weft.reshape %[[M]] : tensor<4x4xf16> to tensor<16xf16>
// CHECK-NEXT: %[[B:.*]] = weft.broadcast %[[V]] : tensor<16xf16> to tensor<2x16xf16>
// CHECK-NEXT: %[[P:.*]] = weft.compare gt %{{.*}}, %{{.*}} : tensor<4x4xf32>, tensor<4x4xf32>
weft.program @promotion(%x: tensor<4x4xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<4x4xf32>
  %c = weft.constant dense<0.5> : tensor<f32>
  %y = weft.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32>
  %a = weft.add %y, %x : tensor<4x4xf32>, tensor<4x4xf32>
  %m = weft.mul %y, %c : tensor<4x4xf32>, tensor<f32>
  %v = weft.reshape %m : tensor<4x4xf32> to tensor<16xf32>
  %b = weft.broadcast %v : tensor<16xf32> to tensor<2x16xf32>
  %p = weft.compare gt %a, %x : tensor<4x4xf32>, tensor<4x4xf32>
  %z = weft.select %p, %a, %m : tensor<4x4xi1>, tensor<4x4xf32>, tensor<4x4xf32>
  %l = weft.reduce sum %z dims [0, 1] : tensor<4x4xf32>
  weft.return %l : tensor<f32>
}

// -----

// A constant that f16 cannot hold keeps its value: the op computes in f32 and
// its result is rounded. 0.5 is exact, and so is 0.1 where the type is f32. A
// comparison has no result to round: it rounds the number.

weft.param @w : tensor<4x4xf32>
// CHECK-LABEL: weft.program @numbers
// CHECK: %[[C:.*]] = weft.constant dense<1.000000e-01> : tensor<f32>
// CHECK: %[[Y:.*]] = weft.matmul
// CHECK-NEXT: %[[Y32:.*]] = weft.cast %[[Y]] {weft.scope = "h"} : tensor<4x4xf16> to tensor<4x4xf32>
// CHECK-NEXT: %[[M32:.*]] = weft.mul %[[Y32]], %[[C]] {weft.scope = "h"} : tensor<4x4xf32>, tensor<f32>
// CHECK-NEXT: %[[M:.*]] = weft.cast %[[M32]] {weft.scope = "h"} : tensor<4x4xf32> to tensor<4x4xf16>
// CHECK-NEXT: %[[H:.*]] = weft.cast %{{.*}} : tensor<f32> to tensor<f16>
// CHECK-NEXT: weft.mul %[[M]], %[[H]] : tensor<4x4xf16>, tensor<f16>
// CHECK-NEXT: %[[C16:.*]] = weft.cast %[[C]] : tensor<f32> to tensor<f16>
// CHECK-NEXT: %[[P:.*]] = weft.compare gt %[[M]], %[[C16]] : tensor<4x4xf16>, tensor<f16>
// CHECK-NEXT: weft.mul %{{.*}}, %[[C]] : tensor<4x4xf32>, tensor<f32>
weft.program @numbers(%x: tensor<4x4xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<4x4xf32>
  %c = weft.constant dense<0.1> : tensor<f32>
  %half = weft.constant dense<0.5> : tensor<f32>
  %y = weft.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32>
  %m = weft.mul %y, %c {weft.scope = "h"} : tensor<4x4xf32>, tensor<f32>
  %h = weft.mul %m, %half : tensor<4x4xf32>, tensor<f32>
  %p = weft.compare gt %m, %c : tensor<4x4xf32>, tensor<f32>
  %f = weft.mul %x, %c : tensor<4x4xf32>, tensor<f32>
  %z = weft.select %p, %h, %f : tensor<4x4xi1>, tensor<4x4xf32>, tensor<4x4xf32>
  %l = weft.reduce sum %z dims [0, 1] : tensor<4x4xf32>
  weft.return %l : tensor<f32>
}
