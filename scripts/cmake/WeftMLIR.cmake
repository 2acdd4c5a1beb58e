# Finds LLVM and MLIR 22. MLIR_DIR (lib/cmake/mlir of an installation) is honoured.

if(NOT MLIR_DIR AND NOT DEFINED ENV{MLIR_DIR})
  find_program(WEFT_LLVM_CONFIG NAMES llvm-config-22)
  if(WEFT_LLVM_CONFIG)
    execute_process(COMMAND ${WEFT_LLVM_CONFIG} --prefix
                    OUTPUT_VARIABLE weft_llvm_prefix OUTPUT_STRIP_TRAILING_WHITESPACE)
    set(MLIR_DIR "${weft_llvm_prefix}/lib/cmake/mlir")
  endif()
elseif(NOT MLIR_DIR)
  set(MLIR_DIR "$ENV{MLIR_DIR}")
endif()

find_package(MLIR QUIET CONFIG)
if(NOT MLIR_FOUND OR NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR
    "weft needs LLVM and MLIR 22, and found '${LLVM_PACKAGE_VERSION}'.\n"
    "On Debian 12 scripts/install-deps.sh installs all of these:\n"
    "  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools clang-22 lld-22\n"
    "  libdnnl-dev nlohmann-json3-dev libtomlplusplus-dev libxxhash-dev libgtest-dev\n"
    "  libpcre2-dev libutf8proc-dev libsentencepiece-dev\n"
    "  libopenmpi-dev openmpi-bin\n"
    "Elsewhere pass -DMLIR_DIR=<prefix>/lib/cmake/mlir of an LLVM 22 installation.")
endif()

set(MLIR_LINK_MLIR_DYLIB ON)
set(WEFT_LLVM_LIB_DIR "${LLVM_LIBRARY_DIRS}")
set(WEFT_LLVM_BIN_DIR "${LLVM_TOOLS_BINARY_DIR}")
