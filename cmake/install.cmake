# cmake --install: the program, and beside it in share/noteg the files that it reads. arch installs its own.
include(GNUInstallDirs)
if(TARGET noteg)
  install(TARGETS noteg RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY kernels DESTINATION ${CMAKE_INSTALL_DATADIR}/noteg FILES_MATCHING PATTERN "*.yaml"
  PATTERN "builders" EXCLUDE PATTERN "passes" EXCLUDE)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
