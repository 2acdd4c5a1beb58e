//===- ModelWeights.h - The weights of a model ------------------*- C++ -*-===//

#ifndef WEFT_FORMATS_MODELWEIGHTS_H
#define WEFT_FORMATS_MODELWEIGHTS_H

#include "weft/Formats/Safetensors.h"

namespace weft {

class GgufWeights;

/// The weights of a model: one file, or several behind an index. A GGUF file
/// shows the names and shapes of safetensors.
class ModelWeights {
public:
  struct Entry {
    const TensorReader *file;
    const TensorInfo *info;
  };

  /// `path`: a .safetensors file, a `*.safetensors.index.json` file, a GGUF
  /// file, or a folder with `model.safetensors` or
  /// `model.safetensors.index.json`.
  static Expected<ModelWeights> open(const std::string &path);
  ModelWeights(ModelWeights &&);
  ~ModelWeights();
  /// Whether a folder has weights by one of these names.
  static bool existsIn(const std::string &folder);
  /// The files that open() would read, as far as an unchecked index tells.
  static std::vector<std::string> filesOf(const std::string &path);

  /// All tensors by name.
  const std::map<std::string, Entry> &tensors() const { return entries; }
  const Entry *find(const std::string &name) const;
  /// Strips the prefixes of torch.compile ("_orig_mod.") and of
  /// DistributedDataParallel ("module.") that all names share, and returns
  /// them; "" if there is none.
  const std::string &dropWrappers();
  /// The prefix that dropWrappers() has stripped.
  const std::string &wrappers() const { return wrapperPrefix; }
  /// The files that make up the model (the index file first, if there is one).
  const std::vector<std::string> &paths() const { return pathList; }
  /// The digest of paths()[i], from the bytes that were handed out; reads the
  /// remaining bytes.
  Expected<FileDigest> digest(size_t i);
  /// The digests of its blocks. Of the remaining blocks, reader `part` of
  /// `parts` readers of the same file reads its share; blocks of other readers
  /// give "".
  Expected<std::vector<std::string>> blockDigests(size_t i, int64_t part,
                                                  int64_t parts);
  /// From now on tensors are read without the blocks that they lie in; see
  /// CheckedFile.
  void readRangesAlone();
  /// Gives back the memory that reading took.
  void dropBuffer() { buffer->drop(); }
  const std::string &path() const { return name; }

private:
  ModelWeights();
  Status openIndex(const std::string &indexPath);
  Status addFile(const std::string &filePath);
  Status addGguf(const std::string &filePath);
  Expected<std::unique_ptr<CheckedFile>> addBytes(const std::string &filePath);
  Status addEntries(const TensorReader &file,
                    const std::vector<TensorInfo> &infos);
  Status checkIndex(const std::string &indexPath,
                    const std::map<std::string, std::string> &wanted) const;

  std::string name;
  std::string wrapperPrefix;
  std::vector<std::string> pathList;
  std::optional<FileDigest> indexDigest;
  std::vector<std::unique_ptr<SafetensorsFile>> files;
  std::unique_ptr<GgufWeights> gguf;
  std::vector<CheckedFile *> checked; // the bytes of the files
  std::shared_ptr<BlockBuffer> buffer = std::make_shared<BlockBuffer>();
  std::map<std::string, Entry> entries;
};

} // namespace weft

#endif // WEFT_FORMATS_MODELWEIGHTS_H
