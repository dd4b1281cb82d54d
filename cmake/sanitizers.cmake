# NOTEG_SANITIZE=address,undefined or thread (see the presets): on our own targets, which all link
# noteg_warnings; the link options reach executables through it. -O1 keeps the simulator bearable, and a finding fails the run.
set(NOTEG_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize takes them; empty for none")
if(NOTEG_SANITIZE)
  target_compile_options(noteg_warnings INTERFACE -fsanitize=${NOTEG_SANITIZE} -fno-sanitize-recover=all
                                                  -fno-omit-frame-pointer -O1)
  # Instrumented code makes GCC see uninitialised reads that are not there.
  target_compile_options(noteg_warnings INTERFACE -Wno-maybe-uninitialized)
  target_link_options(noteg_warnings INTERFACE -fsanitize=${NOTEG_SANITIZE})
endif()
