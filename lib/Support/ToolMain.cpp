//===- ToolMain.cpp - The frame of every tool's main() --------------------===//

#include "weft/Support/ToolMain.h"

#include "weft/Base/Error.h"
#include "weft/Base/OutOfMemory.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Base/Temporaries.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"

#include <new>
#include <unistd.h>

namespace weft {

/// LLVM ends the program when a stream that could not be written goes away. A
/// reader that has seen enough (`weft-opt ... | head`) is no word.
static void onFatalError(void *, const char *reason, bool) {
  llvm::StringRef text(reason);
  if (text.contains("pthread_create failed")) {
    removeTemporaries();
    ::_exit(noThreadError().report());
  }
  bool isOutput = text.starts_with("IO failure on output");
  Error error(isOutput ? ExitCode::Storage : ExitCode::Internal, reason);
  removeTemporaries();
  if (isOutput && text.ends_with("Broken pipe"))
    ::_exit(error.exitStatus());
  ::_exit(error.report());
}

static int runGuarded(llvm::function_ref<int()> tool) {
  try {
    return tool();
  } catch (const std::bad_alloc &) {
    return noMemoryError().report();
  }
}

int runTool(llvm::function_ref<int()> tool) {
  reserveStandardStreams();
  removeTemporariesOnSignals();
  // For good: standard output is closed behind main.
  llvm::install_fatal_error_handler(onFatalError);
  // At once, in whatever thread: LLVM is built without exceptions. One that
  // passed through it would leave locks taken and promises broken, for which
  // other threads would wait for ever.
  std::set_new_handler(endWithoutMemory);
  llvm::install_bad_alloc_error_handler(
      [](void *, const char *, bool) { endWithoutMemory(); });
  explainEnds();
  return finishOutput(runGuarded(tool));
}

} // namespace weft
