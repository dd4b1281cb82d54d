# The sources of a folder compile in batches: most of a first build is the compiler's reading of the same headers. What a
# file keeps to itself (in an anonymous namespace) needs a name of its own within its folder. Where each source compiles
# alone, -Wshadow also looks at the names of its file; in a batch those would be the names of its neighbours.
option(NOTEG_UNITY "compile the sources of a folder in batches" OFF)

# Warnings are errors on our own targets only; dependencies are found as system packages.
add_library(noteg_warnings INTERFACE)
target_compile_options(noteg_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Werror
  $<IF:$<BOOL:${NOTEG_UNITY}>,-Wshadow=local,-Wshadow>)
# GCC 12 and 13 report an overlapping copy inside std::string's operator+ that is not there (GCC bug 105651), and at -O2
# reads of the value of an empty std::optional that its test has ruled out (GCC bug 80635).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  target_compile_options(noteg_warnings INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
endif()

function(noteg_unity target)
  if(NOT NOTEG_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    if(IS_ABSOLUTE ${source})  # made by the build
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      continue()
    endif()
    get_filename_component(folder ${source} DIRECTORY)
    string(MAKE_C_IDENTIFIER "in_${folder}" folder)
    math(EXPR count_${folder} "0${count_${folder}} + 1")
    math(EXPR batch "${count_${folder}} / 12")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${batch})
  endforeach()
endfunction()

# noteg_library(name [HOT] [COLD] SOURCES a.cpp ... DEPENDS other ...): one static library per folder, headers are
# included from the repository root, so that a forbidden dependency fails at link. HOT: holds the loops that a command
# spends its time in. COLD: runs once for each command, and is optimised for the time of the build. On the live page
# all but the loops are optimised for size, since a browser loads them; its compiler has no -Og.
function(noteg_library name)
  cmake_parse_arguments(ARG "HOT;COLD" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  if(EMSCRIPTEN)
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:$<IF:$<BOOL:${ARG_HOT}>,-O2,-Os>>)
  elseif(ARG_COLD)
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-Og>)
  elseif(NOT ARG_HOT)
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O2>)
  endif()
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/noteg>)
  target_compile_features(${name} PUBLIC cxx_std_20)
  # The program and the Python module are made of the same objects. Hidden symbols keep calls within a library direct,
  # so that position-independent code costs the program nothing.
  set_target_properties(${name} PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  set_property(GLOBAL APPEND PROPERTY noteg_libraries ${name})
  noteg_unity(${name})
  target_link_libraries(${name} PUBLIC ${ARG_DEPENDS} PRIVATE noteg_warnings ${ARG_PRIVATE_DEPENDS})
endfunction()
