# Compiler flags, ccache and lld for every target of the project.

find_program(WEFT_CCACHE ccache)
if(WEFT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache accepts precompiled headers only with these sloppiness settings. Paths
  # below the project count relative to the build, so that clones share a cache.
  set(launcher ${CMAKE_COMMAND} -E env
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${WEFT_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

find_program(WEFT_LLD NAMES ld.lld-22 ld.lld)
if(WEFT_LLD AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_link_options("--ld-path=${WEFT_LLD}")
endif()

# Bits must not depend on how expressions are grouped: no contraction.
add_compile_options(-Wall -Wextra -Werror -Wno-unused-parameter -ffp-contract=off -fno-strict-aliasing)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options(-Wno-unused-command-line-argument)
else()
  # GCC's flow analysis reports false positives inside LLVM's headers.
  add_compile_options(-Wno-dangling-reference -Wno-maybe-uninitialized -Wno-array-bounds -Wno-comment)
endif()
if(WEFT_SANITIZER)
  # Every finding ends the program. LLVM's libraries have no type information
  # for the vptr check.
  add_compile_options(-fsanitize=${WEFT_SANITIZER} -fno-sanitize=vptr
                      -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${WEFT_SANITIZER})
endif()
