//===- OutputFolder.h - Folders that commands write to ----------*- C++ -*-===//

#ifndef WEFT_BASE_OUTPUTFOLDER_H
#define WEFT_BASE_OUTPUTFOLDER_H

#include "weft/Base/Error.h"

namespace weft {

/// No folder of outputs is named `-`, which would look like standard output;
/// `role` is as in FileUse.
Status checkFolderName(const std::string &role, const std::string &path);

} // namespace weft

#endif // WEFT_BASE_OUTPUTFOLDER_H
