//===- ToySaves.cpp - Saves of several ranks, in a process of its own -----===//
//
// Usage: ToySaves DIR STEPS. Three ranks that are threads save the steps up to
// STEPS into DIR, from the one after the newest that is there, and keep two.
// Ends with the exit code of the ranks, 70 if they differ.
//
//===----------------------------------------------------------------------===//

#include "RankToy.h"

using namespace weft;

namespace {

/// A rank whose state follows from the step.
class Saver {
public:
  Saver(Consensus &consensus, const SavePolicy &policy)
      : writer(*open(consensus), metadata(), RunRecord(), policy, faults,
               consensus),
        isFirst(consensus.rank() == 0) {}

  int save(int64_t from, int64_t to) {
    for (int64_t step = from; step <= to; ++step) {
      for (int i = 0; i < 3; ++i)
        static_cast<float *>(context->at(0))[i] = float(step * 10 + i);
      TrainState state;
      state.step = step;
      auto saved = writer.save(state);
      if (!saved)
        return isFirst ? saved.error().report() : saved.error().exitStatus();
      if (isFirst)
        std::printf("saved %s\n", stepDirectoryName(step).c_str());
    }
    return 0;
  }

private:
  static const Metadata &metadata() {
    static const Metadata toy = [] {
      Metadata made;
      made.fingerprint = "ranks";
      return made;
    }();
    return toy;
  }
  WeftContext *open(const Consensus &consensus) {
    ContextOptions options;
    options.rank = consensus.rank();
    options.ranks = consensus.ranks();
    options.threads = 1;
    std::string error;
    context = WeftContext::create(rankToy(), options, error);
    return context.get();
  }

  std::unique_ptr<WeftContext> context;
  Faults faults;
  CheckpointWriter writer;
  bool isFirst;
};

int saveAll(const std::string &directory, int64_t steps) {
  auto lock = SaveLock::take(directory);
  if (!lock)
    return lock.error().report();
  if (Status s = cleanTemporaries(directory); !s)
    return s.error().report();
  auto there = findSteps(directory);
  if (!there)
    return there.error().report();
  const int64_t from = there->empty() ? 1 : there->back().step + 1;
  const SavePolicy policy = {directory, 2, false, &*lock};
  ThreadRanks all(kToyRanks);
  std::vector<int> codes(kToyRanks, 70);
  all.run([&](Consensus &consensus) {
    codes[size_t(consensus.rank())] =
        Saver(consensus, policy).save(from, steps);
  });
  for (int code : codes)
    if (code != codes[0])
      return 70;
  return codes[0];
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  setvbuf(stdout, nullptr, _IOLBF, 0);
  return saveAll(argv[1], std::atoll(argv[2]));
}
