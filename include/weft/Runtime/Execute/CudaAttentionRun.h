//===- CudaAttentionRun.h - Attention when a run starts ---------*- C++ -*-===//
//
// The interface between the device and attention through cuDNN. kernels/cuda
// defines the functions. Their callers declare them weak, since a program
// without cuDNN does not link them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTE_CUDAATTENTIONRUN_H
#define WEFT_RUNTIME_EXECUTE_CUDAATTENTIONRUN_H

#include "weft/Base/Results.h"
#include "weft/Runtime/Execute/Context.h"

#include <string>
#include <vector>

namespace weft {

struct LibraryName;

/// Libraries of a program that computes attention by cuDNN alone.
std::vector<LibraryName> cudnnLibraries();

/// Version of the open cuDNN, "9.19.0"; "" without one.
std::string cudnnVersion(WeftContext &context);

/// Attention that cuDNN or own kernels compute (`cudnn_or_own`). cuDNN computes
/// it until a command cannot be planned, or until forgoCudnn(); then own
/// kernels compute all of it.
///
/// Why cuDNN does not compute it, or "".
std::string cudnnRefusal(WeftContext &context);
/// Gives attention to the own kernels and closes cuDNN. Not after the first
/// run of a program.
void forgoCudnn(WeftContext &context, const std::string &reason);

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTE_CUDAATTENTIONRUN_H
