# NOTEG_FUZZ: the libraries are instrumented for libFuzzer and tests/fuzz is built. clang only (Debian: clang-14); the
# preset `fuzz` adds the address and undefined-behaviour sanitisers, without which a fuzzer sees little.
option(NOTEG_FUZZ "build the fuzz targets of tests/fuzz (clang)" OFF)
if(NOTEG_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "NOTEG_FUZZ needs clang: cmake --preset fuzz")
  endif()
  target_compile_options(noteg_warnings INTERFACE -fsanitize=fuzzer-no-link -Wno-error)
endif()
