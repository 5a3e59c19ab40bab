// SPDX-License-Identifier: MIT
// Stores each distinct string once: equal strings have equal pointers, valid as long as the
// interner.
#ifndef A2N_INTERNER_H
#define A2N_INTERNER_H

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>

namespace a2n {

class Interner {
 public:
  const char* add(std::string_view text) {
    auto found = strings_.find(text);
    if (found == strings_.end()) found = strings_.emplace(text).first;
    return found->c_str();
  }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  // Elements never move, so the returned pointers stay valid.
  std::unordered_set<std::string, Hash, std::equal_to<>> strings_;
};

}  // namespace a2n

#endif  // A2N_INTERNER_H
