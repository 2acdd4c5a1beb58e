//===- OwnFilesTest.cpp - Outputs replace only what weft wrote ------------===//

#include "weft/Formats/OwnFiles.h"

#include "../Base/TestSupport.h"
#include "weft/Formats/Digest.h"
#include "weft/Formats/Safetensors.h"
#include "weft/Formats/TokenFile.h"

#include <fstream>
#include <sys/stat.h>

using namespace weft;

namespace {
class OwnFilesTest : public ::testing::Test {
protected:
  std::string check(const std::string &name, bool overwrites = false,
                    const std::string &role = "--out") {
    std::string text =
        errorOf(checkReplaced({{role, dir.file(name)}}, overwrites));
    const size_t at = text.find(dir.path() + "/");
    return at == text.npos ? text : text.erase(at, dir.path().size() + 1);
  }
  FileOrigin origin(const std::string &bytes) {
    return originOf(dir.write("file", bytes));
  }
  TempDir dir;
};
} // namespace

TEST_F(OwnFilesTest, ASealTellsWhetherTextWasEdited) {
  const std::string text = sealText("module {\n}\n", "//");
  EXPECT_EQ(text.find("module {\n}\n// weft: xxh3 "), 0u);
  EXPECT_EQ(origin(text), FileOrigin::Weft);
  EXPECT_EQ(origin(sealText("no line end", ";")), FileOrigin::Weft);
  EXPECT_EQ(origin(sealText("", "#")), FileOrigin::Weft);
  EXPECT_EQ(origin("modulo {\n}\n" + text.substr(11)), FileOrigin::Edited);
  EXPECT_EQ(origin(text + "more\n"), FileOrigin::Edited);
  EXPECT_EQ(origin(text + "\n"), FileOrigin::Edited);
  EXPECT_EQ(origin(text.substr(0, text.size() - 1)), FileOrigin::Edited);
  EXPECT_EQ(origin(text.substr(0, text.size() - 3)), FileOrigin::Edited);
  EXPECT_EQ(origin("module {\n}\n"), FileOrigin::Other);
}

TEST_F(OwnFilesTest, MarksOfOtherFormats) {
  EXPECT_EQ(origin(""), FileOrigin::Weft); // as mktemp leaves it
  EXPECT_EQ(origin("{\"displayTimeUnit\": \"ms\", \"otherData\": {\"model\": "
                   "\"m\", \"program\": \"00\"}, \"traceEvents\": [\n]}\n"),
            FileOrigin::Weft);
  EXPECT_EQ(origin("{\n  \"displayTimeUnit\": \"ms\",\n  \"otherData\": {\n    "
                   "\"weft\": \"timeline\"\n  },\n"),
            FileOrigin::Weft);
  EXPECT_EQ(origin("{\n  \"format\": 1,\n  \"cublaslt\": \"13\"}\n"),
            FileOrigin::Weft);
  EXPECT_EQ(origin("module {\n}\n{-#\n  external_resources: {\n    "
                   "mlir_reproducer: {\n      pipeline: \"builtin.module("
                   "weft-fuse)\",\n"),
            FileOrigin::Weft);
  for (const char *text :
       {"my thesis\n", "{\"displayTimeUnit\": \"ms\", \"traceEvents\": []}",
        "{\"weft\": 1}\n", "{", "{\"gpu\": \"A\", \"cublaslt\": \"13\"}",
        "module {\n}\n{-#\n  external_resources: {\n    mlir_reproducer: {\n"
        "      pipeline: \"builtin.module(cse)\",\n",
        "\x7f"
        "ELF"})
    EXPECT_EQ(origin(text), FileOrigin::Other) << text;
  EXPECT_EQ(originOf("/proc/self/exe"), FileOrigin::Other);
  EXPECT_EQ(originOf(dir.file("none")), FileOrigin::Other);
}

TEST_F(OwnFilesTest, SafetensorsTellByTheirMetadata) {
  for (const auto &[strings, expected] :
       {std::pair(StringMap{{writtenByKey, "gradients"}}, FileOrigin::Weft),
        {StringMap{{"format", "pt"}}, FileOrigin::Other},
        {StringMap{}, FileOrigin::Other}}) {
    auto writer = SafetensorsWriter::create(dir.file("t"), {}, strings);
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->finish());
    EXPECT_EQ(originOf(dir.file("t")), expected);
  }
}

TEST_F(OwnFilesTest, TokenFilesTellByTheirDigest) {
  const std::string tokens("\1\0\2\0", 4);
  std::string header(1024, '\0');
  const uint32_t words[] = {kTokenMagicU16, 1, 2};
  header.replace(0, sizeof words, reinterpret_cast<const char *>(words),
                 sizeof words);
  EXPECT_EQ(origin(header + tokens), FileOrigin::Other); // of llm.c
  header.replace(kTokenDigestAt, kTokenDigestChars, digest128(tokens));
  EXPECT_EQ(origin(header + tokens), FileOrigin::Weft);
  EXPECT_EQ(origin(header + std::string("\1\0\3\0", 4)), FileOrigin::Edited);
  EXPECT_EQ(origin(header + "\1"), FileOrigin::Edited);
  header[0] = 0; // no magic number
  EXPECT_EQ(origin(header + tokens), FileOrigin::Other);
}

TEST_F(OwnFilesTest, OtherFilesAreKeptUnlessToldOtherwise) {
  dir.write("thesis", "my thesis\n");
  EXPECT_EQ(check("thesis"),
            "2|thesis: --out expects a new file, or one that weft wrote, but "
            "got another file|it stays as it is; choose another name, or "
            "--overwrite replaces it");
  EXPECT_EQ(check("thesis", /*overwrites=*/true), "ok");
  EXPECT_EQ(check("new"), "ok");
  EXPECT_EQ(check("."), "ok"); // creating the file says so
  EXPECT_EQ(errorOf(checkReplaced({{"-o", "/dev/null"}, {"-o", "-"}}, false)),
            "ok");
  ASSERT_EQ(::mkfifo(dir.file("pipe").c_str(), 0600), 0);
  EXPECT_EQ(check("pipe"), "ok");
  // Runs look at the lines of their metrics.
  EXPECT_EQ(check("thesis", false, "--metrics"), "ok");
  std::filesystem::create_symlink("thesis", dir.file("link"));
  EXPECT_EQ(check("link").substr(0, 6), "2|link");
  std::filesystem::create_symlink("nowhere", dir.file("dangling"));
  EXPECT_EQ(check("dangling"), "ok");
}

TEST_F(OwnFilesTest, AnEditedDumpIsNeverReplaced) {
  const std::string text = sealText("module {}\n", "//");
  dir.write("dump", text);
  EXPECT_EQ(check("dump", false, "--dump-dir"), "ok");
  dir.write("dump", "// mine\n" + text);
  for (bool overwrites : {false, true})
    EXPECT_EQ(check("dump", overwrites, "--dump-dir"),
              "2|dump: --dump-dir expects a new file, or one that weft wrote, "
              "but got one that was edited since|it stays as it is; move it, "
              "or choose another --dump-dir");
  EXPECT_EQ(check("dump", false, "--out").substr(0, 63),
            "2|dump: --out expects a new file, or one that weft wrote, but g");
  EXPECT_EQ(check("dump", true, "--out"), "ok");
  // Without the seal, which an editor or a tool of MLIR may take away.
  dir.write("dump", "module {}\n");
  EXPECT_EQ(check("dump", true, "--dump-dir"),
            "2|dump: --dump-dir expects a new file, or one that weft wrote, "
            "but got another file|it stays as it is; move it, or choose "
            "another --dump-dir");
}
