//===- InspectKernels.h - The machine code of a program ---------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_INSPECTKERNELS_H
#define WEFT_TOOLS_WEFT_INSPECTKERNELS_H

#include "ProgramFile.h"

#include "weft/Formats/Json.h"

namespace weft {

/// A list with an object for each kernel of each image of the program: `chip`,
/// `name`, `generated`, `registers`, `shared_bytes`, `local_bytes`,
/// `stack_bytes`, `code_bytes`, `threads` [x, y, z] of a block and `blocks` of
/// the grid. A size is null if each launch decides it. Exit 3 if an image is
/// broken.
Expected<Json> describeImages(const ProgramFile &program, const Json &metadata);

/// Prints that list as a table.
void printImages(const Json &kernels);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_INSPECTKERNELS_H
