# What the program tells about itself, for the target weft: texts for `weft help`, manual pages and scripts for shells. They lie in the
# build tree as they will when installed, and are made by the program that they describe.

# What was found when the libraries were configured, for weft doctor.
set(weft_found "")
foreach(module IN ITEMS weft_locality_hwloc)
  get_target_property(definitions ${module} COMPILE_DEFINITIONS)
  list(APPEND weft_found ${definitions})
endforeach()
list(FILTER weft_found INCLUDE REGEX "^WEFT_HWLOC$")
set_source_files_properties(doctor_parts.cpp PROPERTIES COMPILE_DEFINITIONS "${weft_found}")

set(weft_share ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_DATAROOTDIR})
if(IS_SYMLINK ${weft_share}/doc/weft)  # A build tree from when this led to the texts: what is written into it would be in the sources.
  file(REMOVE ${weft_share}/doc/weft)
endif()
file(MAKE_DIRECTORY ${weft_share}/doc/weft)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/docs ${weft_share}/doc/weft/docs SYMBOLIC)
# The layout of the sources, so that links between pages lead to the same pages.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/weft)
set(weft_pages README.md CONTRIBUTING.md CHANGELOG.md LICENSE)
list(TRANSFORM weft_pages PREPEND ${PROJECT_SOURCE_DIR}/)
install(FILES ${weft_pages} DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/weft)

string(TIMESTAMP weft_date "%Y-%m-%d" UTC)  # Of SOURCE_DATE_EPOCH, if that is set.
set(weft_bash ${weft_share}/bash-completion/completions)
set(weft_zsh ${weft_share}/zsh/site-functions)
set(weft_fish ${weft_share}/fish/vendor_completions.d)
set(weft_words ${weft_bash}/weft ${weft_zsh}/_weft ${weft_fish}/weft.fish)
set(weft_itself ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0 ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:weft>)  # Looking for leaks takes seconds.
add_custom_command(OUTPUT ${weft_words} ${weft_share}/man/man1/weft.1
  COMMAND ${CMAKE_COMMAND} -E make_directory ${weft_bash} ${weft_zsh} ${weft_fish}
  COMMAND ${weft_itself} completion bash > ${weft_bash}/weft
  COMMAND ${weft_itself} completion zsh > ${weft_zsh}/_weft
  COMMAND ${weft_itself} completion fish > ${weft_fish}/weft.fish
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${weft_share}/man
  COMMAND ${weft_itself} help --man-pages ${weft_share}/man/man1 --man-date ${weft_date}
  DEPENDS weft COMMENT "Making manual pages and shell completion" VERBATIM)
add_custom_target(weft_manual ALL DEPENDS ${weft_words} ${weft_share}/man/man1/weft.1)
install(DIRECTORY ${weft_share}/man/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES ${weft_bash}/weft DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions)
install(FILES ${weft_zsh}/_weft DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/zsh/site-functions)
install(FILES ${weft_fish}/weft.fish DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/fish/vendor_completions.d)
