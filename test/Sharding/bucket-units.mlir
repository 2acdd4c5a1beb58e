// RUN: weft-opt %s --weft-bucket="rule=bytes:48 align=1" | FileCheck %s --check-prefix=BYTES
// RUN: weft-opt %s --weft-bucket="rule=bytes:1 align=1" | FileCheck %s --check-prefix=ALONE
// RUN: weft-opt %s --weft-bucket="rule=params:6 align=1" | FileCheck %s --check-prefix=INNER
// RUN: weft-opt %s --weft-bucket="rule=params:9 align=1" | FileCheck %s --check-prefix=BLOCK
// RUN: weft-opt %s --weft-bucket="rule=params:100 align=1" | FileCheck %s --check-prefix=ROOT
// Units by size.

// Neighbours of at most 48 bytes together; a larger parameter is alone.
// BYTES: weft.param @unit.0.flat : {{.*}}[#weft.segment<@emb [4] at 0 to 4>, #weft.segment<@h.0.fc.w [4] at 4 to 8>, #weft.segment<@h.0.fc.b [2] at 8 to 10>]
// BYTES-NEXT: weft.param @unit.1.flat : {{.*}}[#weft.segment<@h.0.out.w [4] at 0 to 4>, #weft.segment<@h.0.g [1] at 4 to 5>]
// BYTES-NEXT: weft.param @h.1.fc.w : tensor<20xf32>
// BYTES-NEXT: weft.param @unit.3.flat : {{.*}}[#weft.segment<@h.1.g [1] at 0 to 1>, #weft.segment<@norm [2] at 1 to 3>, #weft.segment<@head [2] at 3 to 5>]
// BYTES-NOT: weft.param

// ALONE-NOT: segment

// Modules of at least 6 elements: h.0.fc, then the rest of the block has too
// few and goes to the root; h.1.fc is a unit, and the list h never is.
// INNER: weft.param @root.flat : {{.*}}[#weft.segment<@emb [4] at 0 to 4>, #weft.segment<@h.0.out.w [4] at 4 to 8>, #weft.segment<@h.0.g [1] at 8 to 9>, #weft.segment<@h.1.g [1] at 9 to 10>, #weft.segment<@norm [2] at 10 to 12>, #weft.segment<@head [2] at 12 to 14>]
// INNER-NEXT: weft.param @h.0.fc.flat : {{.*}}[#weft.segment<@h.0.fc.w [4] at 0 to 4>, #weft.segment<@h.0.fc.b [2] at 4 to 6>]
// INNER-NEXT: weft.param @h.1.fc.w : tensor<20xf32>
// INNER-NOT: weft.param

// At least 9: the whole first block; in the second one h.1.fc.
// BLOCK: weft.param @root.flat : {{.*}}@emb [4] {{.*}}@h.1.g [1] {{.*}}@norm [2] {{.*}}@head [2]
// BLOCK-NEXT: weft.param @h.0.flat : {{.*}}@h.0.fc.w [4] {{.*}}@h.0.fc.b [2] {{.*}}@h.0.out.w [4] {{.*}}@h.0.g [1]
// BLOCK-NEXT: weft.param @h.1.fc.w
// BLOCK-NOT: weft.param

// ROOT: weft.param @root.flat : tensor<40xf32>
// ROOT-NOT: weft.param
weft.param @emb : tensor<4xf32> {scope = "emb"}
weft.param @h.0.fc.w : tensor<4xf32>
weft.param @h.0.fc.b : tensor<2xf32>
weft.param @h.0.out.w : tensor<4xf32>
weft.param @h.0.g : tensor<1xf32>
weft.param @h.1.fc.w : tensor<20xf32>
weft.param @h.1.g : tensor<1xf32>
weft.param @norm : tensor<2xf32> {scope = "norm"}
weft.param @head : tensor<2xf32> {scope = "head"}
