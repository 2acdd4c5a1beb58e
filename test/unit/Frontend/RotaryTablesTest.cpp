//===- RotaryTablesTest.cpp - Frequencies of rotary positions -------------===//

#include "RotaryTables.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace weft;

TEST(RotaryTables, FrequenciesFallGeometrically) {
  std::vector<float> frequencies = rotaryFrequencies({}, 8, 1);
  ASSERT_EQ(frequencies.size(), 4u);
  for (int i = 0; i < 4; ++i)
    EXPECT_NEAR(frequencies[i], std::pow(10.0, -i), 1e-7 * std::pow(10.0, -i));
}

TEST(RotaryTables, TablesHoldOneRowPerPosition) {
  RotaryTables tables = rotaryTables({}, 4, 3);
  ASSERT_EQ(tables.cos.size(), 6u);
  EXPECT_EQ(tables.cos[0], 1.0f);
  EXPECT_EQ(tables.sin[1], 0.0f);
  EXPECT_FLOAT_EQ(tables.cos[4], std::cos(2.0f));
  EXPECT_FLOAT_EQ(tables.sin[5], std::sin(0.02f));
}

/// Values of transformers' _compute_llama3_parameters for Llama 3.1 (head
/// width 128): short waves stay, long ones shrink by 8, those between blend.
TEST(RotaryTables, Llama3StretchesLongWaves) {
  RotaryConfig config;
  config.theta = 500000.0;
  config.scaling = RopeScaling::Llama3;
  config.factor = 8.0;
  config.originalContext = 8192;
  RotaryConfig base;
  base.theta = 500000.0;
  std::vector<float> plain = rotaryFrequencies(base, 128, 1);
  std::vector<float> stretched = rotaryFrequencies(config, 128, 1);
  EXPECT_EQ(stretched[0], plain[0]);
  EXPECT_EQ(stretched[63], plain[63] / 8.0f);
  int blended = 0;
  for (int i = 0; i < 64; ++i) {
    double wave = 2 * M_PI / plain[i];
    double smooth = (8192.0 / wave - 1.0) / 3.0;
    double expected = plain[i];
    if (wave > 8192.0)
      expected /= 8.0;
    else if (wave >= 2048.0) {
      expected = (1 - smooth) * plain[i] / 8.0 + smooth * plain[i];
      ++blended;
    }
    EXPECT_NEAR(stretched[i], expected, 1e-6 * expected);
  }
  EXPECT_GT(blended, 3);
}
