//===- MpiLibrary.cpp - The entry points of MPI ---------------------------===//

#include "MpiLibrary.h"

#include <dlfcn.h>

using namespace weft;

/// The library whose ABI mpi.h describes.
#if defined(OPEN_MPI)
static constexpr char kLibrary[] = "libmpi.so.40", kPackage[] = "Open MPI";
#elif defined(MPICH)
static constexpr char kLibrary[] = "libmpi.so.12", kPackage[] = "MPICH";
#else
#error "expects the headers of Open MPI or MPICH"
#endif

static MpiLibrary library;

const MpiLibrary &weft::mpi() { return library; }

static Error unusable(const std::string &reason) {
  return deviceError("cannot use MPI: ", reason)
      .hint(std::string("install ") + kPackage +
            ", start the ranks with weft launch --tcp, or run them as threads "
            "with --loopback");
}

namespace {
/// Looks symbols up; keeps the first one that is missing.
class Symbols {
public:
  explicit Symbols(void *handle) : handle(handle) {}

  template <typename Entry> void find(const char *name, Entry &entry) {
    void *address = ::dlsym(handle, name);
    if (!address && missing.empty())
      missing = name;
    entry = reinterpret_cast<Entry>(address);
  }
  std::string missing;

private:
  void *handle;
};
} // namespace

static void findFunctions(Symbols &symbols) {
  symbols.find("MPI_Cancel", library.cancel);
  symbols.find("MPI_Comm_get_attr", library.commGetAttr);
  symbols.find("MPI_Comm_rank", library.commRank);
  symbols.find("MPI_Comm_set_errhandler", library.commSetErrhandler);
  symbols.find("MPI_Comm_size", library.commSize);
  symbols.find("MPI_Error_string", library.errorString);
  symbols.find("MPI_Finalize", library.finalize);
  symbols.find("MPI_Init_thread", library.initThread);
  symbols.find("MPI_Initialized", library.initialized);
  symbols.find("MPI_Iprobe", library.iprobe);
  symbols.find("MPI_Irecv", library.irecv);
  symbols.find("MPI_Isend", library.isend);
  symbols.find("MPI_Recv", library.recv);
  symbols.find("MPI_Request_free", library.requestFree);
  symbols.find("MPI_Testsome", library.testsome);
  symbols.find("MPI_Wait", library.wait);
}

/// Predefined objects are variables of Open MPI, and numbers of MPICH.
static void findObjects([[maybe_unused]] Symbols &symbols) {
#if defined(OPEN_MPI)
  symbols.find("ompi_mpi_comm_world", library.world);
  symbols.find("ompi_mpi_byte", library.byte);
  symbols.find("ompi_request_null", library.noRequest);
  symbols.find("ompi_mpi_errors_return", library.errorsReturn);
#else
  library.world = MPI_COMM_WORLD;
  library.byte = MPI_BYTE;
  library.noRequest = MPI_REQUEST_NULL;
  library.errorsReturn = MPI_ERRORS_RETURN;
#endif
}

Status weft::openMpi() {
  // Global: the library opens components of its own that use its symbols.
  void *handle = ::dlopen(kLibrary, RTLD_NOW | RTLD_GLOBAL);
  if (!handle) {
    const char *reason = ::dlerror();
    return unusable(reason ? reason : kLibrary);
  }
  Symbols symbols(handle);
  findFunctions(symbols);
  findObjects(symbols);
  if (symbols.missing.empty())
    return Status::success();
  return unusable(std::string(kLibrary) + " has no " + symbols.missing);
}
