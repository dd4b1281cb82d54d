# Warnings are errors on our own targets only; dependencies are found as system packages.
add_library(noteg_warnings INTERFACE)
target_compile_options(noteg_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
# GCC 12 and 13 report an overlapping copy inside std::string's operator+ that is not there (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  target_compile_options(noteg_warnings INTERFACE -Wno-restrict)
endif()

# noteg_library(name SOURCES a.cpp ... DEPENDS other ...): one static library per folder, headers are
# included from the repository root, so that a forbidden dependency fails at link.
function(noteg_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/noteg>)
  target_compile_features(${name} PUBLIC cxx_std_20)
  # The program and the Python module are made of the same objects. Hidden symbols keep calls within a library direct,
  # so that position-independent code costs the program nothing.
  set_target_properties(${name} PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  set_property(GLOBAL APPEND PROPERTY noteg_libraries ${name})
  target_link_libraries(${name} PUBLIC ${ARG_DEPENDS} PRIVATE noteg_warnings ${ARG_PRIVATE_DEPENDS})
endfunction()
