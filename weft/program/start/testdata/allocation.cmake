# Memory that ranks ask for, and a program without the simulator. Compilers must not leave out calls, nor believe that they keep errno.
execute_process(COMMAND ${WEFT} cc -O1 -fno-builtin ${SOURCE} -o ${PROGRAM} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE text RESULT_VARIABLE code)
if(NOT code EQUAL 0 OR NOT text STREQUAL "1 ranks, all right\n")
  message(FATAL_ERROR "alone, code ${code}: ${text}")
endif()
execute_process(COMMAND ${WEFT} sim -q --net ${PRESET} --set network.topology=torus:3x3x3 --payload full --threads 2 ${PROGRAM}
  OUTPUT_VARIABLE text ERROR_VARIABLE text RESULT_VARIABLE code)
if(NOT code EQUAL 0 OR NOT text STREQUAL "27 ranks, all right\n")
  message(FATAL_ERROR "simulated, code ${code}: ${text}")
endif()
# What was never touched is not counted: 27 ranks held 300 blocks of 200,000 bytes each, with a page of each in use.
execute_process(COMMAND ${WEFT} sim -q --verbose --net ${PRESET} --set network.topology=torus:3x3x3 --payload full ${PROGRAM}
  OUTPUT_QUIET ERROR_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
foreach(part "network state" "network buffers" "rank stacks" "rank data" "rank heap, library" "large blocks" "rest")
  if(NOT text MATCHES "\n  ${part} +[0-9.]+ MB")
    message(FATAL_ERROR "no ${part} in ${text}")
  endif()
endforeach()
