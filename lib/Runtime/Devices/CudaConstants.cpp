//===- CudaConstants.cpp - Constants that a device keeps ------------------===//

#include "weft/Runtime/Devices/CudaConstants.h"

#include "weft/Abi/RecordTypes.h"

using namespace weft;

CudaConstants::CudaConstants(const WeftExecutable &executable) {
  for (int32_t p = 0; p < executable.numPrograms; ++p) {
    const WeftProgram &program = executable.programs[p];
    for (int32_t i = 0; i < program.numCommands; ++i) {
      // A record of a wrong size is an error of the command.
      const auto *record = findRecord<WEFT_CONSTANT>(program.commands[i]);
      if (!record || !offsets.try_emplace(record, int64_t(all.size())).second)
        continue;
      const char *first = entriesOf<char>(*record);
      all.insert(all.end(), first, first + record->count);
      all.resize(alignConstant(int64_t(all.size())));
    }
  }
}
