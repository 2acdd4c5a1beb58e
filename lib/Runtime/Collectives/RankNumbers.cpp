//===- RankNumbers.cpp - Numbers of all ranks -----------------------------===//

#include "weft/Runtime/Collectives/RankNumbers.h"

#include "weft/Runtime/Collectives/RankGroups.h"

using namespace weft;

Expected<RankNumbers> weft::gatherNumbers(WeftContext &context,
                                          const std::vector<double> &own,
                                          const std::string &title) {
  Communicator *all = findRanks(context, 0);
  if (!all)
    return Error(ExitCode::Communication,
                 "expects rank " + std::to_string(context.rank()) + " in " +
                     title + ", but it has left the run");
  std::vector<double> each(own.size() * size_t(all->ranks()));
  if (Status s = all->allGather(own.data(), each.data(),
                                int64_t(own.size() * sizeof(double)), title,
                                Collective::Numbers);
      !s)
    return s.takeError();
  RankNumbers numbers;
  for (auto at = each.begin(); at != each.end(); at += ptrdiff_t(own.size()))
    numbers.emplace_back(at, at + ptrdiff_t(own.size()));
  return numbers;
}

double weft::sumOverRanks(const RankNumbers &all, size_t i) {
  double sum = 0;
  for (const std::vector<double> &ofRank : all)
    sum += ofRank[i];
  return sum;
}
