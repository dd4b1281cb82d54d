set(sources flash3_plan.cpp flash3.cpp)
