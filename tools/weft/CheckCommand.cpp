//===- CheckCommand.cpp - weft check --------------------------------------===//

#include "Commands.h"

using namespace weft;

Expected<ExitCode> weft::checkCommand(const Arguments &args) {
  return usageError("does not support weft check yet");
}
