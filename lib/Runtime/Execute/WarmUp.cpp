//===- WarmUp.cpp - What only the first run of a program has to do --------===//

#include "weft/Runtime/Execute/Executor.h"

// Weak: a program without products links no oneDNN.
extern "C" [[gnu::weak]] void weft_cpu_gemm_prepare(WeftContext *,
                                                    const WeftCommand *);

using namespace weft;

void weft::warmUp(WeftContext &context,
                  const std::vector<const WeftProgram *> &programs) {
  for (const WeftProgram *program : programs)
    for (int32_t i = 0; i < program->numCommands; ++i)
      if (program->commands[i].kind == WEFT_GEMM && weft_cpu_gemm_prepare)
        weft_cpu_gemm_prepare(&context, &program->commands[i]);
  context.touchMemory();
  context.clearError();
}
