//===- TestSupport.h - Temporary folders and error checks -------*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_BASE_TESTSUPPORT_H
#define WEFT_TEST_UNIT_BASE_TESTSUPPORT_H

#include "weft/Base/Error.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <unistd.h>

namespace weft {

/// A folder that is removed at the end of the test.
class TempDir {
public:
  TempDir() {
    std::string name =
        (std::filesystem::temp_directory_path() / "weft-test-XXXXXX").string();
    folder = ::mkdtemp(name.data());
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  std::string file(const std::string &name) const {
    return folder + "/" + name;
  }
  const std::string &path() const { return folder; }
  /// Writes a file and returns its path.
  std::string write(const std::string &name, const std::string &bytes) const {
    std::FILE *stream = std::fopen(file(name).c_str(), "wb");
    EXPECT_NE(stream, nullptr);
    EXPECT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), stream), bytes.size());
    std::fclose(stream);
    return file(name);
  }

private:
  std::string folder;
};

inline std::string readBytes(const std::string &path) {
  std::string result;
  std::FILE *stream = std::fopen(path.c_str(), "rb");
  if (!stream)
    return "<missing>";
  char buffer[4096];
  while (size_t n = std::fread(buffer, 1, sizeof buffer, stream))
    result.append(buffer, n);
  std::fclose(stream);
  return result;
}

/// The error of a Status or Expected as `code|file:line: message|hint`, or
/// "ok".
template <typename Result> std::string errorOf(const Result &result) {
  if (result.ok())
    return "ok";
  const Error &error = result.error();
  std::string text = std::to_string(error.exitStatus()) + "|" + error.where();
  return error.hintText().empty() ? text : text + "|" + error.hintText();
}

} // namespace weft

#endif // WEFT_TEST_UNIT_BASE_TESTSUPPORT_H
