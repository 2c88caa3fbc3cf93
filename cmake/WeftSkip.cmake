# A test that cannot run here is added all the same and reports skipped, with the reason, so that it is counted: a test that is not
# there is missed by nobody.

# weft_skipped("reason" name...): these tests, in place of the real ones.
function(weft_skipped reason)
  foreach(name IN LISTS ARGN)
    add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "skipped: ${reason}" ${weft_check_when})
    set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
  endforeach()
endfunction()

# weft_check(NAME name COMMAND words... [LACKS reason] [SLOW] [PROPERTIES ...]): a test that is a script. It exits with 77 when it finds
# out that it cannot run (tests/skip.py); with a reason that is known now, it is not started at all. SLOW: one of `ctest -C slow`.
function(weft_check)
  cmake_parse_arguments(PARSE_ARGV 0 arg "SLOW" "NAME;LACKS" "COMMAND;PROPERTIES")
  set(weft_check_when "")
  if(arg_SLOW)
    set(weft_check_when CONFIGURATIONS slow)
  endif()
  if(arg_LACKS)
    weft_skipped("${arg_LACKS}" ${arg_NAME})
    return()
  endif()
  add_test(NAME ${arg_NAME} COMMAND ${arg_COMMAND} ${weft_check_when})
  set_tests_properties(${arg_NAME} PROPERTIES SKIP_RETURN_CODE 77 ${arg_PROPERTIES})
endfunction()

# Why programs that weft cc makes cannot be tested in this build, or nothing.
set(WEFT_LACKS_PROGRAMS "")
if(WEFT_SANITIZE)
  set(WEFT_LACKS_PROGRAMS "built with a sanitizer: the test sanitized runs programs in such a build")
endif()
