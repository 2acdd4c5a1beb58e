//===- NanCauses.cpp - First non-finite value of all ranks ----------------===//

#include "weft/Runtime/Run/NanCauses.h"

#include <cstdio>
#include <tuple>

using namespace weft;

std::string weft::formatNanCause(const NanCause &cause) {
  if (cause.text.empty())
    return "";
  return std::to_string(int(cause.source)) + " " +
         std::to_string(cause.command) + " " + cause.text;
}

/// The reverse; the text of a rank that says nothing, or something else, has no
/// cause.
static NanCause parseNanCause(const std::string &text) {
  int source = 0, length = 0;
  long long command = 0;
  if (std::sscanf(text.c_str(), "%d %lld %n", &source, &command, &length) != 2)
    return {};
  return {NanCause::Source(source), int64_t(command),
          text.substr(size_t(length))};
}

std::string weft::describeFirstCause(const std::vector<std::string> &texts) {
  NanCause first;
  std::string sentence;
  for (size_t rank = 0; rank < texts.size(); ++rank) {
    const NanCause one = parseNanCause(texts[rank]);
    const bool isEarlier = std::tie(one.source, one.command) <
                           std::tie(first.source, first.command);
    if (one.text.empty() || !(sentence.empty() || isEarlier))
      continue;
    first = one;
    sentence = one.text;
    if (texts.size() > 1)
      sentence = "rank " + std::to_string(rank) + ": " + sentence;
  }
  return sentence;
}

std::string weft::findFirstCause(Consensus &consensus, int64_t step,
                                 const NanCause &own) {
  Vote vote =
      voteAt({Place::NanCauses, step}, Status::success(), formatNanCause(own));
  vote.doneStep = step;
  const Decision all = consensus.reach(vote);
  return all.failed() ? own.text : describeFirstCause(all.texts);
}
