//===- Ranks.h - The rank parts that a process runs -------------*- C++ -*-===//
//
// One rank runs on the thread of the process. Several are threads of their own,
// each with the team that it formed for its device: what a rank does, it does
// on its thread.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_RUN_RANKS_H
#define WEFT_RUNTIME_RUN_RANKS_H

#include "weft/Runtime/Run/RankPart.h"

#include <functional>

namespace weft {

class Ranks {
public:
  /// What a rank does.
  using Work = std::function<Status(RankPart &)>;

  explicit Ranks(const RunInputs &inputs);
  ~Ranks();
  Ranks(const Ranks &) = delete;
  Ranks &operator=(const Ranks &) = delete;

  /// Makes the ranks of the program, and their threads if there are several.
  void start();
  int count() const { return int(members.size()); }

  /// The rank that speaks for all: number 0.
  const RankPart &first() const;
  /// Its work, which no other rank has part in.
  Status onFirst(const Work &work);
  /// The same for all, one rank after the other: no collectives. Ends with the
  /// first that fails.
  Status inTurn(const Work &work);
  /// All ranks at once. Of several that fail, the error of the one that they
  /// agreed was the reason; else the one that says the most (severityOf), the
  /// first of equals.
  Status together(const Work &work);

private:
  struct Member;
  Status run(Member &member, const Work &work);

  const RunInputs &inputs;
  std::vector<std::unique_ptr<Member>> members;
};

} // namespace weft

#endif // WEFT_RUNTIME_RUN_RANKS_H
