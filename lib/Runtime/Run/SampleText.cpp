//===- SampleText.cpp - The text of a sample ------------------------------===//

#include "SampleText.h"

#include "weft/Base/Results.h"
#include "weft/Runtime/Collectives/RankGroups.h"

#include <algorithm>

using namespace weft;

double weft::tokenizerSeconds(const RunOptions &options) {
  return std::min(options.timeout / 2, 1e6);
}

//===----------------------------------------------------------------------===//
// SampleDecoder
//===----------------------------------------------------------------------===//

Expected<SampleDecoder> SampleDecoder::open(WeftContext &context,
                                            const RunOptions &options,
                                            std::function<bool()> isStopped) {
  SampleDecoder decoder(context, isStopped);
  if (!options.samplesWithTokenizer)
    return decoder;
  Expected<std::string> opened = std::string();
  if (Status s = assign(TextClient::connect(
                            {tokenizerSeconds(options), std::move(isStopped)}),
                        decoder.client);
      !s)
    opened = s.takeError();
  else
    opened = decoder.client->setPrompt(options.promptIds);
  decoder.hasSpace =
      opened && endsWith(*options.generate, " ") && !endsWith(*opened, " ");
  opened = decoder.agree(std::move(opened));
  if (!opened)
    return opened.takeError();
  return decoder;
}

Expected<std::string> SampleDecoder::add(int32_t id) {
  return client ? withoutSpace(agree(client->decode(id)))
                : std::string(1, char(id));
}

Expected<std::string> SampleDecoder::finish() {
  return client ? withoutSpace(agree(client->finish())) : std::string();
}

Expected<std::string> SampleDecoder::withoutSpace(Expected<std::string> text) {
  if (!text || text->empty() || !hasSpace)
    return text;
  hasSpace = false;
  return (*text)[0] == ' ' ? text->substr(1) : std::move(*text);
}

Expected<std::string> SampleDecoder::agree(Expected<std::string> reply) {
  if (!reply)
    failure = reply.takeError();
  if (context->ranks() > 1) {
    auto all = gatherNumbers(*context, {double(isLost()), double(asksToStop())},
                             "the text of a sample");
    if (!all)
      return all.takeError();
    if (!isLost() && sumOverRanks(*all, 0) > 0)
      failure = internalError("another rank has lost its tokenizer");
    isAnyStopped = sumOverRanks(*all, 1) > 0;
  }
  return isLost() ? std::string() : std::move(*reply);
}

//===----------------------------------------------------------------------===//
// GrowingSample
//===----------------------------------------------------------------------===//

Expected<bool> GrowingSample::add(const std::string &more) {
  const size_t held = stop.empty() ? 0 : stop.size() - 1;
  const size_t from = text.size() - std::min(text.size(), held);
  text += more;
  const size_t found = stop.empty() ? text.npos : text.find(stop, from);
  if (found != text.npos)
    text.resize(found);
  if (Status s =
          give(found != text.npos ? text.size()
                                  : text.size() - std::min(text.size(), held));
      !s)
    return s.takeError();
  return found != text.npos;
}

Status GrowingSample::give(size_t end) {
  const size_t begin = given;
  given = std::max(given, end);
  return reader && end > begin
             ? reader(std::string_view(text).substr(begin, end - begin))
             : Status::success();
}
