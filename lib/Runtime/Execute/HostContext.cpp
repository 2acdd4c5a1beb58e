//===- HostContext.cpp - A context whose commands run on threads ----------===//
//
// The parts of a context that need libgomp. A program for another device does
// not link libgomp.
//
//===----------------------------------------------------------------------===//

#include "weft/Runtime/Execute/Context.h"

using namespace weft;

/// Forms a team with as many threads as the options ask for, but no more than
/// the program has workspaces for.
static ThreadTeam formTeam(const ContextOptions &options) {
  int wanted = options.threads > 0 ? options.threads : availableThreads();
  if (options.maxThreads <= 0 || wanted <= options.maxThreads)
    return weft::formTeam(wanted);
  ThreadTeam team = weft::formTeam(options.maxThreads);
  if (team.shortage.empty())
    team.shortage = "the program is compiled for at most " +
                    std::to_string(options.maxThreads) + " (--threads-max)";
  return team;
}

WeftContext::WeftContext(const ContextOptions &options)
    : WeftContext(options, formTeam(options)) {}

bool WeftContext::ensureTeam() {
  if (weft::ensureTeam(team.members))
    return true;
  fail(9, "expects " + std::to_string(team.members) +
              " threads, as when the context was made, but the thread that "
              "runs the program gets fewer");
  return false;
}

void WeftContext::touchMemory() {
  constexpr int64_t page = 4096;
  parallelFor((arenaBytes() + page - 1) / page, 512, [&](RangePart part) {
    for (int64_t i = part.begin; i < part.end; ++i) {
      volatile char *first = arena + i * page;
      *first = *first;
    }
  });
}
