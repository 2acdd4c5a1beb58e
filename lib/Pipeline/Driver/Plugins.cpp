//===- Plugins.cpp - Passes and dialects of others ------------------------===//

#include "weft/Pipeline/Driver/Plugins.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"

#include <dlfcn.h>
#include <map>

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

/// The names of the shared libraries that an ELF file needs.
template <typename ELFT>
static llvm::Expected<std::vector<std::string>>
listNeeded(const llvm::object::ELFFile<ELFT> &elf) {
  auto entries = elf.dynamicEntries();
  if (!entries)
    return entries.takeError();
  const char *strings = nullptr;
  for (const auto &entry : *entries) {
    if (entry.getTag() != llvm::ELF::DT_STRTAB)
      continue;
    auto address = elf.toMappedAddr(entry.getPtr());
    if (!address)
      return address.takeError();
    strings = reinterpret_cast<const char *>(*address);
  }
  std::vector<std::string> names;
  for (const auto &entry : *entries)
    if (strings && entry.getTag() == llvm::ELF::DT_NEEDED)
      names.push_back(strings + entry.getVal());
  return names;
}

/// Rejects a plug-in of another MLIR before the loader gives it a second copy
/// of MLIR, in which no type of weft exists.
static Status checkVersion(const std::vector<std::string> &needed) {
  const std::string own = std::to_string(LLVM_VERSION_MAJOR) + "." +
                          std::to_string(LLVM_VERSION_MINOR);
  for (StringRef name : needed)
    for (StringRef prefix : {"libMLIR.so.", "libLLVM.so.", "libLLVM-"})
      if (StringRef version = name; version.consume_front(prefix)) {
        version.consume_back(".so");
        if (version != own)
          return inputError("expects a plug-in for LLVM " + own +
                            ", but got one for " + version.str())
              .hint("build it with find_package(weft) of this installation");
      }
  return Status::success();
}

