set(sources simt_family.cpp simt_plan.cpp simt_copy.cpp simt.cpp simt_epilogue.cpp)
