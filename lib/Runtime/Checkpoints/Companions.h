//===- Companions.h - Files that an export takes along ----------*- C++ -*-===//

#ifndef WEFT_LIB_RUNTIME_CHECKPOINTS_COMPANIONS_H
#define WEFT_LIB_RUNTIME_CHECKPOINTS_COMPANIONS_H

#include "weft/Base/Error.h"
#include "weft/Formats/Json.h"

#include <string>
#include <vector>

namespace weft {

/// A file of an export, whole.
struct ExportedFile {
  std::string path;
  std::string text;
};

/// The files that `model`, the text of a checkpoint, records beside the model's
/// configuration, for the folder `out`. One that is gone or was changed since
/// is left out with a warning.
std::vector<ExportedFile> readCompanions(const Json &model,
                                         const std::string &out);

/// A usage error at the first file that is there already with other bytes.
Status checkNew(const std::vector<ExportedFile> &files);

} // namespace weft

#endif // WEFT_LIB_RUNTIME_CHECKPOINTS_COMPANIONS_H
