# weft_library(NAME sources... [LINK libs...])        std only: Formats, Runtime, kernels
# weft_mlir_library(NAME sources... [LINK libs...] [UPSTREAM])   compiler side: precompiled headers,
#                                                     with UPSTREAM also of MLIR's own dialects
# weft_tool(NAME sources... [LINK libs...])           compiler-side executable in build/bin
# weft_tablegen(TARGET file.td -gen-x out.inc ...)    see weftTablegen.cmake

set(WEFT_INCLUDE_DIRS "${PROJECT_SOURCE_DIR}/include")
include(weftTablegen)

function(weft_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  # A program leaves out what it does not call, though sources are joined.
  target_compile_options(${name} PRIVATE -ffunction-sections -fdata-sections)
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
endfunction()

# The compiler spends its time in libMLIR and libLLVM: its own code is built
# at -O1, which halves the build. What executables link is built at full speed.
set(WEFT_COMPILER_OPTIONS "$<$<CONFIG:Release>:-O1>")

# LLVM's headers lay out statistics and more by NDEBUG: it is the library's, so
# that a Debug build reads what the library wrote.
set(WEFT_COMPILER_DEFINITIONS "")
if(NOT LLVM_ENABLE_ASSERTIONS)
  set(WEFT_COMPILER_DEFINITIONS "$<$<CONFIG:Debug>:NDEBUG>")
endif()

# A precompiled header holds the path of its build, so ccache would share no object
# that is compiled with it between clones. It takes the checksum beside the header
# in its place: of the text of all headers, without paths.
function(weft_checksum_header name)
  set(folder "${CMAKE_BINARY_DIR}/CMakeFiles/${name}.dir")
  set(includes "${PROJECT_SOURCE_DIR}/include" "${CMAKE_BINARY_DIR}/include"
    ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  list(TRANSFORM includes PREPEND "-I")
  set(sum "${folder}/cmake_pch.hxx.pch.sum")
  add_custom_command(OUTPUT "${sum}"
    COMMAND "${CMAKE_CXX_COMPILER}" -std=c++17 ${includes} -E -dD -P -MD -MF "${sum}.d" -MT "${sum}"
      -x c++ "${folder}/cmake_pch.hxx" -o "${sum}.text"
    COMMAND "${CMAKE_COMMAND}" -E sha256sum "${sum}.text" > "${sum}.line"
    COMMAND "${CMAKE_COMMAND}" -E copy_if_different "${sum}.line" "${sum}"
    COMMAND "${CMAKE_COMMAND}" -E touch "${sum}"
    DEPFILE "${sum}.d" DEPENDS weft_headers VERBATIM)
  add_custom_target(${name}_checksum DEPENDS "${sum}")
endfunction()

# weft_precompile(NAME headers...): one header for many targets. CMake makes it a
# system header, so warnings of ours in it show in targets without it alone.
function(weft_precompile name)
  set(source "${CMAKE_BINARY_DIR}/${name}.cpp")
  if(NOT EXISTS "${source}")
    file(WRITE "${source}" "")
  endif()
  add_library(${name} OBJECT "${source}")
  target_include_directories(${name} SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}/include" "${CMAKE_BINARY_DIR}/include")
  target_compile_definitions(${name} PUBLIC ${WEFT_COMPILER_DEFINITIONS})
  target_precompile_headers(${name} PRIVATE ${ARGN})
  add_dependencies(${name} weft_headers)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(${name} PUBLIC ${WEFT_COMPILER_OPTIONS} -fpch-instantiate-templates "SHELL:-Xclang -fno-pch-timestamp")
    if(CMAKE_GENERATOR STREQUAL "Ninja")
      weft_checksum_header(${name})
      add_dependencies(${name} ${name}_checksum)
    endif()
  endif()
  # Ninja compiles a target before the libraries that it depends on are built, but
  # not before a custom one is: the header is there first.
  add_custom_target(${name}_built DEPENDS $<TARGET_OBJECTS:${name}>)
endfunction()

# All generated headers hang off one target, so that no library compiles before they exist.
if(NOT TARGET weft_headers)
  add_custom_target(weft_headers)
endif()

# One precompiled header serves every compiler-side target, a second one those that
# lower to MLIR's own dialects, which cost ten seconds to read.
if(NOT TARGET weft_pch)
  set(headers
    "<mlir/IR/Builders.h>" "<mlir/IR/BuiltinOps.h>" "<mlir/IR/BuiltinTypes.h>"
    "<mlir/IR/IRMapping.h>" "<mlir/IR/Matchers.h>"
    "<mlir/IR/OpImplementation.h>" "<mlir/IR/PatternMatch.h>" "<mlir/Pass/Pass.h>"
    "<mlir/Interfaces/FunctionInterfaces.h>" "<mlir/Interfaces/SideEffectInterfaces.h>"
    "<mlir/Transforms/GreedyPatternRewriteDriver.h>"
    "<llvm/ADT/MapVector.h>" "<llvm/ADT/SetVector.h>" "<llvm/ADT/StringSet.h>" "<llvm/ADT/TypeSwitch.h>"
    "<weft/Dist/Dist.h>" "<weft/Plan/Plan.h>" "<weft/Weft/Weft.h>"
    "<map>" "<string>" "<vector>")
  weft_precompile(weft_pch ${headers})
  weft_precompile(weft_upstream_pch ${headers}
    "<mlir/Dialect/Arith/IR/Arith.h>" "<mlir/Dialect/GPU/IR/GPUDialect.h>"
    "<mlir/Dialect/LLVMIR/LLVMDialect.h>" "<mlir/Dialect/Linalg/IR/Linalg.h>"
    "<mlir/Dialect/Math/IR/Math.h>" "<mlir/Dialect/MemRef/IR/MemRef.h>"
    "<mlir/Dialect/SCF/IR/SCF.h>" "<mlir/Dialect/Vector/IR/VectorOps.h>")
endif()

function(weft_compiler_side name header)
  target_compile_definitions(${name} PUBLIC "$<BUILD_INTERFACE:${WEFT_COMPILER_DEFINITIONS}>")
  target_include_directories(${name} SYSTEM PUBLIC
    "$<BUILD_INTERFACE:${MLIR_INCLUDE_DIRS};${LLVM_INCLUDE_DIRS}>")
  # CMake would name the header by its absolute path, by which ccache tells clones apart.
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND CMAKE_GENERATOR STREQUAL "Ninja")
    add_dependencies(${name} ${header}_built)
    target_compile_options(${name} PRIVATE -fpch-instantiate-templates "SHELL:-Xclang -fno-pch-timestamp"
      -Winvalid-pch "SHELL:-include-pch CMakeFiles/${header}.dir/cmake_pch.hxx.pch")
  else()
    target_precompile_headers(${name} REUSE_FROM ${header})
  endif()
  # The precompiled header is -fPIC; executables would get -fPIE otherwise.
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC ${WEFT_COMPILER_OPTIONS})
  add_dependencies(${name} weft_headers)
