#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "sim/cli/command.hpp"
#include "sim/serve/noteg.h"

// The type that the header only names.
struct noteg_service {
  noteg::serve::Service service{noteg::cli::request_runner()};
};

namespace {

char* copy_of(const std::string& text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace

// No exception may leave a function that C calls.
noteg_service* noteg_open(void) {
  try {
    return new noteg_service;
  } catch (...) {
    return nullptr;
  }
}

char* noteg_ask(noteg_service* service, const char* request) {
  try {
    if (service == nullptr || request == nullptr)
      return copy_of(noteg::serve::Service::refusal("expected a service and a request, found a null pointer"));
    return copy_of(service->service.answer(request));
  } catch (const std::bad_alloc&) {
    return nullptr;
  } catch (const std::exception& error) {
    return copy_of(noteg::serve::Service::refusal(error.what()));
  }
}

void noteg_free(char* answer) { std::free(answer); }
void noteg_close(noteg_service* service) { delete service; }
const char* noteg_version(void) { return NOTEG_VERSION; }
