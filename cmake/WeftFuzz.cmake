# Parsers of what comes from outside, under libFuzzer. Only with -DWEFT_FUZZ=ON and Clang; then run NAME, or NAME -max_total_time=60.
option(WEFT_FUZZ "Build fuzzers (needs Clang; use with -DWEFT_SANITIZE=address,undefined)" OFF)
if(WEFT_FUZZ AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "WEFT_FUZZ needs Clang: -DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14")
endif()
if(WEFT_FUZZ)
  # Without this in the libraries a fuzzer would not see which ways it takes through them.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# weft_fuzzer(NAME frame_fuzz SOURCES frame_fuzz.cpp LINK weft::launch); a test runs it for a short while.
function(weft_fuzzer)
  cmake_parse_arguments(arg "" "NAME" "SOURCES;LINK" ${ARGN})
  if(NOT WEFT_FUZZ)
    return()
  endif()
  add_executable(${arg_NAME} ${arg_SOURCES})
  target_link_libraries(${arg_NAME} PRIVATE weft_flags ${arg_LINK})
  target_link_options(${arg_NAME} PRIVATE -fsanitize=fuzzer)
  if(BUILD_TESTING)
    add_test(NAME fuzz.${arg_NAME} COMMAND ${arg_NAME} -runs=100000 -max_len=4096 -seed=1 -verbosity=0)
    set_tests_properties(fuzz.${arg_NAME} PROPERTIES TIMEOUT 600)
  endif()
endfunction()
