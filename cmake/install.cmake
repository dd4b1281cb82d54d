# cmake --install: the program, its manual page and completions, in share/noteg the files that it reads, and for
# find_package(noteg) the libraries with their headers. Components: program, development.
include(GNUInstallDirs)

if(TARGET noteg)
  install(TARGETS noteg RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
  install(FILES ${NOTEG_MANUAL} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
endif()
install(FILES cmake/completion/noteg.bash RENAME noteg
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
install(FILES cmake/completion/_noteg DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT program)
install(FILES cmake/completion/noteg.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
  COMPONENT program)
install(DIRECTORY arch/gpus arch/generations DESTINATION ${CMAKE_INSTALL_DATADIR}/noteg/arch COMPONENT program
  FILES_MATCHING PATTERN "*.yaml")
install(DIRECTORY kernels/library DESTINATION ${CMAKE_INSTALL_DATADIR}/noteg/kernels COMPONENT program
  FILES_MATCHING PATTERN "*.yaml")
install(DIRECTORY models/ DESTINATION ${CMAKE_INSTALL_DATADIR}/noteg/models COMPONENT program
  FILES_MATCHING PATTERN "*.yaml")
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs COMPONENT program FILES_MATCHING PATTERN "*.md")

# Headers are included as in the sources: #include "arch/load.hpp".
get_property(libraries GLOBAL PROPERTY noteg_libraries)
install(TARGETS ${libraries} noteg_warnings EXPORT noteg_targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/noteg COMPONENT development)
install(DIRECTORY arch kernels sim DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/noteg COMPONENT development
  FILES_MATCHING PATTERN "*.hpp")
set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/noteg)
install(EXPORT noteg_targets NAMESPACE noteg:: DESTINATION ${package_directory} COMPONENT development)
include(CMakePackageConfigHelpers)
configure_package_config_file(cmake/noteg-config.cmake.in ${PROJECT_BINARY_DIR}/noteg-config.cmake
  INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/noteg-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/noteg-config.cmake ${PROJECT_BINARY_DIR}/noteg-config-version.cmake
  DESTINATION ${package_directory} COMPONENT development)
