//===- Embedding.cpp - Gather and scatter-add of table rows ---------------===//

#include "FloatRuns.h"
#include "RecordChecks.h"

#include <algorithm>
#include <cstring>

namespace weft {
namespace {

/// Ids, of which some may name no row of the table.
class RowIds {
public:
  RowIds(const void *data, int64_t dtype, int64_t rows)
      : ids(data, dtype), rows(rows) {}
  int64_t operator[](int64_t n) const { return ids[n]; }
  bool hasRow(int64_t n) const { return ids[n] >= 0 && ids[n] < rows; }

private:
  Indices ids;
  int64_t rows;
};

/// Row `n` of a gather; NaN for an id without a row, as on devices, which
/// cannot end the program (docs/reference/plan-ops.md, plan.embedding).
void gatherRow(FloatBuffer table, const RowIds &ids, int64_t n, int64_t width,
               FloatBuffer out) {
  const FloatFormat &format = *findFloatFormat(table.dtype);
  char *to = static_cast<char *>(out.at(n * width));
  if (ids.hasRow(n)) {
    std::memcpy(to, table.at(ids[n] * width), width * format.bytes);
    return;
  }
  for (int64_t i = 0; i < width; ++i)
    std::memcpy(to + i * format.bytes, &format.nanBits, format.bytes);
}

/// Columns a part of the scatter-add takes: whole cache lines.
constexpr int64_t kColumnGrain = 64;

/// Positions grouped by id, ascending; ids without a row are left out.
class Groups {
public:
  /// A counting sort; `memory` holds (count + rows + 1) 64-bit integers.
  Groups(const RowIds &ids, int64_t count, int64_t rows, void *memory)
      : rows(rows), ends(static_cast<int64_t *>(memory)),
        order(ends + rows + 1) {
    std::fill(ends, ends + rows + 1, 0);
    for (int64_t n = 0; n < count; ++n)
      if (ids.hasRow(n))
        ++ends[ids[n] + 1];
    for (int64_t id = 0; id < rows; ++id)
      ends[id + 1] += ends[id];
    // Each begin moves to its end, which is the next one's begin.
    for (int64_t n = 0; n < count; ++n)
      if (ids.hasRow(n))
        order[ends[ids[n]]++] = n;
  }
  /// Calls body(id, first position, behind the last) for each id that occurs.
  template <typename Body> void forEach(Body body) const {
    for (int64_t id = 0, begin = 0; id < rows; begin = ends[id++])
      if (ends[id] != begin)
        body(id, order + begin, order + ends[id]);
  }

private:
  int64_t rows;
  int64_t *ends, *order;
};

/// Adds rows of dout one by one; a low table is rounded after each.
void addInOrder(const Loops &loops, const RowIds &ids, int64_t count,
                int64_t width, FloatBuffer dout, FloatBuffer dtable,
                RangePart part) {
  FloatRun from(loops, dout), to(loops, dtable);
  forEachRun(part.begin, part.end, [&](int64_t column, int64_t columns) {
    for (int64_t n = 0; n < count; ++n) {
      if (!ids.hasRow(n))
        continue;
      int64_t at = ids[n] * width + column;
      float *row = to.read(at, columns);
      loops.addRows(columns, from.read(n * width + column, columns), row);
      to.write(at, columns);
    }
  });
}

/// Adds all rows of an id in f64 and rounds their sum.
void addInGroups(const Loops &loops, const Groups &groups, int64_t width,
                 FloatBuffer dout, float *dtable, RangePart part) {
  FloatRun from(loops, dout);
  double sums[kRunLength];
  forEachRun(part.begin, part.end, [&](int64_t column, int64_t columns) {
    groups.forEach([&](int64_t id, const int64_t *n, const int64_t *end) {
      float *row = dtable + id * width + column;
      std::copy(row, row + columns, sums);
      for (; n != end; ++n)
        loops.addWide(columns, from.read(*n * width + column, columns), sums);
      std::copy(sums, sums + columns, row);
    });
  });
}

void clear(WeftContext &context, FloatBuffer table, int64_t count) {
  context.parallelFor(count, kElementGrain, [&](RangePart part) {
    std::memset(table.at(part.begin), 0,
                (part.end - part.begin) * floatBytes(table.dtype));
  });
}

/// Threads take columns, so that every sum runs over the ids in order.
void scatter(WeftContext &context, const WeftEmbeddingGradRecord &record,
             const RowIds &ids, FloatBuffer dout, FloatBuffer dtable,
             char *workspace) {
  const Loops &loops = loopsOf(context);
  int64_t count = record.count, rows = record.rows, width = record.columns;
  if (!dtable.isWide())
    return context.parallelFor(width, kColumnGrain, [&](RangePart part) {
      addInOrder(loops, ids, count, width, dout, dtable, part);
    });
  Groups groups(ids, count, rows, workspace);
  context.parallelFor(width, kColumnGrain, [&](RangePart part) {
    addInGroups(loops, groups, width, dout, as<float>(dtable.data), part);
  });
}

} // namespace
} // namespace weft

using namespace weft;

extern "C" void weft_cpu_embedding(WeftContext *context,
                                   const WeftCommand *command,
                                   void *const *buffers) {
  const auto *record = recordOf<WEFT_EMBEDDING>(*context, *command);
  if (!record || !checkEmbedding(*context, *command, *record))
    return;
  int64_t count = record->count, width = record->columns;
  RowIds ids(buffers[1], record->dtypeIds, record->rows);
  FloatBuffer table = {buffers[0], record->dtype};
  FloatBuffer out = {buffers[2], record->dtype};
  int64_t grain = std::max<int64_t>(1, kElementGrain / width);
  context->parallelFor(count, grain, [&](RangePart part) {
    for (int64_t n = part.begin; n < part.end; ++n)
      gatherRow(table, ids, n, width, out);
  });
}

extern "C" void weft_cpu_embedding_grad(WeftContext *context,
                                        const WeftCommand *command,
                                        void *const *buffers) {
  const auto *record = recordOf<WEFT_EMBEDDING_GRAD>(*context, *command);
  if (!record || !checkEmbeddingGrad(*context, *command, *record))
    return;
  RowIds ids(buffers[1], record->dtypeIds, record->rows);
  FloatBuffer dout = {buffers[0], record->dtypeOut};
  FloatBuffer dtable = {buffers[2], record->dtypeTable};
  int64_t wanted = embeddingGradWorkspaceBytes(*record);
  char *workspace = nullptr;
  if (wanted > 0 &&
      !(workspace = workspaceOf(*context, *command, buffers, wanted)))
    return;
  bool hasFlag = record->accumulate == WEFT_ADD_IF_FLAG;
  if (!addsToDestination(record->accumulate, hasFlag ? buffers[3] : nullptr))
    clear(*context, dtable, record->rows * record->columns);
  scatter(*context, *record, ids, dout, dtable, workspace);
}
