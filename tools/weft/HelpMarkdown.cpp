//===- HelpMarkdown.cpp - Tables for the documents ------------------------===//
//
// `weft help-markdown flags|phases`, for scripts/docs.sh: not in the help text.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "weft/Pipeline/CompileFlags.h"
#include "weft/Pipeline/Phases.h"
#include "weft/Runtime/RunFlags.h"

#include <cstdio>

using namespace weft;

/// Every flag of `weft train`: compile, driver and run flags in one table.
static Expected<std::string> flagsMarkdown() {
  FlagTable table(compileFlags());
  table.add(driverFlags());
  table.add(runFlagSpecs());
  if (Status status = table.checkTable(); !status)
    return status.takeError();
  return table.markdown();
}

Expected<ExitCode> weft::helpMarkdownCommand(const Arguments &args) {
  if (args.size() != 1 || (args[0] != "flags" && args[0] != "phases"))
    return usageError("expects help-markdown flags or help-markdown phases");
  Expected<std::string> text = args[0] == "flags"
                                   ? flagsMarkdown()
                                   : Expected<std::string>(phasesMarkdown());
  if (!text)
    return text.takeError();
  std::fputs(text->c_str(), stdout);
  return ExitCode::Ok;
}
