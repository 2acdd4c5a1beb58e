//===- CudaAttention.h - cuDNN or own kernels compute attention -*- C++ -*-===//
//
// The code of a program's commands of attention. Commands that have both forms
// run own kernels where cuDNN is missing, too old, or cannot plan one of them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDAATTENTION_H
#define WEFT_RUNTIME_DEVICES_CUDAATTENTION_H

#include "weft/Formats/RunRecord.h"
#include "weft/Runtime/Devices/OpenLibrary.h"
#include "weft/Runtime/Execute/Context.h"

namespace weft {

class CudaAttention {
public:
  /// No command of a program, if it has none.
  CudaAttention() = default;
  explicit CudaAttention(const WeftExecutable &executable);

  /// Libraries without which the program does not run.
  std::vector<LibraryName> libraries() const;
  /// Whether cuDNN computes attention where it can, and own kernels elsewhere.
  bool hasChoice() const { return contains(Code::CudnnOrOwn); }

  /// The function that lets cuDNN plan a command, or null.
  static WeftLibraryFn plannerOf(const WeftCommand &command);
  /// The routine of a command that launches kernels of the program, or null.
  static WeftLibraryFn ownRoutineOf(const WeftCommand &command);

  /// Why own kernels take the place of cuDNN, or "". After the commands are
  /// planned.
  std::string refusal(WeftContext &context) const;
  void forgo(WeftContext &context, const std::string &reason) const;
  /// The code that runs, the version of cuDNN if that does, and whether its
  /// gradients differ from run to run.
  Settings facts(WeftContext &context) const;

private:
  enum class Code { None, Own, Cudnn, CudnnOrOwn };

  static Code codeOf(const WeftCommand &command);
  bool contains(Code code) const { return has[size_t(code)]; }

  bool has[4] = {};
  bool hasAnyOrder = false; // a command of cuDNN that is not deterministic
};

} // namespace weft

#endif // WEFT_RUNTIME_DEVICES_CUDAATTENTION_H
