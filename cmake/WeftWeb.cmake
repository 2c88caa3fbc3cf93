# The page that `weft report` fills: one HTML file from web/, with its libraries from npm. -DWEFT_WEB=OFF builds all else.
option(WEFT_WEB "Build the page of weft report (needs nodejs and npm)" ON)
set(WEFT_LACKS_WEB "")
if(NOT WEFT_WEB)
  set(WEFT_LACKS_WEB "built with -DWEFT_WEB=OFF")
  if(BUILD_TESTING)
    weft_skipped(${WEFT_LACKS_WEB} web.types web.unit web.page)
  endif()
  return()
endif()

set(web_remedy "install it (Debian: apt-get install nodejs npm) or leave the page out with -DWEFT_WEB=OFF")
find_program(WEFT_NODE NAMES node nodejs)
find_program(WEFT_NPM NAMES npm)
if(NOT WEFT_NODE)
  message(FATAL_ERROR "WEFT_WEB needs node 18 or later: ${web_remedy}")
endif()
if(NOT WEFT_NPM)
  message(FATAL_ERROR "WEFT_WEB needs npm: ${web_remedy}")
endif()
execute_process(COMMAND ${WEFT_NODE} --version OUTPUT_VARIABLE web_node_version OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REGEX REPLACE "^v" "" web_node_version "${web_node_version}")
if(web_node_version VERSION_LESS 18)
  message(FATAL_ERROR "WEFT_WEB needs node 18 or later, and ${WEFT_NODE} is ${web_node_version}: ${web_remedy}")
endif()

# npm works in the build tree; the sources are seen there through links, so that imports find node_modules.
set(web_source ${PROJECT_SOURCE_DIR}/web)
set(web_build ${PROJECT_BINARY_DIR}/web)
set(WEFT_REPORT_PAGE ${PROJECT_BINARY_DIR}/share/weft/report.html)
file(MAKE_DIRECTORY ${web_build})
foreach(name IN ITEMS src test build.mjs tsconfig.json)
  file(CREATE_LINK ${web_source}/${name} ${web_build}/${name} SYMBOLIC)
endforeach()
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/tests/report/page ${web_build}/page SYMBOLIC)
set(web_node ${CMAKE_COMMAND} -E chdir ${web_build} ${WEFT_NODE} --preserve-symlinks --preserve-symlinks-main)

add_custom_command(OUTPUT ${web_build}/libraries.stamp
  COMMAND ${CMAKE_COMMAND} -E copy ${web_source}/package.json ${web_source}/package-lock.json ${web_source}/.npmrc
          ${web_build}
  COMMAND ${web_node} ${web_source}/libraries.mjs ${WEFT_NPM}
  COMMAND ${CMAKE_COMMAND} -E touch ${web_build}/libraries.stamp
  DEPENDS ${web_source}/package.json ${web_source}/package-lock.json ${web_source}/.npmrc
          ${web_source}/libraries.mjs
  COMMENT "Fetching the libraries of the report's page"
  VERBATIM)

add_custom_command(OUTPUT ${WEFT_REPORT_PAGE}
  COMMAND ${web_node} build.mjs page ${WEFT_REPORT_PAGE}
  DEPENDS ${web_build}/libraries.stamp ${web_source}/build.mjs
  DEPFILE ${WEFT_REPORT_PAGE}.d
  COMMENT "Making the report's page"
  VERBATIM)
add_custom_target(weft_web ALL DEPENDS ${WEFT_REPORT_PAGE})
install(FILES ${WEFT_REPORT_PAGE} DESTINATION ${CMAKE_INSTALL_DATADIR}/weft)

if(BUILD_TESTING)
  add_test(NAME web.types COMMAND ${web_node} node_modules/typescript/bin/tsc -p tsconfig.json)
  add_test(NAME web.unit COMMAND ${web_node} page/unit.mjs)
  add_test(NAME web.page COMMAND ${web_node} page/run.mjs --template ${WEFT_REPORT_PAGE})
  set_tests_properties(web.page PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600)
endif()
