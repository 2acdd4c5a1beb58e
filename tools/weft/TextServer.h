//===- TextServer.h - The tokenizer beside a run ----------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_TEXTSERVER_H
#define WEFT_TOOLS_WEFT_TEXTSERVER_H

#include "weft/Base/Error.h"

#include <string>

namespace weft {

/// Starts a process that answers the requests of Runtime/Text/TextClient.h with
/// the tokenizer at `path`, for the programs that this process starts or
/// becomes. It ends with this process.
Status startTextServer(const std::string &path);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_TEXTSERVER_H
