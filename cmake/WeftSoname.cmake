# weft_soname(RESULT LIBRARY ...): the name under which programs load the first of these shared libraries.
function(weft_soname result library)
  execute_process(COMMAND ${CMAKE_READELF} -d ${library} OUTPUT_VARIABLE said ERROR_QUIET)
  if(NOT said MATCHES "SONAME[^[]*\\[([^]]+)\\]")
    message(FATAL_ERROR "${library} does not say under which name it is loaded (SONAME); is it a shared library?")
  endif()
  set(${result} ${CMAKE_MATCH_1} PARENT_SCOPE)
endfunction()
