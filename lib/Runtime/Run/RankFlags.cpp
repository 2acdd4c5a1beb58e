//===- RankFlags.cpp - Run flags of programs for several ranks ------------===//

#include "weft/Runtime/Run/RunFlags.h"

using namespace weft;

/// As many ranks as the mesh has run the program, or none does. Without
/// --loopback they are processes.
static Status checkLoopback(int64_t ranks, int64_t loopback) {
  const std::string got = std::to_string(loopback);
  if (ranks > 1 && loopback != 0 && loopback != ranks)
    return usageError("--loopback expects " + std::to_string(ranks) +
                      ", the ranks of the mesh of the program, but got " + got);
  if (ranks == 1 && loopback > 1)
    return usageError("--loopback expects 1 for a program of one rank, but "
                      "got " +
                      got)
        .hint("compile with --mesh=dp:" + got);
  return Status::success();
}

Status weft::checkRankFlags(const FlagValues &flags, const Metadata &metadata,
                            const RunOptions &options) {
  const int64_t ranks = metadata.ranks();
  if (Status s = checkLoopback(ranks, options.loopback); !s)
    return s;
  if (ranks > 1 && !options.tune.empty())
    return usageError("--tune expects a program of one rank, but got one of " +
                      std::to_string(ranks))
        .hint("compile it without --mesh: a rank has the same products");
  if (ranks == 1 && flags.isSet("timeout"))
    return usageError("--timeout expects a program of several ranks: one rank "
                      "waits for nobody");
  if (ranks == 1 && flags.isSet("gather"))
    return usageError("--gather expects a program of several ranks: one rank "
                      "has all parameters");
  if (options.loopback > 1 && flags.isSet("gather"))
    return usageError("--gather expects ranks that are processes, but got "
                      "--loopback " +
                      std::to_string(options.loopback));
  if (ranks == 1 && flags.isSet("check-replicas"))
    return usageError("--check-replicas expects a program of several ranks: "
                      "nobody holds what one rank has");
  return Status::success();
}
