# noteg_test(name SOURCES ... DEPENDS ... [ALONE] [SLOW]): one GoogleTest executable, its tests discovered by ctest.
# Tests run in the root of the sources, so NOTEG_SOURCE_DIR is "."; with the same compile lines, checkouts share ccache.
# ALONE: each source compiles alone, since its helpers are named as those of its neighbours.
# SLOW puts the label slow on its tests: ./dev test leaves them out, ./dev test --slow runs them.
find_package(GTest REQUIRED)
include(GoogleTest)
function(noteg_test name)
  cmake_parse_arguments(ARG "ALONE;SLOW" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  if(NOT ARG_ALONE)
    noteg_unity(${name})
  endif()
  target_link_libraries(${name} PRIVATE noteg_warnings GTest::gtest GTest::gtest_main ${ARG_DEPENDS})
  target_compile_definitions(${name} PRIVATE NOTEG_SOURCE_DIR=".")
  # The time of a test is spent in the libraries; its own code unoptimised compiles in half the time.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O0>)
  set(labels "")
  if(ARG_SLOW)
    set(labels PROPERTIES LABELS slow)
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} ${labels})
endfunction()
