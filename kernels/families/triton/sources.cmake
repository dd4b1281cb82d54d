set(sources resolve_triton.cpp known_triton.cpp triton_plan.cpp triton_parts.cpp triton_ffma.cpp triton_epilogue.cpp triton_text.cpp triton.cpp)
