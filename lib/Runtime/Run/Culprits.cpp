//===- Culprits.cpp - Whose value was not finite first --------------------===//

#include "weft/Runtime/Run/Culprits.h"

#include <cstdio>
#include <tuple>

using namespace weft;

std::string weft::culpritText(const Culprit &culprit) {
  if (culprit.text.empty())
    return "";
  return std::to_string(int(culprit.source)) + " " +
         std::to_string(culprit.command) + " " + culprit.text;
}

/// The reverse; the text of a rank that says nothing, or something else, has no
/// culprit.
static Culprit readCulprit(const std::string &text) {
  int source = 0, length = 0;
  long long command = 0;
  if (std::sscanf(text.c_str(), "%d %lld %n", &source, &command, &length) != 2)
    return {};
  return {Culprit::Source(source), int64_t(command),
          text.substr(size_t(length))};
}

std::string weft::firstCulprit(const std::vector<std::string> &texts) {
  Culprit first;
  std::string sentence;
  for (size_t rank = 0; rank < texts.size(); ++rank) {
    const Culprit one = readCulprit(texts[rank]);
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

std::string weft::findCulprit(Agreement &agreement, int64_t step,
                              const Culprit &own) {
  Vote vote =
      voteAt({Place::Culprits, step}, Status::success(), culpritText(own));
  vote.doneStep = step;
  const Decision all = agreement.agree(vote);
  return all.failed() ? own.text : firstCulprit(all.texts);
}
