//===- Thawed.h - Parameters that a checkpoint has as frozen ----*- C++ -*-===//
//
// A program may train parameters that the run that saved a checkpoint had
// frozen: it has their values and no state of an optimizer. That begins anew,
// at zeros, and so does the counter of its steps, with which Adam corrects its
// moments; it must therefore count nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CHECKPOINTS_THAWED_H
#define WEFT_RUNTIME_CHECKPOINTS_THAWED_H

#include "weft/Formats/Manifest.h"
#include "weft/Runtime/Execute/Abi.h"
#include "weft/Runtime/Execute/Metadata.h"

#include <set>

namespace weft {

struct Thawed {
  std::vector<std::string> params; // in the order of the program
  std::set<std::string> fresh;     // states that begin at zeros

  bool isFresh(const std::string &name) const { return fresh.count(name) > 0; }
  /// "the optimizer state of 'b' begins anew: the checkpoint has it as frozen",
  /// or "" if there is none.
  std::string describe() const;
};

/// What begins anew, or a checkpoint error at `directory` that names a
/// parameter whose steps are counted with those of others.
Expected<Thawed> findThawed(const Manifest &manifest,
                            const std::string &directory,
                            const WeftExecutable &executable,
                            const Metadata &metadata);

} // namespace weft

#endif // WEFT_RUNTIME_CHECKPOINTS_THAWED_H
