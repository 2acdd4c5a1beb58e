//===- HelpMarkdown.cpp - Tables for the documents ------------------------===//
//
// `weft help-markdown flags|phases|casts`, for scripts/docs.sh: not in the help
// text.
//
//===----------------------------------------------------------------------===//

#include "ToolCommands.h"

#include "weft/Base/FlagNames.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Pipeline/Driver/PhaseTable.h"
#include "weft/Pipeline/Options/CompileFlags.h"
#include "weft/Precision/Passes.h"

using namespace weft;

/// Driver, compile and run flags, and the flags of other commands. `weft
/// compile` and `weft train` have a table each, because driver and run flags
/// may share a name.
static Expected<std::string> flagsMarkdown() {
  FlagTable compile(compileFlags()), train(compileFlags());
  compile.add(driverFlags());
  compile.add(configFlags(DriverFlag));
  train.add(describedRunFlags());
  for (const FlagTable *table : {&compile, &train})
    if (Status status = table->checkTable(); !status)
      return status.takeError();
  std::string text = compile.markdown() + "\n" + train.markdown(RunFlag);
  for (const auto &[title, more] :
       {std::pair("weft compile --dry-run", FlagTable(simulateFlags())),
        std::pair("weft bench", benchFlags()),
        std::pair("weft data prepare", dataFlags()),
        std::pair("weft tokenize", tokenizeFlags())})
    text += "\n## " + std::string(title) + "\n\n" + more.markdown();
  return text + "\n## Flags of other tools\n\n" +
         "weft refuses them with a hint:\n\n" + foreignMarkdown();
}

static Expected<std::string> markdownOf(const std::string &what) {
  if (what == "flags")
    return flagsMarkdown();
  if (what == "phases")
    return phasesMarkdown();
  if (what == "casts")
    return castPoliciesMarkdown();
  return usageError("expects help-markdown flags, phases or casts, but got " +
                    what);
}

Expected<ExitCode> weft::helpMarkdownCommand(const Arguments &args) {
  Expected<std::string> text = markdownOf(args.size() == 1 ? args[0] : "");
  if (!text)
    return text.takeError();
  printText(*text);
  return ExitCode::Ok;
}
