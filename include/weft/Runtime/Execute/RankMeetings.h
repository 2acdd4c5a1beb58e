//===- RankMeetings.h - Exchanges between the hosts of ranks ----*- C++ -*-===//
//
// A device with memory of its own moves bytes between ranks by itself. The
// hosts of the ranks exchange only addresses and events for it. The connections
// of a run (Runtime/Collectives) implement this interface.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTE_RANKMEETINGS_H
#define WEFT_RUNTIME_EXECUTE_RANKMEETINGS_H

#include "weft/Base/Results.h"

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

namespace weft {

/// One thread at a time uses it. Groups are numbered as in WeftRankGroup.
class RankMeetings {
public:
  virtual ~RankMeetings() = default;

  /// The place of this rank in a group, and how many ranks that has. Exit 7 if
  /// this rank has left the run, 70 if there is no such group.
  struct Place {
    int rank, ranks;
  };
  virtual Expected<Place> placeIn(int64_t group) const = 0;

  /// Whether the process of another rank has ended or says that it does. Any
  /// thread may ask.
  virtual bool hasOneLeft() const { return false; }
  /// Heartbeats of other ranks that have come so far. Any thread may ask.
  virtual int64_t countHeartbeats() const { return 0; }
  /// How long gather() waits from now on.
  virtual void setTimeout(double /*seconds*/) {}
  /// Notes that `rank` of the run says why it ends: this one ends in silence.
  virtual void leaveWordTo(int /*rank*/) {}

  /// The value of each rank of a group. All ranks call with one title. Exit 7
  /// where a rank does not come, or comes with another title.
  template <typename T>
  Expected<std::vector<T>> gather(int64_t group, const T &own,
                                  std::string_view title) {
    static_assert(std::is_trivially_copyable_v<T>, "expects plain bytes");
    auto place = placeIn(group);
    if (!place)
      return place.takeError();
    std::vector<T> all(size_t(place->ranks));
    if (Status s = gatherBytes(group, &own, all.data(), sizeof(T), title); !s)
      return s.takeError();
    return all;
  }

private:
  virtual Status gatherBytes(int64_t group, const void *own, void *all,
                             int64_t bytes, std::string_view title) = 0;
};

/// Why an exchange has failed on a rank: by itself, because nothing moved, or
/// because another rank has failed.
enum class FailureCause : int { Own, Standstill, OtherRank };

/// The error of a rank whose exchange has failed. Unless it is the rank's own,
/// the ranks that failed meet within `seconds`: the error names a rank that
/// does not come. If all come, the first rank with the least cause reports its
/// error.
Error failTogether(RankMeetings &meetings, Error own, FailureCause cause,
                   double seconds);

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTE_RANKMEETINGS_H
