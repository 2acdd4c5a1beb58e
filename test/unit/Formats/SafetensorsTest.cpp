//===- SafetensorsTest.cpp - Reading of .safetensors ----------------------===//

#include "weft/Formats/Safetensors.h"

#include "../Base/TestSupport.h"
#include "SafetensorsBytes.h"

#include <cmath>
#include <cstring>

using namespace weft;

static Expected<SafetensorsFile> parseBytes(const std::string &bytes) {
  return SafetensorsFile::open(std::make_unique<MemoryBytes>(
      reinterpret_cast<const uint8_t *>(bytes.data()),
      static_cast<int64_t>(bytes.size()), "m.st"));
}
static std::string headerFailure(const std::string &header,
                                 const std::string &data = "") {
  return errorOf(parseBytes(fileBytes(header, data)));
}

TEST(TensorType, NamesAndSizes) {
  struct Row {
    const char *name;
    int bits;
  };
  for (Row row :
       {Row{"BOOL", 8}, {"F4", 4},          {"F6_E2M3", 6},     {"F6_E3M2", 6},
        {"U8", 8},      {"I8", 8},          {"F8_E5M2", 8},     {"F8_E4M3", 8},
        {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
        {"U16", 16},    {"F16", 16},        {"BF16", 16},       {"I32", 32},
        {"U32", 32},    {"F32", 32},        {"C64", 64},        {"F64", 64},
        {"I64", 64},    {"U64", 64}}) {
    auto type = parseTensorType(row.name);
    ASSERT_TRUE(type) << row.name;
    EXPECT_STREQ(tensorTypeName(*type), row.name);
    EXPECT_EQ(tensorTypeBits(*type), row.bits) << row.name;
  }
  EXPECT_FALSE(parseTensorType("f32"));
}

TEST(TensorType, Counts) {
  EXPECT_EQ(countElements({}), 1);
  EXPECT_EQ(countElements({2, 0, 3}), 0);
  EXPECT_FALSE(countElements({-1}));
  EXPECT_FALSE(countElements({INT64_MAX, 2}));
  EXPECT_EQ(countBytes(TensorType::F4, {6}), 3);
  EXPECT_FALSE(countBytes(TensorType::F4, {3}));
  EXPECT_FALSE(countBytes(TensorType::F32, {INT64_MAX / 8}));
  EXPECT_EQ(shapeText({2, 3}), "[2, 3]");
  EXPECT_EQ(shapeText({}), "[]");
}

TEST(Safetensors, ReadsTensorsInTheOrderOfTheirBytes) {
  std::string data("\x00\x00\x80\x3f\x00\x00\x00\x40\x07\x00\x00\x00", 12);
  auto bytes = fileBytes("{\"__metadata__\":{\"format\":\"pt\"},\"b\":" +
                             entry("I32", "[1]", "[8,12]") + ",\"a\":" +
                             entry("F32", "[2,1]", "[0,8]") + "}   ",
                         data);
  auto file = parseBytes(bytes);
  ASSERT_EQ(errorOf(file), "ok");
  ASSERT_EQ(file->tensors().size(), 2u);
  EXPECT_EQ(file->tensors()[0].name, "a");
  EXPECT_EQ(file->tensors()[0].shape, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(file->tensors()[1].type, TensorType::I32);
  EXPECT_EQ(file->metadata(), (StringMap{{"format", "pt"}}));
  int32_t seven = 0;
  EXPECT_EQ(errorOf(file->read(*file->find("b"), &seven)), "ok");
  EXPECT_EQ(seven, 7);
  EXPECT_EQ(errorOf(file->read(*file->find("b"), 2, 3, &seven)),
            "3|m.st: tensor 'b' has 4 bytes, but got the range from 2 of "
            "length 3");
  EXPECT_EQ(file->find("c"), nullptr);
  float out[2];
  EXPECT_EQ(errorOf(file->readFloats(*file->find("a"), out)), "ok");
  EXPECT_EQ(out[0], 1.0f);
  EXPECT_EQ(out[1], 2.0f);
}

TEST(Safetensors, ReferenceBytes) {
  // The empty file as the reference implementation writes it.
  auto file = parseBytes(std::string("\x08\0\0\0\0\0\0\0{}      ", 16));
  ASSERT_EQ(errorOf(file), "ok");
  EXPECT_TRUE(file->tensors().empty());
}

TEST(Safetensors, EmptyTensorsAndScalars) {
  auto bytes = fileBytes("{\"z\":" + entry("F32", "[0,5]", "[0,0]") +
                             ",\"s\":" + entry("F32", "[]", "[0,4]") +
                             ",\"y\":" + entry("F32", "[0]", "[4,4]") + "}",
                         "abcd");
  auto file = parseBytes(bytes);
  ASSERT_EQ(errorOf(file), "ok");
  EXPECT_EQ(file->find("z")->elements(), 0);
  EXPECT_EQ(file->find("s")->elements(), 1);
}

TEST(Safetensors, HeaderErrors) {
  EXPECT_EQ(
      errorOf(parseBytes("abc")),
      "3|m.st: expects a safetensors header, but the file has only 3 bytes");
  EXPECT_EQ(
      errorOf(parseBytes(std::string("\xff\0\0\0\0\0\0\0{}", 10))),
      "3|m.st: the safetensors header says it has 255 bytes, but the file "
      "ends after 2 bytes|the file is truncated: copy it again");
  EXPECT_EQ(errorOf(parseBytes(
                std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10))),
            "3|m.st: expects a safetensors header of at most 100000000 bytes "
            "(95.37 MiB), "
            "but got 18446744073709551615 bytes");
  EXPECT_EQ(headerFailure("[]"),
            "3|m.st: expects a safetensors header that starts with '{'");
  EXPECT_EQ(headerFailure(""),
            "3|m.st: expects a safetensors header that starts with '{'");
  EXPECT_EQ(headerFailure("{\"a\":"),
            "3|m.st:1: malformed JSON: syntax error while parsing value - "
            "unexpected end of input; expected '[', '{', or a literal");
}

TEST(Safetensors, EntryErrors) {
  std::string four = "abcd";
  EXPECT_EQ(headerFailure("{\"a\":1}"),
            "3|m.st:1: field 'a': expects an object, but got 1");
  EXPECT_EQ(headerFailure("{\"a\":{}}"),
            "3|m.st:1: field 'a.dtype' is missing");
  EXPECT_EQ(headerFailure("{\"a\":{\"dtype\":\"F32\"}}"),
            "3|m.st:1: field 'a.shape' is missing");
  EXPECT_EQ(headerFailure("{\"a\":{\"dtype\":\"F32\",\"shape\":[]}}"),
            "3|m.st:1: field 'a.data_offsets' is missing");
  EXPECT_EQ(headerFailure("{\"a\":" + entry("F33", "[1]", "[0,4]") + "}", four),
            "3|m.st:1: field 'a': unknown dtype 'F33'");
  EXPECT_EQ(
      headerFailure("{\"a\":" + entry("F32", "[-1]", "[0,4]") + "}", four),
      "3|m.st:1: field 'a.shape[0]': expects an integer of at least 0, but "
      "got -1");
  EXPECT_EQ(
      headerFailure("{\"a\":" + entry("F32", "[1.5]", "[0,4]") + "}", four),
      "3|m.st:1: field 'a.shape[0]': expects an integer of at least 0, but "
      "got 1.5");
  EXPECT_EQ(
      headerFailure("{\"a\":" + entry("F32", "[1]", "[0]") + "}", four),
      "3|m.st:1: field 'a': expects two ascending data_offsets, but got [0]");
  EXPECT_EQ(headerFailure("{\"a\":" + entry("F32", "[1]", "[4,0]") + "}", four),
            "3|m.st:1: field 'a': expects two ascending data_offsets, but got "
            "[4, 0]");
  EXPECT_EQ(headerFailure("{\"a\":" + entry("F32", "[2]", "[0,4]") + "}", four),
            "3|m.st:1: field 'a': expects 8 bytes for shape [2] of F32, but "
            "got 4 bytes");
  EXPECT_EQ(
      headerFailure(
          "{\"a\":" + entry("F32", "[4294967296,4294967296]", "[0,4]") + "}",
          four),
      "3|m.st:1: field 'a': the size of shape [4294967296, 4294967296] "
      "in bytes is no whole number below 2^63");
  EXPECT_EQ(headerFailure("{\"a\":" + entry("F4", "[3]", "[0,2]") + "}", "ab"),
            "3|m.st:1: field 'a': the size of shape [3] in bytes is no whole "
            "number below 2^63");
  EXPECT_EQ(headerFailure("{\"a\":" + entry("F32", "[1]", "[0,4]") +
                              ",\"a\":" + entry("F32", "[1]", "[4,8]") + "}",
                          "abcdefgh"),
            "3|m.st:1: field 'a' appears twice; it stood first on line 1");
  EXPECT_EQ(headerFailure("{\"__metadata__\":{\"a\":1}}"),
            "3|m.st:1: field '__metadata__.a': expects a string, but got 1");
  EXPECT_EQ(headerFailure("{\"__metadata__\":1}"),
            "3|m.st:1: field '__metadata__': expects an object, but got 1");
}

TEST(Safetensors, MetadataMayBeNull) {
  auto bytes = fileBytes(
      "{\"__metadata__\":null,\"b\":" + entry("F32", "[1]", "[0,4]") + "}",
      "abcd");
  auto file = SafetensorsFile::open(std::make_unique<MemoryBytes>(
      reinterpret_cast<const uint8_t *>(bytes.data()), int64_t(bytes.size()),
      "m.st"));
  ASSERT_EQ(errorOf(file), "ok");
  EXPECT_EQ(file->tensors().size(), 1u);
  EXPECT_TRUE(file->metadata().empty());
}

TEST(Safetensors, OffsetsMustCoverTheDataExactly) {
  auto two = [](const char *first, const char *second,
                const std::string &data) {
    return headerFailure("{\"a\":" + entry("U8", "[4]", first) +
                             ",\"b\":" + entry("U8", "[4]", second) + "}",
                         data);
  };
  EXPECT_EQ(two("[0,4]", "[4,8]", "abcdefgh"), "ok");
  EXPECT_EQ(
      two("[0,4]", "[2,6]", "abcdef"),
      "3|m.st: tensor 'b' overlaps the one before it: expects it to begin at "
      "byte 4, but got 2");
  EXPECT_EQ(
      two("[0,4]", "[0,4]", "abcd"),
      "3|m.st: tensor 'b' overlaps the one before it: expects it to begin at "
      "byte 4, but got 0");
  EXPECT_EQ(
      two("[0,4]", "[5,9]", "abcdefghi"),
      "3|m.st: tensor 'b' leaves a hole before it: expects it to begin at "
      "byte 4, but got 5");
  EXPECT_EQ(two("[0,4]", "[4,8]", "abcdefg"),
            "3|m.st: expects 8 bytes of tensor data, but the file has 7 "
            "bytes|the file "
            "is truncated: copy it again");
  EXPECT_EQ(two("[0,4]", "[4,8]", "abcdefghi"),
            "3|m.st: expects 8 bytes of tensor data, but the file has 9 bytes");
  EXPECT_EQ(
      headerFailure("{\"a\":" + entry("U8", "[4]", "[4,8]") + "}", "abcdefgh"),
      "3|m.st: tensor 'a' leaves a hole before it: expects it to begin at "
      "byte 0, but got 4");
}

TEST(Safetensors, ReadFloatsConvertsEveryFloatType) {
  // An odd header length: data that is not aligned for its type.
  std::string data;
  auto add = [&](auto value) {
    data.append(reinterpret_cast<const char *>(&value), sizeof value);
  };
  add(uint16_t(0x3c00)), add(uint16_t(0xc000)); // F16 1, -2
  add(uint16_t(0x3f80)), add(uint16_t(0xc000)); // BF16 1, -2
  add(0.5f), add(-3.0f);
  add(0.1), add(1e300);
  add(int64_t(1));
  std::string header = "{\"h\":" + entry("F16", "[2]", "[0,4]") +
                       ",\"b\":" + entry("BF16", "[2]", "[4,8]") +
                       ",\"f\":" + entry("F32", "[2]", "[8,16]") +
                       ",\"d\":" + entry("F64", "[2]", "[16,32]") +
                       ",\"i\":" + entry("I64", "[1]", "[32,40]") + "}";
  header.append(header.size() % 2 == 0 ? 1 : 2, ' ');
  auto bytes = fileBytes(header, data);
  auto file = parseBytes(bytes);
  ASSERT_EQ(errorOf(file), "ok");
  auto floats = [&](const char *name) {
    std::vector<float> out(2);
    EXPECT_EQ(errorOf(file->readFloats(*file->find(name), out.data())), "ok");
    return out;
  };
  EXPECT_EQ(floats("h"), (std::vector<float>{1, -2}));
  EXPECT_EQ(floats("b"), (std::vector<float>{1, -2}));
  EXPECT_EQ(floats("f"), (std::vector<float>{0.5f, -3}));
  EXPECT_EQ(floats("d"), (std::vector<float>{0.1f, INFINITY}));
  float one = 0;
  EXPECT_EQ(errorOf(file->readFloats(*file->find("f"), 1, 1, &one)), "ok");
  EXPECT_EQ(one, -3.0f);
  EXPECT_EQ(
      errorOf(file->readFloats(*file->find("i"), &one)),
      "3|m.st: tensor 'i' expects dtype F16, BF16, F32 or F64, but got I64");
  EXPECT_EQ(
      errorOf(file->readFloats(*file->find("f"), 1, 2, &one)),
      "3|m.st: tensor 'f' has 2 elements, but got the range from 1 of length "
      "2");
}
