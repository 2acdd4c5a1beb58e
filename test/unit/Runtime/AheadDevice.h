//===- AheadDevice.h - A host that runs ahead of the runtime ----*- C++ -*-===//
//
// Computes the same as the host, and gives results when they are asked for:
// runs are done when they are started (a fast device) or as late as may be (a
// slow one). Results of other runs cannot be read, and a run that is started
// while too many are in flight ends the process.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_UNIT_RUNTIME_AHEADDEVICE_H
#define WEFT_TEST_UNIT_RUNTIME_AHEADDEVICE_H

#include "weft/Runtime/Devices/HostDevice.h"

#include <deque>
#include <map>

namespace weft {

class AheadDevice : public HostDevice {
public:
  AheadDevice(int threads, int runs, bool isLate)
      : HostDevice(threads), runs(runs), isLate(isLate) {}
  /// As the environment says: TOY_AHEAD=3 or TOY_AHEAD=3,late.
  static std::shared_ptr<AheadDevice> fromEnvironment(int threads);

  char *hostView() const override { return nullptr; }
  Status copyIn(int64_t offset, const void *data, int64_t bytes) override;
  Status copyOut(void *data, int64_t offset, int64_t bytes) override;
  Status zero(int64_t offset, int64_t bytes) override;
  char *inputBytes(const WeftPort &port) override;
  const char *outputBytes(const WeftPort &port) override;
  int runsInAdvance() const override { return runs; }
  int runsInFlight() const override { return int(inFlight.size()); }
  bool start(WeftContext &context, const WeftProgram &program) override;
  bool finish(WeftContext &context) override;
  Status synchronize() override;

  /// The most runs that were in flight at once.
  int mostInFlight() const { return most; }
  /// Runs of a micro program that began before the update of the step before
  /// was finished.
  int startedAhead() const { return ahead; }

private:
  using Mirrors = std::map<int64_t, std::vector<char>>;
  struct Run {
    WeftContext *context;
    const WeftProgram *program;
    Mirrors inputs, outputs;
    bool isDone = false, isGood = true;
  };
  static std::vector<char> &mirrorOf(Mirrors &mirrors, const WeftPort &port);
  void perform(Run &run);
  void performAll();

  const int runs;
  const bool isLate;
  Mirrors inputs, outputs;
  std::deque<Run> inFlight;
  int most = 0, ahead = 0;
};

} // namespace weft

#endif // WEFT_TEST_UNIT_RUNTIME_AHEADDEVICE_H
