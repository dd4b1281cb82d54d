# Compiles go through ccache where it is installed and nobody chose another launcher.
find_program(NOTEG_CCACHE ccache)
mark_as_advanced(NOTEG_CCACHE)
if(NOTEG_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${NOTEG_CCACHE})
endif()
