//===- ElementTest.cpp - Copies, fills, constants, accumulation -----------===//

#include "Harness.h"

using namespace weft;

namespace {

/// Copies element by element, by index arithmetic alone.
template <typename T>
void naiveCopy(const T *from, T *to, const Ints &dims, const Ints &source,
               const Ints &destination) {
  int64_t total = 1;
  for (int64_t dim : dims)
    total *= dim;
  for (int64_t i = 0; i < total; ++i) {
    int64_t rest = i, a = 0, b = 0;
    for (int64_t d = static_cast<int64_t>(dims.size()) - 1; d >= 0; --d) {
      a += rest % dims[d] * source[d];
      b += rest % dims[d] * destination[d];
      rest /= dims[d];
    }
    to[b] = from[a];
  }
}

template <typename T>
void checkCopy(const Ints &dims, const Ints &source, const Ints &destination,
               int64_t start = 0) {
  constexpr int64_t size = 200000;
  std::vector<T> from(size), want(size, 77), got(size, 77);
  for (int64_t i = 0; i < size; ++i)
    from[i] = static_cast<T>(i * 31 + 1);
  naiveCopy(from.data() + start, want.data(), dims, source, destination);
  std::vector<WeftCopyDim> list;
  for (size_t d = 0; d < dims.size(); ++d)
    list.push_back({dims[d], source[d], destination[d]});
  WeftCopyRecord record = {sizeof(T), static_cast<int64_t>(list.size())};
  TestContext context(2);
  callOk(context, weft_cpu_copy, {from.data() + start, got.data()},
         {record, list});
  EXPECT_EQ(got, want);
}

} // namespace

TEST(Copy, Layouts) {
  checkCopy<uint32_t>({}, {}, {});
  checkCopy<uint32_t>({1, 1}, {5, 9}, {7, 1});
  checkCopy<uint32_t>({100000}, {1}, {1});
  checkCopy<uint64_t>({50000}, {2}, {1});
  checkCopy<uint8_t>({300, 200}, {200, 1}, {1, 300});            // transpose
  checkCopy<uint16_t>({40, 30, 20}, {600, 20, 1}, {20, 800, 1}); // (0 2 1)
  checkCopy<uint32_t>({30, 70}, {0, 1}, {70, 1});     // broadcast row
  checkCopy<uint32_t>({30, 70}, {1, 0}, {70, 1});     // and column
  checkCopy<uint32_t>({8, 16}, {128, 1}, {64, 2}, 5); // slice
  checkCopy<uint32_t>({63}, {-1}, {1}, 62);           // reversed
  checkCopy<uint32_t>({2, 3, 2, 2, 2, 2, 2, 5},
                      {960, 320, 160, 80, 40, 20, 10, 2},
                      {480, 160, 80, 40, 20, 10, 5, 1});
}

TEST(Copy, Errors) {
  float x[4] = {};
  auto expect = [&](const std::string &message, WeftCopyRecord record,
                    const std::vector<WeftCopyDim> &dims) {
    expectError(70, message, weft_cpu_copy, {x, x}, {record, dims});
  };
  expect("expects 1, 2, 4 or 8 bytes per element, but got 3", {3, 0}, {});
  expect("expects rank of at least 0 and at most 8, but got 9", {4, 9},
         std::vector<WeftCopyDim>(9, {1, 1, 1}));
  expect("expects a record of 16 bytes and 1 entries of 24, but got 16", {4, 1},
         {});
  expect("expects dimension of at least 1, but got 0", {4, 1}, {{0, 1, 1}});
}

TEST(Fill, Types) {
  TestContext context(2);
  Floats f(50001, 0.0f);
  callOk(context, weft_cpu_fill, {f.data()},
         WeftFillRecord{WEFT_F32, 50001, 0.1});
  EXPECT_EQ(f, Floats(50001, 0.1f));
  Doubles d(3);
  callOk(context, weft_cpu_fill, {d.data()}, WeftFillRecord{WEFT_F64, 3, 0.1});
  EXPECT_EQ(d, Doubles(3, 0.1));
  std::vector<uint8_t> b(3);
  callOk(context, weft_cpu_fill, {b.data()}, WeftFillRecord{WEFT_I1, 3, 1.0});
  EXPECT_EQ(b, std::vector<uint8_t>(3, 1));
  Ints i(3);
  callOk(context, weft_cpu_fill, {i.data()},
         WeftFillRecord{WEFT_I64, 3, -100.0});
  EXPECT_EQ(i, Ints(3, -100));
  for (int64_t type : {WEFT_F16, WEFT_BF16}) {
    Lows low(3);
    callOk(context, weft_cpu_fill, {low.data()}, WeftFillRecord{type, 3, 0.1});
    EXPECT_EQ(low, Lows(3, toLow(0.1f, type)));
  }
  expectError(70,
              "expects dtype f32, f64, f16, bf16, i1, i32 or i64, but got 9",
              weft_cpu_fill, {f.data()}, WeftFillRecord{9, 1, 0.0});
  expectError(70, "expects elements of at least 0, but got -1", weft_cpu_fill,
              {f.data()}, WeftFillRecord{WEFT_F32, -1, 0.0});
}

TEST(Constant, AnyNumberOfBytes) {
  TestContext context(2);
  for (size_t count : {0, 1, 7, 8, 9, 40000}) {
    std::vector<unsigned char> bytes(count + 1);
    std::iota(bytes.begin(), bytes.end(), 1);
    std::vector<unsigned char> to(count + 1, 0xEE);
    bytes.pop_back();
    callOk(context, weft_cpu_constant, {to.data()},
           {WeftConstantRecord{WEFT_I1, int64_t(count)}, bytes});
    EXPECT_EQ(to.back(), 0xEE);
    to.pop_back();
    EXPECT_EQ(to, bytes);
  }
  Floats f(4);
  expectError(70,
              "expects a record of 16 bytes and 16 entries of 1, but got 24",
              weft_cpu_constant, {f.data()},
              {WeftConstantRecord{WEFT_F32, 16}, Doubles{0.5}});
}

TEST(Registry, FindsEveryRoutine) {
#define CHECK_ROUTINE(symbol)                                                  \
  EXPECT_EQ(weftFindLibraryRoutine(#symbol), symbol);
  WEFT_LIBRARY_ROUTINES(CHECK_ROUTINE)
#undef CHECK_ROUTINE
  EXPECT_EQ(weftFindLibraryRoutine("weft_cpu_nothing"), nullptr);
}
