//===- ToyTool.h - Runs the hand-written programs ---------------*- C++ -*-===//
//
// A test fixture with a folder of its own and functions that run a toy program
// as a process in it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_UNIT_RUNTIME_TOYTOOL_H
#define WEFT_TEST_UNIT_RUNTIME_TOYTOOL_H

#include "TestPaths.h"

#include "weft/Formats/Json.h"
#include "weft/Formats/Safetensors.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weft {

struct ToolResult {
  int status = -1; // exit status, or 1000 + signal
  std::string out, err;
};

class ToyTest : public testing::Test {
protected:
  using Args = std::vector<std::string>;

  void SetUp() override {
    char name[] = "/tmp/weft-toy-XXXXXX";
    folder = mkdtemp(name);
    std::string text;
    for (int i = 0; i < 60; ++i)
      text += "the quick brown fox jumps over the lazy dog " +
              std::to_string(i * 7 % 10) + "\n";
    write("text.txt", text);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string path(const std::string &name) const {
    return folder + "/" + name;
  }
  void write(const std::string &name, const std::string &text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }
  std::string read(const std::string &name) const {
    std::ifstream in(path(name), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  bool exists(const std::string &name) const {
    return std::filesystem::exists(path(name));
  }
  /// Names inside a folder, sorted.
  Args list(const std::string &name) const {
    Args names;
    for (const auto &entry : std::filesystem::directory_iterator(path(name)))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  /// Starts a program in the test's folder; output goes to files there.
  pid_t start(const std::string &program, const Args &args,
              rlim_t fileSize = RLIM_INFINITY) const {
    pid_t child = fork();
    if (child != 0)
      return child;
    if (chdir(folder.c_str()) != 0)
      _exit(99);
    int out = open("stdout", O_CREAT | O_TRUNC | O_WRONLY, 0644);
    int err = open("stderr", O_CREAT | O_TRUNC | O_WRONLY, 0644);
    dup2(out, 1);
    dup2(err, 2);
    if (fileSize != RLIM_INFINITY) {
      rlimit limit = {fileSize, fileSize};
      setrlimit(RLIMIT_FSIZE, &limit);
    }
    std::vector<char *> argv = {const_cast<char *>(program.c_str())};
    for (const std::string &arg : args)
      argv.push_back(const_cast<char *>(arg.c_str()));
    argv.push_back(nullptr);
    for (const std::string &setting : environment)
      putenv(const_cast<char *>(setting.c_str()));
    execv(program.c_str(), argv.data());
    _exit(99);
  }
  static int wait(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }
  static bool isRunning(pid_t child) {
    siginfo_t info = {};
    waitid(P_PID, id_t(child), &info, WEXITED | WNOHANG | WNOWAIT);
    return info.si_pid != child;
  }
  /// Waits until the file has so many bytes, or the program ends.
  void waitForBytes(pid_t child, const std::string &name, size_t bytes) const {
    while (isRunning(child) && (!exists(name) || read(name).size() < bytes))
      usleep(1000);
    EXPECT_TRUE(isRunning(child)) << read("stderr");
  }
  ToolResult finish(pid_t child) const {
    ToolResult result;
    result.status = wait(child);
    result.out = read("stdout");
    result.err = read("stderr");
    return result;
  }
  ToolResult bigram(const Args &args) const {
    return finish(start(TOY_BIGRAM, args));
  }
  ToolResult linear(const Args &args) const {
    return finish(start(TOY_LINEAR, args));
  }
  /// A training run of the bigram model with some more flags.
  ToolResult train(const Args &more) const {
    Args args = {"--data", "text.txt", "--progress", "none"};
    args.insert(args.end(), more.begin(), more.end());
    return bigram(args);
  }
  /// A failed run: status, and a line of stderr that begins like this.
  void expectError(const ToolResult &result, int status,
                   const std::string &message) const {
    EXPECT_EQ(result.status, status) << result.err << result.out;
    EXPECT_NE(result.err.find("weft: error: " + message), std::string::npos)
        << result.err;
    EXPECT_EQ(result.err.find('\n'),
              result.err.find("\nhint: ") == std::string::npos
                  ? result.err.size() - 1
                  : result.err.find("\nhint: "))
        << result.err;
  }

  /// The objects of a JSONL file.
  std::vector<Json> lines(const std::string &name) const {
    std::vector<Json> objects;
    std::istringstream in(read(name));
    for (std::string line; std::getline(in, line);) {
      auto json = parseJson(line, name);
      EXPECT_TRUE(json.ok()) << line;
      if (json.ok())
        objects.push_back(*json);
    }
    return objects;
  }
  /// Every file of two step directories has the same bytes, but for what the
  /// manifests say of the flags of their runs.
  void expectSameFiles(const std::string &a, const std::string &b) const {
    ASSERT_EQ(list(a), list(b));
    for (const std::string &name : list(a))
      EXPECT_EQ(withoutRun(a, name), withoutRun(b, name)) << name;
  }
  std::string withoutRun(const std::string &step,
                         const std::string &name) const {
    std::string text = read(step + "/" + name);
    if (name != "MANIFEST.json")
      return text;
    auto json = parseJson(text, name);
    EXPECT_TRUE(json.ok()) << text;
    json->set("xxh3", "");
    json->set("run", Json());
    return json->pretty();
  }

  std::string folder;
  Args environment; // "NAME=value" for the programs started
};

} // namespace weft

#endif // WEFT_TEST_UNIT_RUNTIME_TOYTOOL_H
