//===- CubinTest.cpp - Reading machine code of devices --------------------===//

#include "CubinBuilder.h"

#include "weft/Formats/Cubin.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

using namespace weft;
using test::CubinBuilder;

namespace {

std::string problemOf(const std::string &bytes) {
  Expected<Cubin> cubin = readCubin(bytes);
  if (cubin)
    return "";
  EXPECT_EQ(cubin.error().code(), ExitCode::Input);
  return cubin.error().message();
}

} // namespace

TEST(Cubin, Kernels) {
  std::string bytes = CubinBuilder().build();
  Expected<Cubin> cubin = readCubin(bytes + "behind it");
  ASSERT_TRUE(cubin) << cubin.error().message();
  EXPECT_EQ(cubin->chip, "sm_90");
  EXPECT_EQ(cubin->abiVersion, 8u);
  EXPECT_EQ(cubin->bytes, bytes.size());
  ASSERT_EQ(cubin->kernels.size(), 2u);
  const CubinKernel &one = cubin->kernels[0], &two = cubin->kernels[1];
  EXPECT_EQ(one.name, "one");
  EXPECT_EQ(one.registers, 40u);
  EXPECT_EQ(one.localBytes, 16u);
  EXPECT_EQ(one.stackBytes, 24u);
  EXPECT_EQ(one.sharedBytes, 0u);
  EXPECT_EQ(one.codeBytes, 64u);
  EXPECT_EQ(one.threads, (std::array<uint32_t, 3>{32, 8, 1}));
  EXPECT_EQ(two.name, "two");
  EXPECT_EQ(two.registers, 255u);
  EXPECT_EQ(two.sharedBytes, 4096u);
  EXPECT_EQ(two.codeBytes, 32u);
  EXPECT_EQ(two.threads, (std::array<uint32_t, 3>{0, 0, 0}));
}

TEST(Cubin, SeveralInOneSection) {
  CubinBuilder later;
  later.flags = 0x6006404;
  std::string section = CubinBuilder().build();
  section.resize((section.size() + 15) / 16 * 16, '\0');
  section += later.build();
  auto cubins = readCubins(section);
  ASSERT_TRUE(cubins) << cubins.error().message();
  ASSERT_EQ(cubins->size(), 2u);
  EXPECT_EQ((*cubins)[0].chip, "sm_90");
  EXPECT_EQ((*cubins)[1].chip, "sm_100");
  EXPECT_EQ(readCubins("")->size(), 0u);
  section += "tail";
  EXPECT_FALSE(readCubins(section));
}

TEST(Cubin, BytesBetweenFiles) {
  std::string section = CubinBuilder().build();
  ASSERT_NE(section.size() % 16, 0u);
  section += 'x';
  section.resize((section.size() + 15) / 16 * 16, '\0');
  auto cubins = readCubins(section + CubinBuilder().build());
  ASSERT_FALSE(cubins);
  EXPECT_NE(cubins.error().message().find("bytes stand between"),
            std::string::npos);
}

TEST(Cubin, WhatIsWrong) {
  EXPECT_NE(problemOf("short").find("got 5 bytes"), std::string::npos);
  EXPECT_NE(problemOf(std::string(64, 'x')).find("no ELF file"),
            std::string::npos);
  std::string host = CubinBuilder().build();
  host[18] = 62;
  EXPECT_NE(problemOf(host).find("of machine 62"), std::string::npos);

  auto problemAfter = [](auto change) {
    CubinBuilder builder;
    change(builder.sections);
    return problemOf(builder.build());
  };
  using Sections = std::vector<CubinBuilder::Section>;
  auto expect = [&](auto change, const char *part) {
    std::string problem = problemAfter(change);
    EXPECT_NE(problem.find(part), std::string::npos) << problem;
  };
  expect([](Sections &s) { s[3].type = 1; }, "no table of symbols");
  expect([](Sections &s) { s[2].type = 1; }, "no table of symbols");
  expect([](Sections &s) { s[7].type = 2; }, "two tables of symbols");
  expect([](Sections &s) { s[6].name = ".text.other"; },
         "the kernel 'two' has no code");
  expect([](Sections &s) { s[6].content.resize(31); },
         "the code of the kernel 'two' ends too early");
  expect([](Sections &s) { s[3].content += s[3].content.substr(24, 24); },
         "the kernel 'one' is there twice");
  expect(
      [](Sections &s) {
        s[2].content.back() = 'x';
        s[3].content[48] = 9;
      },
      "a kernel has no name");
  expect([](Sections &s) { s[4].content.resize(36); },
         "the registers of the kernel 'two' are not there");
  expect([](Sections &s) { s[4].content += s[4].content.substr(0, 12); },
         "the registers of the kernel 'one' are there twice");
  expect([](Sections &s) { s[4].content.pop_back(); },
         "the notes in '.nv.info' cannot be read");
  expect([](Sections &s) { s[7].content[0] = 9; },
         "the notes in '.nv.info.one' cannot be read");
  expect(
      [](Sections &s) {
        s[7].content[6] = 8;
        s[7].content.resize(16);
      },
      "a note in '.nv.info.one' has 8 bytes");
  expect([](Sections &s) { s[8].info = 5; },
         "the section '.nv.shared.two' belongs to no kernel");
}

TEST(Cubin, EveryCutIsRefused) {
  std::string whole = CubinBuilder().build();
  for (size_t size = 0; size < whole.size(); ++size)
    // A string of its own, so that sanitizers detect reads behind its end.
    EXPECT_NE(problemOf(std::string(whole, 0, size)), "") << size;
}

/// Every bit turned, and seeded changes of several bytes: a cubin or an error.
TEST(Cubin, ChangedBytes) {
  const std::string whole = CubinBuilder().build();
  for (size_t i = 0; i < whole.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = whole;
      changed[i] = char(changed[i] ^ (1 << bit));
      problemOf(changed);
    }
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::string changed = whole;
    for (uint32_t count = 1 + random() % 8; count > 0; --count)
      changed[random() % changed.size()] = char(random());
    (void)readCubins(changed).ok();
    problemOf(changed);
  }
}
