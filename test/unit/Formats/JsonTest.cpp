//===- JsonTest.cpp - JSON reader, writer and typed access ----------------===//

#include "weft/Formats/Json.h"

#include "../Base/TestSupport.h"

#include <cmath>

using namespace weft;

static Json parsed(const std::string &text) {
  auto json = parseJson(text, "t.json");
  EXPECT_EQ(errorOf(json), "ok") << text;
  return json ? *json : Json();
}
static std::string failure(const std::string &text,
                           const JsonLimits &limits = {}) {
  return errorOf(parseJson(text, "t.json", limits));
}

TEST(JsonReader, KeepsKindsAndOrder) {
  Json json = parsed("{\"b\": [1, -2.5, true, null, \"x\"], \"a\": {}}");
  ASSERT_TRUE(json.isObject());
  EXPECT_EQ(json.asObject()[0].name, "b");
  EXPECT_EQ(json.asObject()[1].name, "a");
  const Json::Array &list = json.find("b")->asArray();
  EXPECT_EQ(list[0].asInt(), 1);
  EXPECT_EQ(list[1].asDouble(), -2.5);
  EXPECT_TRUE(list[2].asBool());
  EXPECT_TRUE(list[3].isNull());
  EXPECT_EQ(list[4].asString(), "x");
  EXPECT_EQ(json.find("c"), nullptr);
}

TEST(JsonReader, IntegersAreExactAndLargerOnesBecomeDoubles) {
  EXPECT_EQ(parsed("9223372036854775807").asInt(), INT64_MAX);
  EXPECT_EQ(parsed("-9223372036854775808").asInt(), INT64_MIN);
  EXPECT_TRUE(parsed("9223372036854775808").isDouble());
  EXPECT_TRUE(parsed("1e2").isDouble());
}

TEST(JsonReader, EveryValueKnowsItsLine) {
  Json json =
      parsed("\n{\n\"a\": 1,\n\"b\": [\n  2,\n\n  3\n],\n\"c\": \"x\"}\n");
  EXPECT_EQ(json.line(), 2);
  EXPECT_EQ(json.find("a")->line(), 3);
  EXPECT_EQ(json.find("b")->line(), 4);
  EXPECT_EQ(json.find("b")->asArray()[0].line(), 5);
  // A number at the end of its line: the lexer reads the newline to end it.
  EXPECT_EQ(json.find("b")->asArray()[1].line(), 7);
  EXPECT_EQ(json.find("c")->line(), 9);
}

