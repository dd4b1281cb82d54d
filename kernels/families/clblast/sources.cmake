set(sources resolve_clblast.cpp clblast_plan.cpp clblast_compiler.cpp clblast.cpp)
