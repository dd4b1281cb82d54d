set(sources blocked_family.cpp blocked.cpp blocked_parts.cpp)
