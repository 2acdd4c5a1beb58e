// The metadata says the grid and block that each kernel of a device is written for.
// RUN: weft-opt %s --weft-describe-launches --split-input-file --verify-diagnostics | FileCheck %s

// CHECK: weft.metadata = "{\22format\22:1,\22launches\22:{\22long_rows\22:[5,256,1],\22short_rows\22:[9,32,8]}}"
module attributes {weft.metadata = "{\"format\": 1}"} {
  gpu.module @kernels {
    llvm.func @long_rows(%x: !llvm.ptr<1>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 256, 1, 1>, gpu.known_grid_size = array<i32: 5, 1, 1>} {
      llvm.return
    }
    llvm.func @short_rows(%x: !llvm.ptr<1>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 32, 8, 1>, gpu.known_grid_size = array<i32: 9, 1, 1>} {
      llvm.return
    }
    llvm.func @__nv_expf(f32) -> f32
  }
}

// -----

// expected-error @below {{expects the attribute weft.metadata with a JSON object; run weft-describe-executable first}}
module {
}

// -----

// expected-error @below {{expects the attribute weft.metadata with a JSON object; run weft-describe-executable first}}
module attributes {weft.metadata = "[1]"} {
}
