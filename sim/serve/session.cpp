#include "sim/serve/session.hpp"

namespace noteg::serve {

std::shared_ptr<Caches> Session::caches() {
  const std::lock_guard lock(mutex_);
  if (++uses_ % most_uses == 0) caches_ = std::make_shared<Caches>();
  return caches_;
}

Result<std::shared_ptr<const arch::GpuSpec>> Session::gpu(const std::string& name, const arch::Overrides& overrides) {
  std::string key = name;
  for (const auto& [changed, value] : overrides) key += "\n" + changed + "\n" + value;
  return gpus_.get(key, [&]() -> Result<std::shared_ptr<const arch::GpuSpec>> {
    Result<arch::GpuSpec> loaded = arch::load_gpu(name, overrides);
    if (!loaded) return loaded.errors();
    return std::make_shared<const arch::GpuSpec>(std::move(*loaded));
  });
}

Result<std::shared_ptr<const LoadedModel>> Session::model(const std::string& path) {
  return models_.get(path, [&]() -> Result<std::shared_ptr<const LoadedModel>> {
    Result<learn::Model> read = learn::read_model(path);
    if (!read) return read.errors();
    return std::make_shared<const LoadedModel>(std::move(*read));
  });
}

}  // namespace noteg::serve