static Status checkFile(const std::string &path) {
  auto file = llvm::object::ObjectFile::createObjectFile(path);
  if (!file)
    return inputError("expects a plug-in, but got a file that cannot be read "
                      "as one: " +
                      llvm::toString(file.takeError()));
  auto *elf =
      llvm::dyn_cast<llvm::object::ELF64LEObjectFile>(file->getBinary());
  if (!elf)
    return inputError("expects a plug-in, but got an object file of another "
                      "machine");
  auto needed = listNeeded(elf->getELFFile());
  if (!needed)
    return inputError("expects a plug-in, but got a broken one: " +
                      llvm::toString(needed.takeError()));
  return checkVersion(*needed);
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

using RegisterDialects = void (*)(DialectRegistry *);

/// The dialects of each plug-in that is loaded, null if it has only passes.
static std::map<std::string, RegisterDialects> &loadedPlugins() {
  static std::map<std::string, RegisterDialects> plugins;
  return plugins;
}

static Status checkApi(uint32_t version) {
  if (version == MLIR_PLUGIN_API_VERSION)
    return Status::success();
  return inputError("expects a plug-in with version " +
                    std::to_string(MLIR_PLUGIN_API_VERSION) +
                    " of MLIR's interface for plug-ins, but got version " +
                    std::to_string(version));
}

/// The loader's message with the C++ name of a symbol that it lacks.
static std::string demangleMessage(StringRef message) {
  const StringRef before = "undefined symbol: ";
  auto [head, tail] = message.split(before);
  if (tail.empty())
    return message.str();
  const StringRef symbol = tail.take_until([](char c) { return c == ','; });
  return (head + before + llvm::demangle(symbol)).str();
}

namespace {
/// The entry points of a library, null if it lacks one.
struct EntryPoints {
  decltype(&mlirGetPassPluginInfo) passes;
  decltype(&mlirGetDialectPluginInfo) dialects;
};
} // namespace

static Expected<EntryPoints> open(const std::string &path) {
  if (Status status = checkFile(path); !status)
    return status.takeError();
  // All symbols now: a missing one is an error here and no crash later.
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return inputError("cannot load the plug-in: " +
                      demangleMessage(::dlerror()))
        .hint("a plug-in is built for one version of weft; a symbol of its own "
              "is missing if weft_add_plugin lacks a source file");
  auto passes = reinterpret_cast<decltype(&mlirGetPassPluginInfo)>(
      ::dlsym(library, "mlirGetPassPluginInfo"));
  auto dialects = reinterpret_cast<decltype(&mlirGetDialectPluginInfo)>(
      ::dlsym(library, "mlirGetDialectPluginInfo"));
  if (!passes && !dialects)
    return inputError("expects a plug-in with mlirGetPassPluginInfo or "
                      "mlirGetDialectPluginInfo, but got a library with "
                      "neither");
  for (uint32_t version :
       {passes ? passes().apiVersion : MLIR_PLUGIN_API_VERSION,
        dialects ? dialects().apiVersion : MLIR_PLUGIN_API_VERSION})
    if (Status status = checkApi(version); !status)
      return status.takeError();
  return EntryPoints{passes, dialects};
}

/// The path by which the loader finds the file: it would look for a name
/// without a slash elsewhere.
static Expected<std::string> findFile(const std::string &path) {
  // real_path() would wait for the writer of a pipe.
  llvm::sys::fs::file_status status;
  if (!llvm::sys::fs::status(path, status) && !is_regular_file(status))
    return inputError("expects a plug-in, but got no regular file").at(path);
  SmallString<128> real;
  if (std::error_code error = llvm::sys::fs::real_path(path, real))
    return inputError("cannot open the plug-in: " + error.message()).at(path);
  return real.str().str();
}

Status weft::checkPlugin(const std::string &path) {
  Expected<std::string> file = findFile(path);
  if (!file)
    return file.takeError();
  Expected<EntryPoints> entries = open(*file);
  return entries ? Status::success() : Status(entries.takeError().at(path));
}

/// The plug-in's dialects; null if it has none.
static Expected<RegisterDialects> findPlugin(const std::string &path) {
  Expected<std::string> file = findFile(path);
  if (!file)
    return file.takeError();
  auto &plugins = loadedPlugins();
  if (auto found = plugins.find(*file); found != plugins.end())
    return found->second;
  Expected<EntryPoints> entries = open(*file);
  if (!entries)
    return entries.takeError().at(path);
  if (entries->passes)
    entries->passes().registerPassRegistryCallbacks();
  plugins[*file] = entries->dialects
                       ? entries->dialects().registerDialectRegistryCallbacks
                       : nullptr;
  return plugins[*file];
}

Status weft::loadPlugin(const std::string &path) {
  Expected<RegisterDialects> plugin = findPlugin(path);
  return plugin ? Status::success() : Status(plugin.takeError());
}

Status weft::loadPlugins(const FlagValues &flags) {
  for (const std::string &path : flags.getList("load-pass-plugin"))
    if (Status status = loadPlugin(path); !status)
      return status;
  return Status::success();
}

Status weft::registerPluginDialects(const std::vector<std::string> &paths,
                                    DialectRegistry &registry) {
  for (const std::string &path : paths) {
    Expected<RegisterDialects> dialects = findPlugin(path);
    if (!dialects)
      return dialects.takeError();
    if (*dialects)
      (*dialects)(&registry);
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Dumps
//===----------------------------------------------------------------------===//

std::vector<std::string> weft::findPluginsOfDump(StringRef text) {
  StringRef options =
      text.drop_front(std::min(text.find("weft.options"), text.size()));
  if (!options.consume_front("weft.options"))
    return {};
  options = options.ltrim();
  if (!options.consume_front("=") || !options.contains("load-pass-plugin"))
    return {};
  MLIRContext context(MLIRContext::Threading::DISABLED);
  // The parser of the module reports a mistake.
  ScopedDiagnosticHandler silent(&context, [](Diagnostic &) {});
  size_t numRead = 0;
  auto parsed = llvm::dyn_cast_if_present<DictionaryAttr>(
      parseAttribute(options, &context, Type(), &numRead));
  auto files = parsed ? parsed.getAs<StringAttr>("load-pass-plugin") : nullptr;
  std::vector<std::string> paths;
  for (StringRef path : llvm::split(files ? files.getValue() : "", ','))
    if (!path.empty())
      paths.push_back(path.str());
  return paths;
}
