//===- GroupLaunches.cpp - Run independent kernels in one launch ----------===//

#include "GpuEmitter.h"
#include "Grouper.h"
#include "weft/Lowering/Cuda/Passes.h"
#include "weft/Plan/PlanCollectives.h"

namespace weft {
#define GEN_PASS_DEF_GROUPLAUNCHESPASS
#include "weft/Lowering/Cuda/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {

/// A launch that may become part of a group.
struct Candidate {
  plan::LaunchOp launch;
  KernelOp kernel;
  bool isSmall;
};

/// Launches that become one, and their buffers by the memory that they are
/// views of.
class OpenGroup {
public:
  /// Whether the command may not run before the launches of the group, nor they
  /// before it.
  bool conflictsWith(plan::CommandOpInterface command) const;
  void add(const Candidate &candidate);
  void clear() { *this = OpenGroup(); }

  ArrayRef<Candidate> getLaunches() const { return launches; }
  int64_t getNumBuffers() const { return numBuffers; }

private:
  struct Part {
    plan::Layout layout;
    bool isWritten;
  };
  SmallVector<Candidate> launches;
  int64_t numBuffers = 0;
  llvm::DenseMap<Value, SmallVector<Part>> accesses;
};

/// Forms the groups of one program: one of small and one of large launches are
/// open at a time.
class LaunchGrouper : public Grouper {
public:
  using Grouper::Grouper;

  void run();

private:
  std::optional<Candidate> getCandidate(plan::CommandOpInterface command);
  bool mayJoin(const Candidate &candidate, const OpenGroup &group) const;
  void visit(plan::CommandOpInterface command);
  void close(OpenGroup &group);
  void replaceLaunches(ArrayRef<Candidate> launches);

  OpenGroup small, large;
};

} // namespace

//===----------------------------------------------------------------------===//
// Conflicts
//===----------------------------------------------------------------------===//

bool OpenGroup::conflictsWith(plan::CommandOpInterface command) const {
  for (const plan::Access &access : command.getAccesses()) {
    auto known = accesses.find(plan::getRoot(access.buffer));
    if (known == accesses.end())
      continue;
    auto layout = plan::Layout::get(cast<MemRefType>(access.buffer.getType()));
    for (const Part &part : known->second)
      if ((part.isWritten || access.isWritten) && part.layout.overlaps(layout))
        return true;
  }
  return false;
}

