//===- CopyTest.cpp - Copies, fills and constants of CUDA -----------------===//

#include "Emulated.h"
#include "KernelArguments.h"
#include "weft/Runtime/Devices/Launch.h"

#include <algorithm>
#include <numeric>

using namespace weft;

namespace {

using Dims = std::vector<WeftCopyDim>;
using Names = std::vector<std::string>;

/// The lowest and the highest place that a copy touches on one side.
struct Extent {
  int64_t low = 0, high = 0;
  Extent(const Dims &dims, int64_t WeftCopyDim::*stride) {
    for (const WeftCopyDim &dim : dims) {
      int64_t reach = (dim.size - 1) * (dim.*stride);
      (reach < 0 ? low : high) += reach;
    }
  }
  int64_t size() const { return high - low + 1; }
};

/// Compares a copy of elements T with loops over all of its places.
template <typename T> void checkCopyOf(const Dims &dims, size_t shift) {
  Extent from(dims, &WeftCopyDim::from), to(dims, &WeftCopyDim::to);
  std::vector<T> values(from.size());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<T>((i + 1) * 0x9e3779b97f4a7c15u >> 3);
  Guarded<T> source(values, shift), destination(to.size(), (shift * 3) % 8);
  std::vector<T> want(to.size(), static_cast<T>(-1));
  int64_t count = 1;
  for (const WeftCopyDim &dim : dims)
    count *= dim.size;
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, at = -from.low, place = -to.low;
    for (size_t k = dims.size(); k-- > 0; rest /= dims[k].size) {
      at += rest % dims[k].size * dims[k].from;
      place += rest % dims[k].size * dims[k].to;
    }
    want[place] = values[at];
  }
  WeftCopyRecord record = {sizeof(T), static_cast<int64_t>(dims.size())};
  callCudaOk(WEFT_COPY, weft_cuda_copy,
             {source.data() - from.low, destination.data() - to.low},
             {record, dims});
  EXPECT_TRUE(sameBits(destination.take(), want)) << sizeof(T) << " " << shift;
}

void checkCopies(const Dims &dims) {
  for (size_t shift : {0, 1, 2, 4, 5}) {
    checkCopyOf<uint8_t>(dims, shift);
    checkCopyOf<uint16_t>(dims, shift);
    checkCopyOf<uint32_t>(dims, shift);
    checkCopyOf<uint64_t>(dims, shift);
  }
}

/// Dense on both sides, the destination's dimensions in the order `order`.
Dims permuted(std::vector<int64_t> sizes, std::vector<size_t> order) {
  Dims dims;
  for (int64_t size : sizes)
    dims.push_back({size, 0, 0});
  int64_t from = 1, to = 1;
  for (size_t i = sizes.size(); i-- > 0; from *= sizes[i])
    dims[i].from = from;
  for (size_t i = sizes.size(); i-- > 0; to *= sizes[order[i]])
    dims[order[i]].to = to;
  return dims;
}

Names launchesOf(const Dims &dims, int64_t bytes) {
  Extent from(dims, &WeftCopyDim::from), to(dims, &WeftCopyDim::to);
  Guarded<uint64_t> source(std::vector<uint64_t>(from.size()), 0);
  Guarded<uint64_t> destination(to.size());
  takeLaunches();
  WeftCopyRecord record = {bytes, static_cast<int64_t>(dims.size())};
  callCudaOk(WEFT_COPY, weft_cuda_copy, {source.data(), destination.data()},
             {record, dims});
  return takeLaunches();
}

} // namespace

TEST(CudaCopy, Shapes) {
  checkCopies({});
  checkCopies({{1, 7, 9}});
  checkCopies({{300, 1, 1}});
  checkCopies({{5, 64, 96}, {48, 1, 1}});
  checkCopies({{5, 67, 51}, {33, 1, 1}});
  checkCopies({{40, 0, 1}});
  checkCopies({{7, 0, 20}, {20, 1, 1}});
  checkCopies({{7, 1, 20}, {20, 0, 1}});
  checkCopies({{9, -1, 1}});
  checkCopies({{6, 40, -30}, {29, -1, 1}});
  checkCopies({{3, 200, 150}, {50, 4, 3}});
}

