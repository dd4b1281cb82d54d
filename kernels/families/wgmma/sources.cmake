set(sources resolve_wgmma.cpp wgmma_plan.cpp wgmma_parts.cpp wgmma.cpp)
