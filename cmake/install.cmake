# cmake --install: the program, and the GPU and kernel files it reads, in share/noteg.
include(GNUInstallDirs)
if(TARGET noteg)
  install(TARGETS noteg RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY arch kernels DESTINATION ${CMAKE_INSTALL_DATADIR}/noteg FILES_MATCHING PATTERN "*.yaml")
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
