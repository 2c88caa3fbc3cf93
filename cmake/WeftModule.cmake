# A module says its row of the layer table once: USES makes the link dependency and, through the layers test, the include rule.
include(GoogleTest OPTIONAL)

option(WEFT_WERROR "Treat warnings as errors" OFF)
set(WEFT_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize= (address,undefined or thread)")
include(WeftSkip)

add_library(weft_flags INTERFACE)
target_compile_options(weft_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow
  # Fused multiply-add rounds differently, and GCC fuses by default on ARM: predictions must not depend on the machine.
  -ffp-contract=off
  # GCC 12 sees overlapping copies in "text" + std::string where there are none (its bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<BOOL:${WEFT_WERROR}>:-Werror>)
if(WEFT_SANITIZE)
  target_compile_options(weft_flags INTERFACE -fsanitize=${WEFT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # Clang's check of calls through pointers cannot be compiled in coroutines ("Cannot represent a difference across sections").
  target_compile_options(weft_flags INTERFACE $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
  target_link_options(weft_flags INTERFACE -fsanitize=${WEFT_SANITIZE})
  if(WEFT_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # It warns of fences, which the sanitizer does not follow; ours are between processes, where it sees nothing at all.
    target_compile_options(weft_flags INTERFACE -Wno-tsan)
  endif()
endif()

# Code of a test runs once, so it is compiled with less effort than what it tests, in half of the time.
set(weft_test_options $<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-O1>)

include(WeftPrecompiled)
weft_precompiled(module PIC)
weft_precompiled(text PIC LINK fmt::fmt)
if(BUILD_TESTING)
  weft_precompiled(test OPTIONS ${weft_test_options} LINK GTest::gtest)
endif()

set_property(GLOBAL PROPERTY WEFT_MODULES "")

# PUBLIC headers are installed and keep what their first lines promise; HEADERS are for other modules of weft. What is FOR_TESTS alone is
# neither installed nor a part of the product.
function(weft_module)
  cmake_parse_arguments(arg "FOR_TESTS" "NAME" "USES;SOURCES;PUBLIC;HEADERS;TESTS;PRIVATE" ${ARGN})
  set(target weft_${arg_NAME})
  add_library(${target} STATIC ${arg_SOURCES})
  add_library(weft::${arg_NAME} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${arg_NAME} POSITION_INDEPENDENT_CODE ON)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${arg_PUBLIC})
  foreach(used IN LISTS arg_USES)
    target_link_libraries(${target} PUBLIC weft::${used})
  endforeach()
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:weft_flags> ${arg_PRIVATE})
  if("fmt::fmt" IN_LIST arg_PRIVATE)
    weft_reuse_precompiled(${target} text)
  else()
    weft_reuse_precompiled(${target} module)
  endif()
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  list(TRANSFORM arg_PUBLIC PREPEND ${folder}/)
  list(TRANSFORM arg_HEADERS PREPEND ${folder}/)
  set_property(GLOBAL APPEND PROPERTY WEFT_PUBLIC_HEADERS ${arg_PUBLIC})
  set_property(GLOBAL APPEND PROPERTY WEFT_PRIVATE_HEADERS ${arg_HEADERS})
  string(REPLACE ";" " " uses "${arg_USES}")
  set_property(GLOBAL APPEND PROPERTY WEFT_LAYERS "${folder}:${uses}")
  if(NOT arg_FOR_TESTS)
    set_property(GLOBAL APPEND PROPERTY WEFT_MODULES "${arg_NAME}")
    install(TARGETS ${target} EXPORT weft-targets
      ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
      FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  endif()
  if(BUILD_TESTING AND arg_TESTS)
    weft_test(NAME ${arg_NAME}_test SOURCES ${arg_TESTS} LINK weft::${arg_NAME})
  endif()
endfunction()

# A GoogleTest program; every case is a test of its own. Cases with "Workers" in their names start threads that wait for each
# other, so they get both cores: beside another test, each meeting of the threads would wait for a turn on the processor.
function(weft_test)
  cmake_parse_arguments(arg "" "NAME;TIMEOUT" "SOURCES;LINK;DEFINES" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  add_executable(${arg_NAME} ${arg_SOURCES})
  target_link_libraries(${arg_NAME} PRIVATE weft_flags ${arg_LINK} GTest::gtest GTest::gtest_main)
  target_include_directories(${arg_NAME} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${arg_NAME} PRIVATE ${arg_DEFINES})
  target_compile_options(${arg_NAME} PRIVATE ${weft_test_options})
  weft_reuse_precompiled(${arg_NAME} test)
  # A sanitizer looks for leaks at the end of each process, for seconds on some machines: one process per program then.
  if(WEFT_SANITIZE)
    add_test(NAME ${arg_NAME} COMMAND ${arg_NAME} --gtest_brief=1)
    set_tests_properties(${arg_NAME} PROPERTIES TIMEOUT 1500)
    return()
  endif()
  set(discovery NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT ${arg_TIMEOUT})
  gtest_discover_tests(${arg_NAME} TEST_FILTER "-*Workers*" TEST_LIST ${arg_NAME}_single ${discovery})
  gtest_discover_tests(${arg_NAME} TEST_FILTER "*Workers*" TEST_LIST ${arg_NAME}_threads ${discovery} PROCESSORS 2)
endfunction()
