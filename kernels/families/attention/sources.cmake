set(sources attention_plan.cpp attention.cpp)
