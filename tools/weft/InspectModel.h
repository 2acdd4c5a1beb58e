//===- InspectModel.h - What a model could be compiled to -------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_INSPECTMODEL_H
#define WEFT_TOOLS_WEFT_INSPECTMODEL_H

#include "ToolCommands.h"

namespace weft {

/// Whether a view is asked for that takes a model and the flags of weft
/// compile.
bool asksAboutModel(const Arguments &args);

/// `weft inspect MODEL --activations|--tradeoff`.
Expected<ExitCode> inspectModel(const Arguments &args);

/// For the help of weft inspect.
std::string modelViewsHelp();

} // namespace weft

#endif // WEFT_TOOLS_WEFT_INSPECTMODEL_H
