set(sources naive_family.cpp naive.cpp naive_parts.cpp naive_static.cpp)
