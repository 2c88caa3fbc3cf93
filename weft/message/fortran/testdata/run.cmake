# Compiles a program with weft fc and runs it on a simulated network. It says that it is right, and nothing else.
get_filename_component(here ${SOURCE} DIRECTORY)
get_filename_component(name ${SOURCE} NAME_WE)
file(MAKE_DIRECTORY ${PROGRAM}.made)
set(parts ${CMAKE_CURRENT_LIST_DIR}/checks.f90 ${SOURCE})
if(EXISTS ${here}/${name}_part.c)  # In C, by the C compiler that gfortran knows.
  list(APPEND parts ${here}/${name}_part.c)
endif()
execute_process(COMMAND ${WEFT} fc -g -Wall -Wno-unused-dummy-argument ${parts} -o ${PROGRAM}
  WORKING_DIRECTORY ${PROGRAM}.made RESULT_VARIABLE code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${SOURCE} does not compile")
endif()
execute_process(COMMAND ${WEFT} sim --net torus:4x4 --payload full ${PROGRAM} RESULT_VARIABLE code OUTPUT_VARIABLE output)
string(REGEX MATCHALL "(^|\n) *ok ${name} *\n" said "${output}")
list(LENGTH said times)
if(NOT code EQUAL 0 OR NOT times EQUAL 1 OR output MATCHES "wrong")
  message(FATAL_ERROR "exit code ${code}, output:\n${output}")
endif()
