set(sources gemv_family.cpp gemv.cpp)