void OpenGroup::add(const Candidate &candidate) {
  auto command = cast<plan::CommandOpInterface>(*candidate.launch);
  launches.push_back(candidate);
  numBuffers += command->getNumOperands();
  for (const plan::Access &access : command.getAccesses())
    accesses[plan::getRoot(access.buffer)].push_back(
        {plan::Layout::get(cast<MemRefType>(access.buffer.getType())),
         access.isWritten});
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// Whether a gather among ranks reads a result of the launch. `weft-schedule`
/// starts a gather early, with the launches that it alone needs.
static bool isGathered(plan::LaunchOp launch) {
  return llvm::any_of(launch.getOutputs(), [](Value output) {
    const Value root = plan::getRoot(output);
    return llvm::any_of(plan::getUsers(root), [&](Operation *user) {
      auto gather = dyn_cast<plan::AllGatherOp>(user);
      return gather && gather.getRanks() > 1 &&
             plan::getRoot(gather.getSlice()) == root;
    });
  });
}

std::optional<Candidate>
LaunchGrouper::getCandidate(plan::CommandOpInterface command) {
  auto launch = dyn_cast<plan::LaunchOp>(command.getOperation());
  if (!launch || isGathered(launch))
    return std::nullopt;
  auto kernel = symbols.lookup<KernelOp>(launch.getKernel());
  if (!kernel)
    return std::nullopt;
  const KernelShape shape = KernelShape::get(kernel);
  if (shape.hasSums() || threadsOfBlock(shape) != kGroupThreads)
    return std::nullopt;
  int64_t bytes = 0;
  for (Value buffer : launch->getOperands())
    bytes += plan::getBufferBytes(cast<MemRefType>(buffer.getType()));
  return Candidate{launch, kernel, bytes <= mostBytes};
}

/// Whether two kernels have the same ops on the same element types.
static bool haveSameOps(KernelOp x, KernelOp y) {
  if (x == y)
    return true;
  if (x.getKind() != y.getKind())
    return false;
  auto &first = x.getBody().front().getOperations();
  auto &second = y.getBody().front().getOperations();
  if (first.size() != second.size())
    return false;
  return llvm::all_of(llvm::zip(first, second), [](auto pair) {
    auto &[a, b] = pair;
    if (a.getName() != b.getName() || a.getNumResults() != b.getNumResults())
      return false;
    return llvm::all_of(
        llvm::zip(a.getResultTypes(), b.getResultTypes()), [](auto types) {
          auto [s, t] = types;
          return getElementTypeOrSelf(s) == getElementTypeOrSelf(t);
        });
  });
}

bool LaunchGrouper::mayJoin(const Candidate &candidate,
                            const OpenGroup &group) const {
  if (group.getNumBuffers() + int64_t(candidate.launch->getNumOperands()) >
          mostBuffers ||
      group.conflictsWith(candidate.launch))
    return false;
  ArrayRef<Candidate> others = group.getLaunches();
  return candidate.isSmall || others.empty() ||
         haveSameOps(candidate.kernel, others.front().kernel);
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

void LaunchGrouper::visit(plan::CommandOpInterface command) {
  std::optional<Candidate> candidate = getCandidate(command);
  OpenGroup *own = !candidate ? nullptr : candidate->isSmall ? &small : &large;
  for (OpenGroup *group : {&small, &large})
    if (group != own && group->conflictsWith(command))
      close(*group);
  if (!own)
    return close(large);
  if (!mayJoin(*candidate, *own))
    close(*own);
  own->add(*candidate);
}

void LaunchGrouper::close(OpenGroup &group) {
  if (group.getLaunches().size() > 1)
    replaceLaunches(group.getLaunches());
  group.clear();
}

/// The sum of the counts; null if one is not known.
static IntegerAttr addFlops(ArrayRef<Candidate> launches) {
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  int64_t sum = 0;
  for (Candidate each : launches) {
    IntegerAttr flops = each.launch.getFlopsAttr();
    if (!flops)
      return {};
    sum = llvm::AddOverflow(sum, flops.getInt(), sum) ? most : sum;
  }
  return IntegerAttr::get(
      IntegerType::get(launches.front().launch->getContext(), 64), sum);
}

void LaunchGrouper::replaceLaunches(ArrayRef<Candidate> launches) {
  SmallVector<GroupMember> members;
  for (Candidate each : launches)
    members.push_back({each.launch, each.kernel, each.launch.getInputs(),
                       each.launch.getOutputs()});
  replace(members, addFlops(launches), FloatAttr());
}

void LaunchGrouper::run() {
  for (Operation &op : llvm::make_early_inc_range(program.getBody().front()))
    if (auto command = dyn_cast<plan::CommandOpInterface>(op))
      visit(command);
  close(small);
  close(large);
}

/// Whether the order of the program's commands is final.
static bool hasStreams(plan::ProgramOp program) {
  return llvm::any_of(
      program.getBody().front().getOps<plan::CommandOpInterface>(),
      [](plan::CommandOpInterface command) { return command.getStreamAttr(); });
}

namespace {
struct GroupLaunchesPass
    : weft::impl::GroupLaunchesPassBase<GroupLaunchesPass> {
  using GroupLaunchesPassBase::GroupLaunchesPassBase;

  void runOnOperation() override {
    if (failed(checkGroupBuffers(getOperation(), buffers)))
      return signalPassFailure();
    SymbolTable symbols(getOperation());
    for (auto program : getOperation().getOps<plan::ProgramOp>()) {
      if (hasStreams(program))
        continue;
      LaunchGrouper grouper(program, symbols, bytes, buffers);
      grouper.run();
      numGrouped += grouper.numGrouped;
      numGroups += grouper.numGroups;
    }
  }
};
} // namespace
