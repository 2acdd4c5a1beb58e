//===- CudaEmbeddingTest.cpp - Embeddings of CUDA and of the CPU --------===//

#include "Emulated.h"

using namespace weft;

namespace {

struct Case {
  int64_t count = 50, rows = 11, columns = 7;
  int64_t dtype = WEFT_F32, dtypeTable = WEFT_F32, dtypeIds = WEFT_I64;
  int64_t accumulate = WEFT_OVERWRITE;
  float flag = 1.0f;
  size_t shift = 0;
};

int64_t bytesOf(int64_t dtype) { return dtype == WEFT_F32 ? 4 : 2; }

/// Bytes of `count` random elements.
std::vector<uint8_t> randomElements(int64_t count, int64_t dtype,
                                    unsigned seed) {
  Elements elements(randomFloats(count, seed), dtype);
  const auto *data = static_cast<uint8_t *>(elements.data());
  return {data, data + count * bytesOf(dtype)};
}

/// Ids of which some are frequent, as either type.
struct Ids {
  Ints wide;
  std::vector<int32_t> narrow;
  /// With `wild`, some have no row.
  Ids(const Case &c, unsigned seed, bool wild = false) {
    std::mt19937 generator(seed);
    for (int64_t i = 0; i < c.count; ++i) {
      bool frequent = generator() % 3 == 0;
      wide.push_back(generator() % (frequent ? 1 + c.rows / 8 : c.rows));
    }
    for (int64_t i = 0; wild && i < c.count; i += 3)
      wide[i] = i % 2 ? -1 - i : c.rows + i;
    narrow.assign(wide.begin(), wide.end());
  }
  const void *data(const Case &c) const {
    return c.dtypeIds == WEFT_I64 ? static_cast<const void *>(wide.data())
                                  : narrow.data();
  }
  /// For memory of the device.
  std::vector<uint8_t> bytes(const Case &c) const {
    const auto *begin = static_cast<const uint8_t *>(data(c));
    return {begin, begin + c.count * (c.dtypeIds == WEFT_I64 ? 8 : 4)};
  }
};

void checkGather(const Case &c, bool wild = false) {
  auto table = randomElements(c.rows * c.columns, c.dtype, 1);
  Ids ids(c, 2, wild);
  WeftEmbeddingRecord record = {c.count, c.rows, c.columns, c.dtypeIds,
                                c.dtype};
  size_t bytes = c.count * c.columns * bytesOf(c.dtype);
  Guarded<uint8_t> source(table, c.shift), out(bytes, c.shift),
      places(ids.bytes(c), 0);
  callCudaOk(WEFT_EMBEDDING, weft_cuda_embedding,
             {source.data(), places.data(), out.data()}, record);
  std::vector<uint8_t> want(bytes);
  TestContext context(1);
  callOk(context, weft_cpu_embedding, {table.data(), ids.data(c), want.data()},
         record);
  EXPECT_TRUE(sameBits(out.take(), want))
      << c.columns << " columns, dtype " << c.dtype;
}

/// The CPU's gradient, bit by bit.
void checkGrad(const Case &c, bool wild = false) {
  auto dout = randomElements(c.count * c.columns, c.dtype, 3);
  auto old = randomElements(c.rows * c.columns, c.dtypeTable, 4);
  bool adds = c.accumulate == WEFT_ADD ||
              (c.accumulate == WEFT_ADD_IF_FLAG && c.flag != 0.0f);
  if (!adds) // must not be read
    std::fill(old.begin(), old.end(), 0xff);
  Ids ids(c, 5, wild);
  WeftEmbeddingGradRecord record = {c.count,     c.rows,       c.columns,
                                    c.dtypeIds,  c.accumulate, c.dtype,
                                    c.dtypeTable};
  Guarded<uint8_t> source(dout, c.shift), table(old, c.shift),
      places(ids.bytes(c), 0);
  Guarded<float> flag(Floats{c.flag}, 0);
  std::vector<const void *> buffers = {source.data(), places.data(),
                                       table.data()};
  std::vector<const void *> plain = {dout.data(), ids.data(c), old.data()};
  if (c.accumulate == WEFT_ADD_IF_FLAG)
    buffers.push_back(flag.data()), plain.push_back(&c.flag);
  callCudaOk(WEFT_EMBEDDING_GRAD, weft_cuda_embedding_grad, buffers, record);
  TestContext context(1);
  callOk(context, weft_cpu_embedding_grad, plain, record);
  EXPECT_TRUE(sameBits(table.take(), old))
      << c.count << " x " << c.columns << " of " << c.rows << ", dtypes "
      << c.dtype << " " << c.dtypeTable << ", accumulate " << c.accumulate;
}

constexpr int64_t kTypes[][2] = {{WEFT_F32, WEFT_F32},
                                 {WEFT_F16, WEFT_F16},
                                 {WEFT_BF16, WEFT_BF16},
                                 {WEFT_F16, WEFT_F32},
                                 {WEFT_BF16, WEFT_F32}};

} // namespace

