//===- RuntimeFolder.cpp - Libraries beside the tool ----------------------===//

#include "weft/Pipeline/Targets/RuntimeFolder.h"

#include <filesystem>

using namespace weft;
namespace fs = std::filesystem;

Expected<std::string> weft::runningTool() {
  std::error_code error;
  fs::path tool = fs::read_symlink("/proc/self/exe", error);
  if (error)
    return Error(ExitCode::Internal,
                 "cannot find the running program: " + error.message());
  return tool.string();
}

Expected<std::string> weft::runtimeFolder() {
  Expected<std::string> tool = runningTool();
  if (!tool)
    return tool.takeError();
  fs::path prefix = fs::path(*tool).parent_path().parent_path();
  for (const char *name : {"lib", "lib/weft"})
    if (fs::exists(prefix / name / kRuntimeMain))
      return (prefix / name).string();
  return Error(ExitCode::Device,
               std::string("cannot find ") + kRuntimeMain + " next to the tool")
      .at((prefix / "lib").string());
}
