//===- Transport.cpp - Byte exchange between ranks ------------------------===//

#include "weft/Runtime/Collectives/Transport.h"

#include <cstring>
#include <vector>

using namespace weft;

Transport::Transport(int rank, std::vector<int> members)
    : number(rank), names(std::move(members)), heartbeatCounts(names.size()) {}

Transport::~Transport() = default;

bool Transport::hasHeartbeat(int peer) {
  if (!runHeartbeats)
    return false;
  const int64_t before = heartbeatCounts[size_t(peer)];
  heartbeatCounts[size_t(peer)] = runHeartbeats->count(nameOf(peer));
  return heartbeatCounts[size_t(peer)] != before;
}

Status Transport::exchange(const char *const *send, char *const *receive,
                           int64_t bytes, std::string_view title) {
  if (failure)
    return *failure;
  if (bytes < 0)
    return internalError("expects pieces of 0 or more bytes, but got ", bytes);
  if (bytes > 0 && send[number] != receive[number])
    std::memcpy(receive[number], send[number], size_t(bytes));
  if (ranks() == 1)
    return Status::success();
  Status status =
      exchangeAll(send, receive, bytes, title.substr(0, kTitleBytes - 1));
  if (!status)
    failure = std::make_unique<Error>(status.error());
  return status;
}

Status Transport::gatherBytes(const void *own, void *all, int64_t bytes,
                              std::string_view title) {
  std::vector<const char *> send(names.size(), static_cast<const char *>(own));
  std::vector<char *> receive;
  for (int rank = 0; rank < ranks(); ++rank)
    receive.push_back(static_cast<char *>(all) + rank * bytes);
  return exchange(send.data(), receive.data(), bytes, title);
}

Expected<std::unique_ptr<Transport>> Transport::split(int color) {
  auto colors = gather(color, "a split of the ranks");
  if (!colors)
    return colors.takeError();
  auto part = splitBy(*colors);
  if (!part)
    return part;
  (*part)->setTimeout(seconds);
  (*part)->runHeartbeats = runHeartbeats;
  return part;
}

Status
Transport::checkTimeouts(ExchangeTimer &timer, std::string_view title,
                         const std::function<bool(int peer)> &isAwaited) {
  timer.pass();
  const bool looks = timer.isLookDue();
  std::vector<int> silent;
  for (int peer = 0; peer < ranks(); ++peer) {
    if (!isAwaited(peer))
      continue;
    if (looks && hasHeartbeat(peer))
      timer.restart(peer);
    if (timer.isTimedOut(peer))
      silent.push_back(peer);
  }
  if (silent.empty())
    return Status::success();
  setAbsent(silent, /*haveLeft=*/false);
  return missingError(nameOf(number), missing(), title, seconds);
}

void Transport::setAbsent(const std::vector<int> &ranks, bool haveLeft) {
  absent = {{}, haveLeft};
  for (int rank : ranks)
    absent.ranks.push_back(nameOf(rank));
}

std::pair<std::vector<int>, int>
Transport::membersOf(const std::vector<int> &colors) const {
  std::vector<int> members;
  int own = 0;
  for (int other = 0; other < ranks(); ++other) {
    if (colors[size_t(other)] != colors[size_t(number)])
      continue;
    if (other == number)
      own = int(members.size());
    members.push_back(nameOf(other));
  }
  return {std::move(members), own};
}

std::string weft::rankList(const std::vector<int> &ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size(); ++i)
    text += (i == 0                  ? ""
             : i + 1 == ranks.size() ? " and "
                                     : ", ") +
            std::to_string(ranks[i]);
  return text;
}

Error weft::leftError(int rank, std::string_view title) {
  return communicationError("expects ", rankList({rank}), " in ", title,
                            ", but it has left the run");
}

Error weft::missingError(int rank, const std::vector<int> &missing,
                         std::string_view title, double seconds) {
  const bool isOne = missing.size() == 1;
  return communicationError(rankList({rank}), " expects ", rankList(missing),
                            " in ", title, ", but ",
                            isOne ? "it has" : "they have", " not come for ",
                            numberText(seconds, 4), " s");
}

Error weft::endedError(int rank, const std::vector<int> &ended,
                       std::string_view title) {
  return communicationError(
      rankList({rank}), " expects ", rankList(ended), " in ", title, ", but ",
      ended.size() == 1 ? "its process has" : "their processes have", " ended");
}

Error weft::collectiveMismatchError(int rank, std::string_view title,
                                    int64_t bytes, int other,
                                    std::string_view otherTitle,
                                    int64_t otherBytes) {
  auto place = [](int who, std::string_view what, int64_t size) {
    return concat(rankList({who}), " in ", what, " (", size, " bytes a piece)");
  };
  return communicationError("expects all ranks in one collective, but got ",
                            place(rank, title, bytes), " and ",
                            place(other, otherTitle, otherBytes));
}
