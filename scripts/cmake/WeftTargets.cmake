# weft_library(NAME sources... [LINK libs...])        std only: Formats, Runtime, kernels
# weft_mlir_library(NAME sources... [LINK libs...])   compiler side: precompiled MLIR headers
# weft_tool(NAME sources... [LINK libs...])           compiler-side executable in build/bin
# weft_tablegen(TARGET file.td -gen-x out.inc ...)    (pairs) TableGen into the build tree

function(weft_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
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
# in its place: that of the text of all headers, made whenever CMake runs.
function(weft_checksum_headers)
  set(includes ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  list(TRANSFORM includes PREPEND "-I")
  list(TRANSFORM ARGN PREPEND "#include " OUTPUT_VARIABLE lines)
  list(JOIN lines "\n" text)
  file(WRITE "${CMAKE_BINARY_DIR}/weft_pch_headers.h" "${text}\n")
  execute_process(
    COMMAND "${CMAKE_CXX_COMPILER}" -std=c++17 ${includes} -E -dD -x c++ weft_pch_headers.h
    WORKING_DIRECTORY "${CMAKE_BINARY_DIR}" OUTPUT_VARIABLE text ERROR_QUIET RESULT_VARIABLE failed)
  set(checksum "${CMAKE_BINARY_DIR}/CMakeFiles/weft_pch.dir/cmake_pch.hxx.pch.sum")
  if(failed)
    file(REMOVE "${checksum}")
    return()
  endif()
  string(SHA256 sum "${text}")
  file(WRITE "${checksum}" "${sum}\n")
endfunction()

# One precompiled header serves every compiler-side target.
if(NOT TARGET weft_pch)
  if(NOT EXISTS "${CMAKE_BINARY_DIR}/weft_pch.cpp")
    file(WRITE "${CMAKE_BINARY_DIR}/weft_pch.cpp" "")
  endif()
  add_library(weft_pch OBJECT "${CMAKE_BINARY_DIR}/weft_pch.cpp")
  target_include_directories(weft_pch SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_compile_definitions(weft_pch PUBLIC ${WEFT_COMPILER_DEFINITIONS})
  set(WEFT_PRECOMPILED_HEADERS
    "<mlir/IR/Builders.h>" "<mlir/IR/BuiltinOps.h>" "<mlir/IR/BuiltinTypes.h>"
    "<mlir/IR/OpImplementation.h>" "<mlir/IR/PatternMatch.h>" "<mlir/Pass/Pass.h>"
    "<mlir/Interfaces/FunctionInterfaces.h>" "<mlir/Interfaces/SideEffectInterfaces.h>"
    "<llvm/ADT/TypeSwitch.h>" "<map>" "<string>" "<vector>")
  target_precompile_headers(weft_pch PRIVATE ${WEFT_PRECOMPILED_HEADERS})
  weft_checksum_headers(${WEFT_PRECOMPILED_HEADERS})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(weft_pch PUBLIC ${WEFT_COMPILER_OPTIONS} -fpch-instantiate-templates "SHELL:-Xclang -fno-pch-timestamp")
  endif()
  # Ninja compiles a target before the libraries that it depends on are built, but
  # not before a custom one is: the header is there first.
  add_custom_target(weft_pch_built DEPENDS $<TARGET_OBJECTS:weft_pch>)
endif()

function(weft_compiler_side name)
  target_compile_definitions(${name} PUBLIC ${WEFT_COMPILER_DEFINITIONS})
  target_include_directories(${name} SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  # CMake would name the header by its absolute path, by which ccache tells clones apart.
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND CMAKE_GENERATOR STREQUAL "Ninja")
    add_dependencies(${name} weft_pch_built)
    target_compile_options(${name} PRIVATE -fpch-instantiate-templates "SHELL:-Xclang -fno-pch-timestamp"
      -Winvalid-pch "SHELL:-include-pch CMakeFiles/weft_pch.dir/cmake_pch.hxx.pch")
  else()
    target_precompile_headers(${name} REUSE_FROM weft_pch)
  endif()
  # The precompiled header is -fPIC; executables would get -fPIE otherwise.
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC ${WEFT_COMPILER_OPTIONS})
  add_dependencies(${name} weft_headers)
endfunction()

function(weft_mlir_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  weft_compiler_side(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
endfunction()

function(weft_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  weft_compiler_side(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM)
  set_target_properties(${name} PROPERTIES
    BUILD_RPATH "${WEFT_LLVM_LIB_DIR}" INSTALL_RPATH "${WEFT_LLVM_LIB_DIR}")
  set_property(GLOBAL APPEND PROPERTY WEFT_TOOLS ${name})
  install(TARGETS ${name} RUNTIME DESTINATION bin)
endfunction()

# All generated headers hang off one target, so that no library compiles before they exist.
if(NOT TARGET weft_headers)
  add_custom_target(weft_headers)
endif()

function(weft_tablegen target td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(TABLEGEN_OUTPUT)
  set(rest ${ARGN})
  while(rest)
    list(POP_FRONT rest gen out)
    separate_arguments(gen)
    mlir_tablegen(${out} ${gen} "-I${PROJECT_SOURCE_DIR}/include" "-I${MLIR_INCLUDE_DIRS}")
  endwhile()
  add_custom_target(${target} DEPENDS ${TABLEGEN_OUTPUT})
  add_dependencies(weft_headers ${target})
endfunction()
