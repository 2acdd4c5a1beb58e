# Writes the PTX in INPUT to OUTPUT as PTX of at most VERSION. Newer instructions
# stay, for ptxas to refuse.
file(READ "${INPUT}" text)
if(NOT text MATCHES "\n\\.version ([0-9]+\\.[0-9]+)\n")
  message(FATAL_ERROR "expects a version of PTX in ${INPUT}, but got none")
endif()
if(CMAKE_MATCH_1 VERSION_GREATER VERSION)
  string(REPLACE "\n.version ${CMAKE_MATCH_1}\n" "\n.version ${VERSION}\n" text "${text}")
  # Hints which bytes of a loaded vector are used, since PTX 8.3.
  string(REGEX REPLACE "\n[ \t]*\\.pragma \"used_bytes_mask [^\n]*" "" text "${text}")
endif()
file(WRITE "${OUTPUT}" "${text}")
