# NOTEG_FULL_VERSION: what noteg --version prints. From the last tag of the form v1.2.3 (v1.2.3-4-gabcdef when commits
# follow it); in a tarball of git archive from cmake/version.txt, which git fills in; else the project's version.
set(NOTEG_FULL_VERSION ${PROJECT_VERSION})
find_package(Git QUIET)
set(described "")
if(GIT_FOUND AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
  execute_process(
    COMMAND ${GIT_EXECUTABLE} -c safe.directory=${PROJECT_SOURCE_DIR} describe --tags --match "v[0-9]*" --dirty
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
else()
  file(READ ${PROJECT_SOURCE_DIR}/cmake/version.txt described)
  string(STRIP "${described}" described)
endif()
if(described MATCHES "^v([0-9].*)$")
  set(NOTEG_FULL_VERSION ${CMAKE_MATCH_1})
endif()