TEST(CudaEmbedding, Gathers) {
  for (int64_t dtype : {WEFT_F32, WEFT_F16, WEFT_BF16})
    for (int64_t columns : {1, 7, 8, 64, 100})
      for (size_t shift : {0, 4, 8}) {
        Case c;
        c.dtype = dtype, c.columns = columns, c.shift = shift;
        checkGather(c);
        c.dtypeIds = WEFT_I32;
        checkGather(c);
      }
}

// Both targets make the same of ids without a row.
TEST(CudaEmbedding, WildIdsAsOnTheCpu) {
  for (auto [dtype, dtypeTable] : kTypes)
    for (int64_t dtypeIds : {WEFT_I32, WEFT_I64}) {
      Case c;
      c.dtype = dtype, c.dtypeTable = dtypeTable, c.dtypeIds = dtypeIds;
      checkGather(c, /*wild=*/true);
      for (int64_t accumulate : {WEFT_OVERWRITE, WEFT_ADD}) {
        c.accumulate = accumulate;
        checkGrad(c, /*wild=*/true);
      }
    }
}

// The device cannot end the program: such a row is NaN.
TEST(CudaEmbedding, IdsOutOfRange) {
  Guarded<float> table(Floats{1, 2, 3, 4}, 0), out(8);
  Guarded<int64_t> ids(Ints{1, 2, -1, 0}, 0);
  callCudaOk(WEFT_EMBEDDING, weft_cuda_embedding,
             {table.data(), ids.data(), out.data()},
             WeftEmbeddingRecord{4, 2, 2, WEFT_I64, WEFT_F32});
  Floats rows = out.take();
  EXPECT_EQ(rows[0], 3.0f);
  EXPECT_EQ(rows[7], 2.0f);
  for (int i = 2; i < 6; ++i)
    EXPECT_TRUE(std::isnan(rows[i]));
}

TEST(CudaEmbeddingGrad, EveryTypeAndMode) {
  for (auto [dtype, dtypeTable] : kTypes)
    for (int64_t accumulate : {WEFT_OVERWRITE, WEFT_ADD, WEFT_ADD_IF_FLAG})
      for (float flag : {0.0f, 1.0f, -2.0f})
        for (int64_t columns : {7, 300}) {
          Case c;
          c.dtype = dtype, c.dtypeTable = dtypeTable;
          c.accumulate = accumulate, c.flag = flag, c.columns = columns;
          c.shift = columns == 7 ? 4 : 0;
          checkGrad(c);
        }
}

// Runs of one block, several, and more than are merged at once.
TEST(CudaEmbeddingGrad, Sizes) {
  for (int64_t count : {1, 1024, 1025, 33000})
    for (int64_t rows : {1, 1500}) {
      Case c;
      c.count = count, c.rows = rows, c.columns = 2, c.dtypeIds = WEFT_I32;
      checkGrad(c);
    }
}

// An id out of range is no row's.
TEST(CudaEmbeddingGrad, IdsOutOfRange) {
  Guarded<float> dout(Floats{1, 2, 4, 8}, 0), table(2);
  Guarded<int64_t> ids(Ints{1, 2, -1, 1}, 0);
  callCudaOk(WEFT_EMBEDDING_GRAD, weft_cuda_embedding_grad,
             {dout.data(), ids.data(), table.data()},
             WeftEmbeddingGradRecord{4, 2, 1, WEFT_I64, WEFT_OVERWRITE,
                                     WEFT_F32, WEFT_F32});
  EXPECT_EQ(table.take(), (Floats{0.0f, 9.0f}));
}

TEST(CudaEmbeddingGrad, Errors) {
  WeftEmbeddingGradRecord record = {1, 1, 1, WEFT_I64, 3, WEFT_F32, WEFT_F32};
  expectCudaError(WEFT_EMBEDDING_GRAD,
                  "expects accumulate of at least 0 and at most 2, but got 3",
                  weft_cuda_embedding_grad, {nullptr, nullptr, nullptr},
                  record);
  record.accumulate = 0, record.count = int64_t(1) << 31;
  expectCudaError(WEFT_EMBEDDING_GRAD,
                  "expects count of at least 1 and at most 2147483647, but "
                  "got 2147483648",
                  weft_cuda_embedding_grad, {nullptr, nullptr, nullptr},
                  record);
  expectCudaError(WEFT_EMBEDDING, "expects 3 buffers, but got 2",
                  weft_cuda_embedding, {nullptr, nullptr},
                  WeftEmbeddingRecord{1, 1, 1, WEFT_I64, WEFT_F32});
}