endfunction()

function(weft_mlir_library name)
  cmake_parse_arguments(ARG "UPSTREAM" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  if(ARG_UPSTREAM)
    weft_compiler_side(${name} weft_upstream_pch)
  else()
    weft_compiler_side(${name} weft_pch)
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  # Libraries of tests are not installed.
  if(CMAKE_CURRENT_SOURCE_DIR MATCHES "^${PROJECT_SOURCE_DIR}/lib/")
    set_property(GLOBAL APPEND PROPERTY WEFT_COMPILER_LIBRARIES ${name})
    install(TARGETS ${name} EXPORT weftTargets ARCHIVE DESTINATION lib/weft)
  endif()
endfunction()

# Appends to the list `all` the compiler libraries that `libraries` link,
# directly or through others, each once.
function(weft_collect_linked all libraries)
  get_property(known GLOBAL PROPERTY WEFT_COMPILER_LIBRARIES)
  set(found ${${all}})
  foreach(library ${libraries})
    if(library IN_LIST known AND NOT library IN_LIST found)
      list(APPEND found ${library})
      get_target_property(next ${library} INTERFACE_LINK_LIBRARIES)
      if(next)
        weft_collect_linked(found "${next}")
      endif()
    endif()
  endforeach()
  set(${all} ${found} PARENT_SCOPE)
endfunction()

# A plug-in takes weft's symbols from the tool that loads it, so that both have
# one copy of each dialect and interface. Therefore a tool links its libraries
# whole and exports their symbols.
function(weft_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  weft_compiler_side(${name} weft_pch)
  weft_collect_linked(whole "${ARG_LINK}")
  list(TRANSFORM whole REPLACE "(.+)" "$<TARGET_FILE:\\1>")
  list(JOIN whole " " whole)
  target_link_options(${name} PRIVATE
    "SHELL:-Wl,--whole-archive ${whole} -Wl,--no-whole-archive")
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM)
  set_target_properties(${name} PROPERTIES ENABLE_EXPORTS ON
    BUILD_RPATH "${WEFT_LLVM_LIB_DIR}" INSTALL_RPATH "${WEFT_LLVM_LIB_DIR}")
  set_property(GLOBAL APPEND PROPERTY WEFT_TOOLS ${name})
  install(TARGETS ${name} EXPORT weftTargets RUNTIME DESTINATION bin)
endfunction()
