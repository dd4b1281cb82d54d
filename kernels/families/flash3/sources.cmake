set(sources flash3_plan.cpp flash3.cpp flash3_producer.cpp)
