set(sources resolve_mma.cpp known_mma.cpp mma_plan.cpp mma_parts.cpp mma.cpp mma_epilogue.cpp)
