//===- WarmUp.cpp - What only the first run of a program has to do --------===//

#include "weft/Runtime/Executor.h"
#include "weft/Runtime/Library.h"

// Weak: a program without products links no oneDNN.
extern "C" [[gnu::weak]] void weft_cpu_gemm(WeftContext *, const WeftCommand *,
                                            void *const *);
extern "C" [[gnu::weak]] void weft_cpu_gemm_prepare(WeftContext *,
                                                    const WeftCommand *);

using namespace weft;

void weft::warmUp(WeftContext &context,
                  std::initializer_list<const WeftProgram *> programs) {
  for (const WeftProgram *program : programs)
    for (int32_t i = 0; i < program->numCommands; ++i) {
      const WeftCommand &command = program->commands[i];
      if (command.library && command.library == weft_cpu_gemm)
        weft_cpu_gemm_prepare(&context, &command);
    }
  context.touchMemory();
  context.clearError();
}
