# Files of the sources as bytes of the program. noteg_embed(OUT FILE NAME FILE NAME ...) writes, at build time, a source
# that defines for each NAME the array NAME and its length NAME_size in namespace noteg::embedded. A FILE that is empty
# (""): an array of length 0.
# As a script: cmake -DOUT=... "-DPAIRS=FILE|NAME|..." -P embed.cmake
if(CMAKE_SCRIPT_MODE_FILE)
  string(REPLACE "|" ";" PAIRS "${PAIRS}")
  set(text "// Made by cmake/embed.cmake.\n#include <cstddef>\nnamespace noteg::embedded {\n")
  while(PAIRS)
    list(POP_FRONT PAIRS file name)
    set(bytes "")
    set(size 0)
    if(NOT file STREQUAL "-")
      file(READ "${file}" bytes HEX)
      string(LENGTH "${bytes}" size)
      math(EXPR size "${size} / 2")
      string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
      string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    endif()
    string(APPEND text "extern const unsigned char ${name}[];\nextern const std::size_t ${name}_size;\n"
                       "const unsigned char ${name}[] = {\n${bytes}0};\nconst std::size_t ${name}_size = ${size};\n")
  endwhile()
  file(WRITE "${OUT}" "${text}}  // namespace noteg::embedded\n")
  return()
endif()

set(NOTEG_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(noteg_embed out)
  set(pairs ${ARGN})
  set(files "")
  while(pairs)
    list(POP_FRONT pairs file name)
    if(NOT file STREQUAL "-")
      list(APPEND files ${file})
    endif()
  endwhile()
  string(REPLACE ";" "|" joined "${ARGN}")
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} "-DPAIRS=${joined}" -P ${NOTEG_EMBED_SCRIPT}
    DEPENDS ${files} ${NOTEG_EMBED_SCRIPT}
    COMMENT "Embedding files for ${out}"
    VERBATIM)
endfunction()
