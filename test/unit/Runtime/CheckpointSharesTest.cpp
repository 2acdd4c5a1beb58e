//===- CheckpointSharesTest.cpp - Shares of a checkpoint by rank ----------===//

#include "weft/Runtime/Checkpoints/CheckpointShares.h"

#include <gtest/gtest.h>

#include <deque>

using namespace weft;

namespace {

/// Tensors of f32 at any places; what they point to stays where it is.
class SharesTest : public testing::Test {
protected:
  /// All ranks hold it, if it has no slices; else it is one segment, whose last
  /// slice is not full.
  void add(int64_t elements, int32_t slices = 0) {
    const int64_t inSlice =
        slices == 0 ? elements : (elements + slices) / slices;
    dims.push_back(elements);
    segments.push_back({"p", "", 1, &dims.back(), 0, elements});
    sliceDims.push_back(inSlice);
    const std::string &name =
        names.emplace_back("t" + std::to_string(names.size()));
    homes.push_back({name.c_str(), "", "", WEFT_OPTIMIZER, WEFT_F32, 1, 1,
                     &sliceDims.back(), end, 4 * inSlice, "m",
                     slices == 0 ? nullptr : &segments.back(), slices != 0,
                     std::max(slices, 1)});
    end += 4 * inSlice;
    for (const NamedTensor &tensor : namedTensors(homes.back()))
      saved.push_back(tensor);
  }

  /// Every element is written once, by a rank that holds it; the bytes of each
  /// rank.
  std::vector<int64_t> bytesOf(int64_t ranks) {
    std::vector<int64_t> bytes(static_cast<size_t>(ranks));
    const auto shares = shareWrites(saved, ranks);
    EXPECT_EQ(shares.size(), saved.size());
    for (size_t i = 0; i < saved.size(); ++i) {
      int64_t at = 0;
      for (const WrittenPiece &piece : shares[i]) {
        const HeldRange held = heldBy(saved[i], piece.rank);
        const HeldRange place = placeOf(saved[i], piece);
        EXPECT_EQ(piece.begin, at);
        EXPECT_GT(piece.end, at);
        EXPECT_TRUE(held.begin <= piece.begin && piece.end <= held.end);
        EXPECT_EQ(place.offset, held.offset + 4 * (piece.begin - held.begin));
        EXPECT_EQ(place.elements(), piece.end - piece.begin);
        bytes[size_t(piece.rank)] += 4 * (piece.end - piece.begin);
        at = piece.end;
      }
      EXPECT_EQ(at, saved[i].elements);
    }
    return bytes;
  }

  static int64_t spread(const std::vector<int64_t> &bytes) {
    const auto [least, most] = std::minmax_element(bytes.begin(), bytes.end());
    return *most - *least;
  }

  std::deque<int64_t> dims, sliceDims;
  std::deque<WeftSegment> segments;
  std::deque<std::string> names;
  std::deque<WeftTensor> homes;
  std::vector<NamedTensor> saved;
  int64_t end = 0;
};

TEST_F(SharesTest, OneRankWritesAll) {
  add(3);
  add(100000);
  EXPECT_EQ(bytesOf(1), std::vector<int64_t>{4 * 100003});
}

// Small ones stay whole.
TEST_F(SharesTest, WholeTensorsGoToTheRankWithTheLeast) {
  for (int64_t elements : {1, 700, 300, 400, 1, 600})
    add(elements);
  EXPECT_EQ(bytesOf(2), (std::vector<int64_t>{4 * 1001, 4 * 1001}));
  const auto shares = shareWrites(saved, 2);
  for (const auto &pieces : shares)
    EXPECT_EQ(pieces.size(), 1u);
}

// A large embedding beside small weights.
TEST_F(SharesTest, LargeTensorsAreCut) {
  add(5000000);
  for (int i = 0; i < 40; ++i)
    add(20000 + i);
  for (int64_t ranks : {2, 3, 4, 7}) {
    const auto bytes = bytesOf(ranks);
    EXPECT_LT(spread(bytes), 4 * 20040) << ranks;
    EXPECT_EQ(shareWrites(saved, ranks)[0].size(), size_t(ranks));
    EXPECT_EQ(shareWrites(saved, ranks)[1].size(), 1u);
  }
}

// A shard is written by the ranks that hold it: one rank, or the replicas of a
// mesh replica:2,shard:3.
TEST_F(SharesTest, HoldersOfASliceShareIt) {
  add(9000000, 3);
  add(30000, 3);
  add(1500000);
  add(9000);
  EXPECT_LT(spread(bytesOf(3)), 4 * 30000);
  EXPECT_LT(spread(bytesOf(6)), 4 * 30000);
  // Each rank holds a shard of its own, and writes it alone.
  const auto shares = shareWrites(saved, 3);
  for (const WrittenPiece &piece : shares[0])
    EXPECT_EQ(piece.begin, piece.rank * 3000001);
}

// More ranks than elements.
TEST_F(SharesTest, SomeRanksWriteNothing) {
  add(2);
  add(4, 4);
  const auto bytes = bytesOf(8);
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), 0), 5);
}

} // namespace
