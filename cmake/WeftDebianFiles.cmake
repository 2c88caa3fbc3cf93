# Run by cpack before it packs: what Debian has in other places or other forms than an ordinary installation.
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr)
set(doc ${root}/share/doc/weft)

# Its zsh looks here.
file(MAKE_DIRECTORY ${root}/share/zsh/vendor-completions)
file(RENAME ${root}/share/zsh/site-functions/_weft ${root}/share/zsh/vendor-completions/_weft)
file(REMOVE_RECURSE ${root}/share/zsh/site-functions)

file(WRITE ${doc}/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: weft

Files: *
Copyright: 2026 the authors of weft
License: Apache-2.0

Files: usr/share/weft/report.html
Copyright: 2026 the authors of weft; authors of d3 and three.js as named in the file
License: Apache-2.0 and ISC and Expat
 The texts of the licences of d3 and three.js are at the end of the file.

License: Apache-2.0
 On Debian systems the full text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0; it is also in
 /usr/share/doc/weft/LICENSE.
")
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${doc}/changelog "weft (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * See CHANGELOG.md.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
file(GLOB pages ${root}/share/man/man1/*.1)
foreach(page IN LISTS pages ITEMS ${doc}/changelog)
  execute_process(COMMAND gzip -9 -n -f ${page} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
