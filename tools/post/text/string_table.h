// SPDX-License-Identifier: MIT
// Names as small numbers: equal names have equal numbers, number 0 is the empty name.
#ifndef POST_STRING_TABLE_H
#define POST_STRING_TABLE_H

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace post {

using NameId = uint32_t;
constexpr NameId no_name = 0;

class StringTable {
 public:
  StringTable() { intern({}); }
  StringTable(const StringTable&) = delete;
  StringTable& operator=(const StringTable&) = delete;

  NameId intern(std::string_view text) {
    if (const auto known = ids_.find(text); known != ids_.end()) return known->second;
    const NameId id = static_cast<NameId>(texts_.size());
    texts_.emplace_back(text);
    ids_.emplace(texts_.back(), id);
    return id;
  }

  // Nothing if the table does not have it.
  std::optional<NameId> find(std::string_view text) const {
    const auto known = ids_.find(text);
    return known == ids_.end() ? std::nullopt : std::optional(known->second);
  }

  // Stays valid as long as the table.
  const std::string& text(NameId id) const { return texts_[id]; }
  size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // whose elements do not move
  std::unordered_map<std::string_view, NameId> ids_;
};

}  // namespace post

#endif  // POST_STRING_TABLE_H
