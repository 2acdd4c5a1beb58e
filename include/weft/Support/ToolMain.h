//===- ToolMain.h - The frame of every tool's main() ------------*- C++ -*-===//

#ifndef WEFT_SUPPORT_TOOLMAIN_H
#define WEFT_SUPPORT_TOOLMAIN_H

#include "llvm/ADT/STLFunctionalExtras.h"

namespace weft {

/// Runs a tool and returns its exit status. Standard streams are there and
/// their last flush is checked (8); a signal removes temporaries; memory that
/// the system does not give is no fault of the tool (4); what LLVM holds for
/// fatal is an error in our words (70).
int runTool(llvm::function_ref<int()> tool);

} // namespace weft

#endif // WEFT_SUPPORT_TOOLMAIN_H
