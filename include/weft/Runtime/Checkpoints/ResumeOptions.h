//===- ResumeOptions.h - Where a run continues and saves --------*- C++ -*-===//

#ifndef WEFT_RUNTIME_CHECKPOINTS_RESUMEOPTIONS_H
#define WEFT_RUNTIME_CHECKPOINTS_RESUMEOPTIONS_H

#include <string>

namespace weft {

enum class ResumeKind { Auto, Never, Must, Path };

struct ResumeOptions {
  std::string saveDir; // "": nowhere
  ResumeKind resume = ResumeKind::Never;
  std::string resumePath; // of ResumeKind::Path
};

} // namespace weft

#endif // WEFT_RUNTIME_CHECKPOINTS_RESUMEOPTIONS_H
