# Run with -P; the variables are set in CMakeLists.txt.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

if(sanitize)
  string(APPEND flags " -fsanitize=${sanitize}")
endif()
file(REMOVE_RECURSE ${work})
run(${CMAKE_COMMAND} --install ${build} --prefix ${work}/prefix)
# An installation does not know where it is.
file(RENAME ${work}/prefix ${work}/moved)
run(${python} -B ${CMAKE_CURRENT_LIST_DIR}/check_headers.py ${source} ${work}/moved/include)
run(${python} -B ${CMAKE_CURRENT_LIST_DIR}/check_links.py ${work}/moved)
run(${CMAKE_COMMAND} -S ${consumer} -B ${work}/build -G ${generator}
  -D CMAKE_PREFIX_PATH=${work}/moved -D CMAKE_CXX_COMPILER=${compiler} "-DCMAKE_CXX_FLAGS=${flags}"
  -D CMAKE_FIND_PACKAGE_NO_PACKAGE_REGISTRY=ON)
run(${CMAKE_COMMAND} --build ${work}/build)
set(routing ${work}/build/libcolumn_first.so:column-first)
run(${work}/build/show_route ${routing} mesh:4x3 0 11)
# Node 0 is at (0,0) and node 11 at (3,2): the column is walked first, then the row.
set(expected "(0,0)\n(0,1)\n(0,2)\n(1,2)\n(2,2)\n(3,2)\n")
if(NOT out STREQUAL expected)
  message(FATAL_ERROR "the plug-in's route is\n${out}\ninstead of\n${expected}")
endif()

# The same by pkg-config.
file(GLOB_RECURSE package ${work}/moved/*/weft.pc)
get_filename_component(package ${package} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} "${package}")
find_program(pkg_config pkg-config REQUIRED)
run(${pkg_config} --cflags --libs weft)
separate_arguments(words UNIX_COMMAND "${flags} ${out}")
run(${compiler} -shared -fPIC ${consumer}/column_first.cpp -o ${work}/libby_pkg_config.so ${words})
run(${compiler} ${consumer}/show_route.cpp -o ${work}/by_pkg_config ${words})
run(${work}/by_pkg_config ${work}/libby_pkg_config.so:column-first mesh:4x3 0 11)
if(NOT out STREQUAL expected)
  message(FATAL_ERROR "built by pkg-config, the plug-in's route is\n${out}\ninstead of\n${expected}")
endif()
# The installed program loads the policy, and refuses it where it does not fit.
run(${work}/moved/bin/weft traffic --net mesh:4x3 --routing ${routing} --load 0.1)
execute_process(COMMAND ${work}/moved/bin/weft traffic --net torus:4x4 --routing ${routing} --load 0.1
  RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
if(code EQUAL 0 OR NOT out MATCHES "does not fit torus:4x4")
  message(FATAL_ERROR "a policy for meshes on a torus: ${code}\n${out}")
endif()
run(${work}/moved/bin/weft net mesh:4x3)
message(STATUS "installed, moved, found by CMake and pkg-config, built and run")
