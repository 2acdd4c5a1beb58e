// RUN: weft-opt --split-input-file --weft-autocast=dtype=f16 %s | FileCheck %s
// RUN: weft-opt --split-input-file --weft-autocast %s | FileCheck %s --check-prefix=NONE

// Regions give their ops settings of their own and go.

// Inside a disabled region ops run in the types of their operands: %h stays
// f16, %f is the f32 value that its cast asked for. The region inside is on
// again, in the type around the disabled one; another type holds for its region
// only.

weft.param @w : tensor<4x4xf32>
// CHECK-LABEL: weft.program @nested
// CHECK-NOT: weft.autocast
// CHECK: %[[W16:.*]] = weft.cast %{{.*}} : tensor<4x4xf32> to tensor<4x4xf16>
// CHECK: %[[H:.*]] = weft.matmul %{{.*}}, %[[W16]] : tensor<4x4xf16>, tensor<4x4xf16>
// CHECK-NEXT: %[[E:.*]] = weft.exp %[[H]] : tensor<4x4xf16>
// CHECK-NEXT: %[[F:.*]] = weft.cast %[[H]] : tensor<4x4xf16> to tensor<4x4xf32>
// CHECK-NEXT: %[[A:.*]] = weft.matmul %[[F]], %{{.*}} : tensor<4x4xf32>, tensor<4x4xf32>
// CHECK-NEXT: %[[A16:.*]] = weft.cast %[[A]] : tensor<4x4xf32> to tensor<4x4xf16>
// CHECK-NEXT: weft.matmul %[[A16]], %[[W16]] : tensor<4x4xf16>, tensor<4x4xf16>
// CHECK: weft.matmul %{{.*}}, %{{.*}} : tensor<4x4xbf16>, tensor<4x4xbf16>
// A sum of f16 and bf16 is f32.
// CHECK: weft.add %{{.*}}, %{{.*}} : tensor<4x4xf32>, tensor<4x4xf32>
// NONE-LABEL: weft.program @nested
// NONE-NOT: weft.autocast
// NONE-NOT: f16
// NONE: weft.return
weft.program @nested(%x: tensor<4x4xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<4x4xf32>
  %h = weft.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32>
  %e, %a, %b = weft.autocast attributes {enabled = false} {
    %e = weft.exp %h : tensor<4x4xf32>
    %f = weft.cast %h : tensor<4x4xf32> to tensor<4x4xf32>
    %a = weft.matmul %f, %w : tensor<4x4xf32>, tensor<4x4xf32>
    %b = weft.autocast {
      %b = weft.matmul %a, %w : tensor<4x4xf32>, tensor<4x4xf32>
      weft.yield %b : tensor<4x4xf32>
    } : tensor<4x4xf32>
    weft.yield %e, %a, %b : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  } : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  %c = weft.autocast attributes {dtype = bf16} {
    %c = weft.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32>
    weft.yield %c : tensor<4x4xf32>
  } : tensor<4x4xf32>
  %s = weft.add %b, %c : tensor<4x4xf32>, tensor<4x4xf32>
  %l = weft.reduce sum %s dims [0, 1] : tensor<4x4xf32>
  weft.return %l : tensor<f32>
}

// -----

// A parameter first read inside a region is cast beside that read, and once.

weft.param @w : tensor<4x4xf32>
// CHECK-LABEL: weft.program @read_inside
// CHECK: %[[W16:.*]] = weft.cast %{{.*}} : tensor<4x4xf32> to tensor<4x4xf16>
// CHECK: weft.matmul %{{.*}}, %[[W16]]
// CHECK: weft.matmul %{{.*}}, %[[W16]]
// CHECK-NOT: tensor<4x4xf32> to tensor<4x4xf16>
// CHECK: weft.return
weft.program @read_inside(%x: tensor<4x4xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %a = weft.autocast {
    %w = weft.read @w : tensor<4x4xf32>
    %a = weft.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32>
    weft.yield %a : tensor<4x4xf32>
  } : tensor<4x4xf32>
  %w = weft.read @w : tensor<4x4xf32>
  %b = weft.matmul %a, %w : tensor<4x4xf32>, tensor<4x4xf32>
  %l = weft.reduce sum %b dims [0, 1] : tensor<4x4xf32>
  weft.return %l : tensor<f32>
}

// -----

// Without mixed precision a dtype is the cast that the caller asked for, and
// nothing else. An op without regions to resolve stays.

// NONE-LABEL: weft.program @dtypes
// NONE: %[[X16:.*]] = weft.cast %{{.*}} : tensor<4x4xf32> to tensor<4x4xf16>
// NONE-NEXT: %[[S:.*]] = weft.softmax %[[X16]] : tensor<4x4xf16>
// NONE-NEXT: %[[D:.*]] = weft.cast %{{.*}} : tensor<4x4xf32> to tensor<4x4xf64>
// NONE-NEXT: weft.reduce sum %[[D]] dims [0, 1] : tensor<4x4xf64>
// NONE-NEXT: weft.log_softmax %{{.*}} : tensor<4x4xf32>
// NONE-NOT: dtype
// NONE: weft.return
weft.program @dtypes(%x: tensor<4x4xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %s = weft.softmax %x {dtype = f16} : tensor<4x4xf32>
  %d = weft.reduce sum %x dims [0, 1] {dtype = f64} : tensor<4x4xf32>
  %f = weft.log_softmax %x {dtype = f32} : tensor<4x4xf32>
  %l = weft.reduce sum %f dims [0, 1] : tensor<4x4xf32>
  weft.return %l : tensor<f32>
}
