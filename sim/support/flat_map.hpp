// A map from 64-bit keys in one array, for many insertions and no removal: no node of its own for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace noteg {

template <class Value>
class FlatMap {
 public:
  [[nodiscard]] std::size_t size() const { return size_; }

  // What the key has, and whether that is the value given, since it had none. Good until the next call.
  std::pair<Value*, bool> try_emplace(std::uint64_t key, const Value& value) {
    if (2 * size_ >= slots_.size()) grow();
    Slot& slot = slots_[place_of(key)];
    const bool is_new = !slot.used;
    if (is_new) {
      slot = {key, value, true};
      ++size_;
    }
    return {&slot.value, is_new};
  }

  // nullptr: it has none.
  [[nodiscard]] const Value* find(std::uint64_t key) const {
    if (size_ == 0) return nullptr;
    const Slot& slot = slots_[place_of(key)];
    return slot.used ? &slot.value : nullptr;
  }

  // In an order of its own, the same in every run.
  template <class F>
  void each(F&& f) const {
    for (const Slot& slot : slots_)
      if (slot.used) f(slot.key, slot.value);
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    Value value{};
    bool used = false;
  };

  // The key's slot, or the empty one that it would take.
  [[nodiscard]] std::size_t place_of(std::uint64_t key) const {
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
    const std::size_t last = slots_.size() - 1;  // a power of two less one
    std::size_t at = static_cast<std::size_t>(key * golden >> 20) & last;
    while (slots_[at].used && slots_[at].key != key) at = (at + 1) & last;
    return at;
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.used) slots_[place_of(slot.key)] = slot;
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace noteg
