//===- LaunchesTest.cpp - Launches in the metadata of a program -----------===//

#include "weft/Formats/Launches.h"

#include <gtest/gtest.h>

using namespace weft;

static Expected<std::map<std::string, LaunchSizes>>
readFrom(const std::string &text) {
  auto json = parseJson(text, "metadata");
  EXPECT_TRUE(json.ok()) << text;
  return readLaunches(JsonCursor(*json, "metadata"));
}

TEST(Launches, OfEachKernel) {
  auto launches =
      readFrom(R"({"launches": {"a": [7, 32, 8], "b": [1, 256, 1]}})");
  ASSERT_TRUE(launches.ok()) << launches.error().where();
  ASSERT_EQ(launches->size(), 2u);
  EXPECT_EQ(launches->at("a").blocks, 7);
  EXPECT_EQ(launches->at("a").threadsX, 32);
  EXPECT_EQ(launches->at("a").threadsY, 8);
  EXPECT_TRUE(readFrom("{}")->empty());
}

TEST(Launches, WhatIsNone) {
  auto expect = [](const char *field, const std::string &message) {
    auto launches = readFrom(std::string("{\"launches\": ") + field + "}");
    ASSERT_FALSE(launches.ok()) << field;
    EXPECT_EQ(launches.error().message(), "field 'launches" + message);
  };
  expect("[]", "': expects an object, but got an array");
  expect("{\"k\": 3}", ".k': expects an array of integers, but got 3");
  expect("{\"k\": [1, 2]}",
         ".k': expects the blocks of a grid and the threads of a block along x "
         "and y, but got 2 numbers");
  expect("{\"k\": [1, 2, 0]}",
         ".k[2]': expects an integer of at least 1, but got 0");
  expect("{\"k\": [1, \"2\", 1]}",
         ".k[1]': expects an integer of at least 1, but got the string '2'");
}
