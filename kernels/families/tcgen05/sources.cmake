set(sources resolve_tcgen05.cpp tcgen05_plan.cpp tcgen05.cpp)
