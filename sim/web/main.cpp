// The one function that JavaScript calls: a question in, an answer out, both JSON texts in UTF-8 (sim/web/live.hpp).
// The answer stays valid until the next question.
#include <string>

#include "sim/web/live.hpp"

extern "C" const char* noteg_answer(const char* question) {
  static noteg::web::Live live;  // of this instance, which belongs to one worker
  static std::string answer;
  answer = live.answer(question);
  return answer.c_str();
}