TEST(JsonReader, DepthLimit) {
  auto nested = [](int depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(failure(nested(128)), "ok");
  EXPECT_EQ(failure(nested(129)),
            "3|t.json:1: expects JSON nested at most 128 levels deep, but got "
            "more");
  // Deep enough to overflow the stack of a recursive parser.
  EXPECT_NE(failure(std::string(1000000, '[')), "ok");
  std::string objects;
  for (int i = 0; i < 1000; ++i)
    objects += "{\"a\":";
  EXPECT_NE(failure(objects), "ok");
}

TEST(JsonReader, DuplicateNames) {
  EXPECT_EQ(failure("{\"a\": 1,\n\"b\": 2,\n\"a\": 3}"),
            "3|t.json:3: field 'a' appears twice; it stood first on line 1");
  EXPECT_EQ(failure("[{\"a\": 1}, {\"a\": 1}]"), "ok");
  // An escape spells the same name.
  EXPECT_NE(failure("{\"a\": 1, \"\\u0061\": 2}"), "ok");
}

TEST(JsonReader, SizeLimits) {
  JsonLimits limits;
  limits.maxBytes = 4;
  EXPECT_EQ(failure("[1,2]", limits),
            "3|t.json: expects at most 4 bytes of JSON, but got 5 bytes");
  limits = {};
  limits.maxValues = 3;
  EXPECT_EQ(failure("[1,2]", limits), "ok");
  EXPECT_EQ(failure("[1,2,3]", limits),
            "3|t.json:1: expects at most 3 JSON values, but got more");
}

TEST(JsonReader, Malformed) {
  EXPECT_EQ(failure("[1,\n2,,3]"),
            "3|t.json:2: malformed JSON: syntax error while parsing value - "
            "unexpected ','; expected '[', '{', or a literal");
  EXPECT_EQ(failure("[1e999]"),
            "3|t.json:1: malformed JSON: number overflow parsing '1e999'");
  for (const char *text :
       {"",         " ",           "{",         "[",        "[1",     "{\"a\"}",
        "{\"a\":}", "nul",         "01",        "1 2",      "[1]]",   "\"a",
        "\"\\x\"",  "\"\\ud800\"", "\"\x01\"",  "\"\xff\"", "{a: 1}", "NaN",
        "// c\n1",  "[1,]",        "{\"a\":1,}"})
    EXPECT_EQ(failure(text).substr(0, 8), "3|t.json") << text;
  EXPECT_EQ(failure(std::string("1\n\0", 3)),
            "3|t.json:2: malformed JSON: expects text, but got a NUL byte");
}

TEST(JsonReader, Files) {
  TempDir dir;
  EXPECT_EQ(errorOf(readJsonFile(dir.file("no.json"))),
            "3|" + dir.file("no.json") +
                ": cannot open: no such file or directory");
  EXPECT_EQ(errorOf(readJsonFile(dir.path())),
            "3|" + dir.path() + ": expects a file, but got a directory");
  EXPECT_NE(errorOf(readJsonFile(dir.write("empty.json", ""))), "ok");
  auto json = readJsonFile(dir.write("a.json", "{\"a\": 1}"));
  ASSERT_TRUE(json);
  EXPECT_EQ(json->find("a")->asInt(), 1);
}

TEST(JsonWriter, CompactAndPretty) {
  Json json = Json::object();
  json.set("name", "w\n\"\\\x01");
  json.set("shape", Json::arrayOf(std::vector<int64_t>{2, 3}));
  json.set("empty", Json::object());
  json.set("none", Json::array());
  json.set("parts", Json::array()).push(Json::object()).set("x", nullptr);
  EXPECT_EQ(json.compact(),
            "{\"name\":\"w\\n\\\"\\\\\\u0001\",\"shape\":[2,3],\"empty\":{},"
            "\"none\":[],\"parts\":[{\"x\":null}]}");
  EXPECT_EQ(json.pretty(), "{\n  \"name\": \"w\\n\\\"\\\\\\u0001\",\n"
                           "  \"shape\": [2, 3],\n  \"empty\": {},\n"
                           "  \"none\": [],\n  \"parts\": [\n    {\n"
                           "      \"x\": null\n    }\n  ]\n}\n");
  EXPECT_EQ(parsed(json.pretty()), json);
  json.set("shape", true);
  EXPECT_TRUE(json.find("shape")->asBool());
}

TEST(JsonWriter, DoublesReadBackAsTheSameDouble) {
  for (double value :
       {0.1, 1.0, -0.0, 1e300, 5e-324, 1.0 / 3, 6.02e23, 123456789.0}) {
    Json back = parsed(Json(value).compact());
    ASSERT_TRUE(back.isDouble()) << value;
    EXPECT_EQ(back.asDouble(), value);
    EXPECT_EQ(std::signbit(back.asDouble()), std::signbit(value));
  }
  EXPECT_EQ(Json(0.1).compact(), "0.1");
  EXPECT_EQ(Json(1.0).compact(), "1.0");
  EXPECT_EQ(Json(NAN).compact(), "null");
  EXPECT_EQ(Json(-INFINITY).compact(), "null");
}

TEST(JsonWriter, MalformedUtf8IsReplaced) {
  EXPECT_EQ(Json("a\xff\xe2\x82z").compact(),
            "\"a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\"");
  EXPECT_EQ(Json("\xe2\x82\xac").compact(), "\"\xe2\x82\xac\"");
}

TEST(JsonCursor, ErrorsNameFileLineAndField) {
  Json json =
      parsed("{\"a\": {\n\"b\": [1,\n\"x\"]},\n\"n\": 5, \"s\": \"t\"}");
  JsonCursor root(json, "c.json");
  auto a = root.get("a");
  ASSERT_TRUE(a);
  auto b = a->get("b");
  ASSERT_TRUE(b);
  EXPECT_EQ(b->path(), "a.b");
  EXPECT_EQ(errorOf(b->asIntArray()),
            "3|c.json:3: field 'a.b[1]': expects an integer, but got the "
            "string 'x'");
  EXPECT_EQ(errorOf(a->getInt("z")), "3|c.json:1: field 'a.z' is missing");
  EXPECT_EQ(errorOf(b->get("z")),
            "3|c.json:2: field 'a.b': expects an object, but got an array");
  EXPECT_EQ(
      errorOf(root.getInt("n", 6)),
      "3|c.json:4: field 'n': expects an integer of at least 6, but got 5");
  EXPECT_EQ(errorOf(root.getInt("n", 1, 4)),
            "3|c.json:4: field 'n': expects an integer from 1 to 4, but got 5");
  EXPECT_EQ(
      errorOf(root.getInt("n", INT64_MIN, 4)),
      "3|c.json:4: field 'n': expects an integer of at most 4, but got 5");
  EXPECT_EQ(errorOf(root.getBool("n")),
            "3|c.json:4: field 'n': expects true or false, but got 5");
  EXPECT_EQ(errorOf(root.getString("n")),
            "3|c.json:4: field 'n': expects a string, but got 5");
  EXPECT_EQ(errorOf(root.getDouble("s")),
            "3|c.json:4: field 's': expects a number, but got the string 't'");
  EXPECT_EQ(errorOf(root.getIntArray("a")),
            "3|c.json:1: field 'a': expects an array of integers, but got an "
            "object");
  EXPECT_EQ(errorOf(a->arraySize()),
            "3|c.json:1: field 'a': expects an array, but got an object");
  EXPECT_EQ(errorOf(b->objectSize()),
            "3|c.json:2: field 'a.b': expects an object, but got an array");
  EXPECT_EQ(
      JsonCursor(json, "c.json", ExitCode::Checkpoint).error("x").exitStatus(),
      5);
}

TEST(JsonCursor, Values) {
  Json json = parsed("{\"i\": 3, \"d\": 0.5, \"t\": true, \"l\": [1, 2]}");
  JsonCursor root(json, "c.json");
  EXPECT_EQ(*root.getInt("i", 3, 3), 3);
  EXPECT_EQ(*root.getDouble("i"), 3.0);
  EXPECT_EQ(*root.getDouble("d"), 0.5);
  EXPECT_TRUE(*root.getBool("t"));
  EXPECT_EQ(*root.getIntArray("l"), (std::vector<int64_t>{1, 2}));
  EXPECT_FALSE(root.find("x"));
  EXPECT_EQ(*root.objectSize(), 4u);
  EXPECT_EQ(root.member(1).path(), "d");
}