TEST(CudaCopy, EveryPermutation) {
  std::vector<size_t> order = {0, 1, 2, 3};
  do {
    checkCopies(permuted({3, 5, 35, 9}, order));
    checkCopies(permuted({2, 16, 4, 8}, order));
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(CudaCopy, RankOfEight) {
  checkCopies(permuted({2, 3, 2, 1, 2, 3, 2, 3}, {7, 2, 5, 4, 3, 0, 6, 1}));
}

// The kernel that is chosen for each copy.
TEST(CudaCopy, Kernels) {
  EXPECT_EQ(launchesOf({{4, 16, 16}, {16, 1, 1}}, 4), Names{"copy"});
  EXPECT_EQ(launchesOf({{4, 20, 16}, {16, 1, 1}}, 4), Names{"weft_copy_16"});
  EXPECT_EQ(launchesOf({{4, 20, 15}, {15, 1, 1}}, 2), Names{"weft_copy_2"});
  EXPECT_EQ(launchesOf({{4, 20, 18}, {18, 1, 1}}, 2), Names{"weft_copy_4"});
  EXPECT_EQ(launchesOf(permuted({40, 50}, {1, 0}), 2),
            Names{"weft_transpose_2"});
  EXPECT_EQ(launchesOf(permuted({2, 64, 4, 32}, {0, 2, 1, 3}), 4),
            Names{"weft_copy_16"});
  EXPECT_EQ(launchesOf({{100, 3, 1}}, 8), Names{"weft_copy_8"});
}

/// A transpose of 70 x 45 units by one block, which takes tile after tile: as
/// blocks of a grid with fewer blocks than tiles do.
template <typename Unit> static void checkTilesOfOneBlock() {
  constexpr int64_t kRows = 70, kColumns = 45;
  std::vector<Unit> values(kRows * kColumns), want(kRows * kColumns);
  for (int64_t i = 0; i < kRows * kColumns; ++i) {
    values[i] = static_cast<Unit>(i * 7);
    want[i % kRows * kColumns + i / kRows] = values[i];
  }
  Guarded<Unit> from(values, 0), to(values.size());
  cuda::TransposeArguments a = {};
  a.from = from.data(), a.to = to.data();
  a.row = {kRows, 1, kColumns}, a.column = {kColumns, kRows, 1};
  a.rowTiles = 3, a.columnTiles = 2, a.tiles = 6;
  LaunchShape shape;
  shape.block[0] = cuda::kMoveThreads;
  shape.sharedBytes =
      cuda::kTransposeTile * (cuda::kTransposeTile + 1) * sizeof(Unit);
  TestContext context(1);
  WeftCommand command = {};
  void *arguments[] = {&a};
  std::string name = "weft_transpose_" + std::to_string(sizeof(Unit));
  launchKernel(context, command, name.c_str(), shape, arguments);
  EXPECT_TRUE(sameBits(to.take(), want)) << name;
}

TEST(CudaCopy, OneBlockTakesManyTiles) {
  checkTilesOfOneBlock<uint8_t>();
  checkTilesOfOneBlock<uint16_t>();
  checkTilesOfOneBlock<uint32_t>();
  checkTilesOfOneBlock<uint64_t>();
}

TEST(CudaCopy, Errors) {
  expectCudaError(WEFT_COPY,
                  "expects 1, 2, 4 or 8 bytes per element, but got 3",
                  weft_cuda_copy, {nullptr, nullptr}, WeftCopyRecord{3, 0});
  expectCudaError(WEFT_COPY, "expects dimension of at least 1, but got 0",
                  weft_cuda_copy, {nullptr, nullptr},
                  {WeftCopyRecord{4, 1}, Dims{{0, 1, 1}}});
  expectCudaError(WEFT_COPY, "expects 2 buffers, but got 1", weft_cuda_copy,
                  {nullptr}, WeftCopyRecord{4, 0});
  expectCudaError(
      WEFT_COPY, "expects a command of kind copy (6), but got fill (7)",
      weft_cuda_copy, {nullptr, nullptr}, WeftCopyRecord{4, 0}, WEFT_FILL);
}

namespace {

template <typename T>
void checkFillOf(int64_t dtype, double value, T bits, const char *kernel) {
  for (int64_t count : {0, 1, 7, 64, 1000})
    for (size_t shift : {0, 1, 4}) {
      Guarded<T> to(count, shift);
      takeLaunches();
      callCudaOk(WEFT_FILL, weft_cuda_fill, {to.data()},
                 WeftFillRecord{dtype, count, value});
      EXPECT_TRUE(sameBits(to.take(), std::vector<T>(count, bits)));
      if (shift == 0 && count == 64) {
        EXPECT_EQ(takeLaunches(), Names{kernel});
      }
    }
}

} // namespace

TEST(CudaFill, EveryType) {
  checkFillOf<uint32_t>(WEFT_F32, 1.5, 0x3fc00000, "weft_fill_16");
  checkFillOf<uint32_t>(WEFT_F32, 0.0, 0, "fill");
  checkFillOf<uint64_t>(WEFT_F64, 1.5, 0x3ff8000000000000, "weft_fill_16");
  checkFillOf<uint16_t>(WEFT_F16, 1.5, 0x3e00, "weft_fill_16");
  checkFillOf<uint16_t>(WEFT_BF16, 1.5, 0x3fc0, "weft_fill_16");
  checkFillOf<uint8_t>(WEFT_I1, 1.0, 1, "fill");
  checkFillOf<uint32_t>(WEFT_I32, -3.0, 0xfffffffd, "weft_fill_16");
  checkFillOf<uint64_t>(WEFT_I64, 0x01010101, 0x01010101, "weft_fill_16");
}

TEST(CudaFill, Errors) {
  expectCudaError(WEFT_FILL,
                  "expects dtype f32, f64, f16, bf16, i1, i32 or i64, but "
                  "got 9",
                  weft_cuda_fill, {nullptr}, WeftFillRecord{9, 1, 0.0});
}

TEST(CudaConstant, IsOneCopy) {
  Lows values(3001);
  std::iota(values.begin(), values.end(), 7);
  Guarded<uint16_t> to(values.size(), 1);
  takeLaunches();
  callCudaOk(WEFT_CONSTANT, weft_cuda_constant, {to.data()},
             {WeftConstantRecord{WEFT_BF16, 6002}, values});
  EXPECT_EQ(to.take(), values);
  EXPECT_EQ(takeLaunches(), std::vector<std::string>{"copy"});
}
