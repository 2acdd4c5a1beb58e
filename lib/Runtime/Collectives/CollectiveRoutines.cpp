//===- CollectiveRoutines.cpp - Collectives as commands of programs -------===//
//
// Buffers are host-accessible memory. Records come from the compiler, but a
// program may be edited, so records are checked against the ranks of the run.
//
//===----------------------------------------------------------------------===//

#include "weft/Abi/CollectiveRecords.h"
#include "weft/Abi/TransferRecords.h"
#include "weft/Runtime/Collectives/RankGroups.h"
#include "weft/Runtime/Execute/DTypes.h"

#include <cmath>
#include <cstring>

using namespace weft;

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

static void failIf(WeftContext &context, Status status) {
  if (!status)
    context.fail(status.error().exitStatus(), status.error().where(),
                 status.error().hintText());
}

/// Gives a job to a stream, which stores its trace after the job has ended.
static void startIn(int64_t stream, WeftContext &context,
                    const WeftCommand &command, CommunicationThread::Job job) {
  CommandStreams &streams = *streamsOf(context);
  if (!context.traceHook)
    return failIf(context, streams.start(stream, std::move(job)));
  context.isTracedLater = true;
  auto traced = [&streams, &command, stream, job = std::move(job),
                 program = context.running] {
    const int64_t begin = steadyNs();
    Status done = job();
    streams.keep({program, &command, begin, steadyNs() - begin, stream});
    return done;
  };
  failIf(context, streams.start(stream, std::move(traced)));
}

/// The streams of an event's command, whose record is checked; null, with an
/// error in the context, on failure.
static CommandStreams *findStreams(WeftContext &context,
                                   const WeftCommand &command) {
  CommandStreams *streams = streamsOf(context);
  if (!streams)
    context.fail(7, concat(placeOf(command), ": expects rank ", context.rank(),
                           " among its ranks, but it has left the run"));
  else if (command.recordBytes != sizeof(WeftTransferRecord))
    context.fail(70, concat(placeOf(command), ": expects a record of ",
                            sizeof(WeftTransferRecord), " bytes, but got ",
                            command.recordBytes));
  else
    return streams;
  return nullptr;
}

void weft_host_record(WeftContext *context, const WeftCommand *command,
                      void *const *) {
  const auto *record = static_cast<const WeftTransferRecord *>(command->record);
  if (CommandStreams *streams = findStreams(*context, *command))
    streams->record(record->stream, record->event);
}

