# Headers that most sources include are compiled once per kind of target: half of the time that a module takes to build goes into
# reading them. ccache and other launchers cannot reuse results that depend on such a file, so with them it is off.
set(weft_pch_default ON)
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(weft_pch_default OFF)
endif()
option(WEFT_PCH "Compile common headers once (off with a compiler launcher such as ccache)" ${weft_pch_default})
if(WEFT_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 forgets that precompiled headers are the system's, and warns of bounds inside the standard library.
  target_compile_options(weft_flags INTERFACE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
endif()

set(weft_precompiled_folder ${CMAKE_CURRENT_LIST_DIR}/precompiled)

# weft_precompiled(KIND [PIC] [OPTIONS ...] [LINK ...]): the target weft_precompiled_KIND, with its headers in precompiled/KIND.hpp.
# A compiler refuses a precompiled header whose flags or macros are not those of the source: hence a kind for each set of flags.
function(weft_precompiled kind)
  if(NOT WEFT_PCH)
    return()
  endif()
  cmake_parse_arguments(arg "PIC" "" "OPTIONS;LINK" ${ARGN})
  set(source ${PROJECT_BINARY_DIR}/precompiled/${kind}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "// Carries the headers that others reuse.\n")
  add_library(weft_precompiled_${kind} OBJECT ${source})
  set_target_properties(weft_precompiled_${kind} PROPERTIES POSITION_INDEPENDENT_CODE ${arg_PIC})
  target_compile_features(weft_precompiled_${kind} PRIVATE cxx_std_20)
  target_compile_options(weft_precompiled_${kind} PRIVATE ${arg_OPTIONS})
  target_link_libraries(weft_precompiled_${kind} PRIVATE weft_flags ${arg_LINK})
  target_precompile_headers(weft_precompiled_${kind} PRIVATE ${weft_precompiled_folder}/${kind}.hpp)
endfunction()

function(weft_reuse_precompiled target kind)
  if(WEFT_PCH)
    target_precompile_headers(${target} REUSE_FROM weft_precompiled_${kind})
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "[.]c$")
    set_source_files_properties(${sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)  # They are C++.
  endif()
endfunction()