void weft_host_wait(WeftContext *context, const WeftCommand *command,
                    void *const *) {
  const auto *record = static_cast<const WeftTransferRecord *>(command->record);
  CommandStreams *streams = findStreams(*context, *command);
  if (!streams)
    return;
  failIf(*context, streams->wait(record->stream, record->event));
  if (context->traceHook)
    for (const TraceEvent &event : streams->take())
      context->traceHook(event);
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// The record of a command with at least its bytes; null, with an error in the
/// context, if it has another size.
template <typename Record>
static const Record *findRecord(WeftContext &context,
                                const WeftCommand &command, int64_t list) {
  const int64_t bytes = int64_t(sizeof(Record)) + 8 * list;
  if (command.record && command.recordBytes == bytes)
    return static_cast<const Record *>(command.record);
  context.fail(70, concat(placeOf(command), ": expects a record of ", bytes,
                          " bytes, but got ", command.recordBytes));
  return nullptr;
}

/// The connection of the participating ranks. Null, with an error in the
/// context, if this rank has left, or if the command expects another number.
static Communicator *findGroup(WeftContext &context, const WeftCommand &command,
                               const WeftRankGroup &among) {
  Communicator *group = findRanks(context, among.group, among.stream);
  if (!group) {
    context.fail(7, concat(placeOf(command), ": expects rank ", context.rank(),
                           " among its ranks, but it has left the run"));
    return nullptr;
  }
  if (group->ranks() == among.ranks)
    return group;
  context.fail(70, concat(placeOf(command), ": expects ", among.ranks,
                          " ranks, but got ", group->ranks()));
  return nullptr;
}

/// Runs the body of a command with its record and its ranks; `list` is the
/// number of entries that follow the record. A stream runs the body later,
/// unless a check hook inspects the buffers right after the command.
template <typename Record, typename Body>
static void runAmongRanks(WeftContext &context, const WeftCommand &command,
                          int64_t list, Body body) {
  const auto *record = findRecord<Record>(context, command, list);
  Communicator *group =
      record ? findGroup(context, command, record->among) : nullptr;
  if (!group)
    return;
  auto run = [record, group, body, title = placeOf(command)] {
    return body(*record, *group, title);
  };
  if (record->among.stream == 0)
    return failIf(context, run());
  if (context.checkHook) {
    const int64_t begin = steadyNs();
    failIf(context, run());
    streamsOf(context)->addWaited(steadyNs() - begin);
    return;
  }
  startIn(record->among.stream, context, command, std::move(run));
}

void weft_host_all_gather(WeftContext *context, const WeftCommand *command,
                          void *const *buffers) {
  runAmongRanks<WeftAllGatherRecord>(
      *context, *command, 0,
      [buffers](auto &record, Communicator &group, const std::string &title) {
        const int64_t bytes =
            record.elements * dtypeBytes(int32_t(record.dtype));
        return group.allGather(buffers[0], buffers[1], bytes, title);
      });
}

void weft_host_reduce_scatter(WeftContext *context, const WeftCommand *command,
                              void *const *buffers) {
  runAmongRanks<WeftReduceScatterRecord>(
      *context, *command, 0,
      [buffers](auto &record, Communicator &group, const std::string &title) {
        return group.reduceScatter(buffers[0], buffers[1], record.elements,
                                   int32_t(record.dtype), record.pre,
                                   record.post, title);
      });
}

void weft_host_own_slice(WeftContext *context, const WeftCommand *command,
                         void *const *buffers) {
  runAmongRanks<WeftOwnSliceRecord>(
      *context, *command, 0,
      [&](auto &record, Communicator &group, const std::string &) {
        const int64_t bytes =
            record.elements * dtypeBytes(int32_t(record.dtype));
        std::memcpy(buffers[1],
                    static_cast<const char *>(buffers[0]) +
                        group.rank() * bytes,
                    size_t(bytes));
        return Status::success();
      });
}

void weft_host_rank(WeftContext *context, const WeftCommand *command,
                    void *const *buffers) {
  runAmongRanks<WeftRankRecord>(
      *context, *command, 0,
      [&](auto &, Communicator &group, const std::string &) {
        *static_cast<int64_t *>(buffers[0]) = group.rank();
        return Status::success();
      });
}

//===----------------------------------------------------------------------===//
// all_reduce
//===----------------------------------------------------------------------===//

/// Reduces one number of each rank, in rank order.
static double reduce(int64_t kind, const double *each, size_t ranks,
                     size_t step) {
  double result = each[0];
  for (size_t rank = 1; rank < ranks; ++rank) {
    const double next = each[rank * step];
    if (kind == WEFT_RANK_SUM)
      result += next;
    else if (kind == WEFT_RANK_OR)
      result = result != 0 || next != 0;
    else if (!std::isnan(result) && !(result >= next)) // NaN stays
      result = next;
  }
  return result;
}

/// All numbers as f64; a flag is 0 or 1.
static std::vector<double> readNumbers(const int64_t *kinds, int64_t count,
                                       void *const *buffers) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < count; ++i)
    numbers.push_back(kinds[i] == WEFT_RANK_OR
                          ? *static_cast<const unsigned char *>(buffers[i])
                          : *static_cast<const double *>(buffers[i]));
  return numbers;
}

static void writeNumber(int64_t kind, double number, void *buffer) {
  if (kind == WEFT_RANK_OR)
    *static_cast<unsigned char *>(buffer) = number != 0;
  else
    *static_cast<double *>(buffer) = number;
}

void weft_host_all_reduce(WeftContext *context, const WeftCommand *command,
                          void *const *buffers) {
  const int64_t count = command->numBuffers / 2;
  runAmongRanks<WeftAllReduceRecord>(
      *context, *command, count,
      [&](auto &record, Communicator &group, const std::string &title) {
        const auto *kinds = reinterpret_cast<const int64_t *>(&record + 1);
        const std::vector<double> own = readNumbers(kinds, count, buffers);
        const size_t ranks = size_t(group.ranks());
        std::vector<double> each(own.size() * ranks);
        Status status = group.allGather(own.data(), each.data(), count * 8,
                                        title, Collective::AllReduce);
        for (int64_t i = 0; i < count && status; ++i)
          writeNumber(kinds[i],
                      reduce(kinds[i], &each[size_t(i)], ranks, own.size()),
                      buffers[count + i]);
        return status;
      });
}
