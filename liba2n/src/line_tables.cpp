// SPDX-License-Identifier: MIT
// What the file names of a DWARF line table take when each is put together with its directory.
#include "line_tables.h"

#include <dwarf.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>
#include <vector>

namespace a2n {
namespace {

// Numbers and strings, one after the other; good() turns false at the first that is not there.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : bytes_(bytes) {}

  bool good() const { return good_; }
  uint64_t number(size_t size) {
    uint64_t value = 0;
    if (bytes_.size() < size) return fail();
    std::memcpy(&value, bytes_.data(), size);
    bytes_.remove_prefix(size);
    return value;
  }
  uint64_t leb128() {
    uint64_t value = 0;
    for (unsigned shift = 0; good_; shift += 7) {
      const uint64_t byte = number(1);
      if (shift < 64) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value;
  }
  std::string_view text() {
    const size_t end = bytes_.find('\0');
    if (end == bytes_.npos) return fail(), std::string_view();
    const std::string_view value = bytes_.substr(0, end);
    bytes_.remove_prefix(end + 1);
    return value;
  }
  void skip(uint64_t size) {
    if (size > bytes_.size()) fail();
    if (good_) bytes_.remove_prefix(size);
  }
  std::string_view rest() const { return bytes_; }

 private:
  uint64_t fail() {
    good_ = false;
    bytes_ = {};
    return 0;
  }

  std::string_view bytes_;
  bool good_ = true;
};

class Head {
 public:
  Head(const LineSections& sections, Cursor cursor, uint64_t unit_directory, uint64_t limit)
      : sections_(sections), in_(cursor), limit_(limit), directories_{unit_directory} {}

  std::optional<uint64_t> name_bytes() {
    uint64_t length = in_.number(4);
    if (length == 0xffffffff) {
      offset_size_ = 8;
      length = in_.number(8);
    }
    if (length > in_.rest().size()) return std::nullopt;
    in_ = Cursor(in_.rest().substr(0, length));
    const uint64_t version = in_.number(2);
    if (version < 2 || version > 5) return std::nullopt;
    if (version == 5) in_.skip(2);
    in_.skip(offset_size_);
    in_.skip(version >= 4 ? 5 : 4);
    const uint64_t opcodes = in_.number(1);
    in_.skip(opcodes == 0 ? 0 : opcodes - 1);
    if (version == 5)
      read_new();
    else
      read_old();
    if (!in_.good()) return std::nullopt;
    return sum_;
  }

 private:
  bool goes_on() const { return in_.good() && sum_ <= limit_; }

  void add(uint64_t name, uint64_t directory) {
    const uint64_t known = directory < directories_.size() ? directories_[directory] : 0;
    sum_ += name + known + directories_[0] + 3;
  }

  void read_old() {
    while (goes_on()) {
      const std::string_view directory = in_.text();
      if (directory.empty()) break;
      directories_.push_back(directory.size());
    }
    while (goes_on()) {
      const std::string_view name = in_.text();
      if (name.empty()) break;
      const uint64_t directory = in_.leb128();
      in_.leb128();  // time
      in_.leb128();  // size
      add(name.size(), directory);
    }
  }

  void read_new() {
    const uint64_t unit_directory = std::exchange(directories_, {}).front();
    for_each_entry([this](uint64_t name, uint64_t) {
      directories_.push_back(name);
      sum_ += name;
    });
    if (directories_.empty()) directories_.push_back(0);
    directories_[0] = std::max(directories_[0], unit_directory);
    for_each_entry([this](uint64_t name, uint64_t directory) { add(name, directory); });
  }

  template <class Use>
  void for_each_entry(Use use) {
    std::vector<std::pair<uint64_t, uint64_t>> format(in_.number(1));
    for (auto& [content, form] : format) {
      content = in_.leb128();
      form = in_.leb128();
    }
    const uint64_t count = in_.leb128();
    // Entries without bytes would be as many as anybody likes to say.
    if (format.empty() && count != 0) in_.skip(UINT64_MAX);
    for (uint64_t i = 0; i < count && goes_on(); ++i) {
      uint64_t name = 0, directory = 0;
      for (const auto& [content, form] : format) {
        const uint64_t value = take(form);
        if (content == DW_LNCT_path) name = value;
        if (content == DW_LNCT_directory_index) directory = value;
      }
      use(name, directory);
    }
  }

  // A number's value, a string's length.
  uint64_t take(uint64_t form) {
    switch (form) {
      case DW_FORM_string:
        return in_.text().size();
      case DW_FORM_line_strp:
        return length_at(sections_.line_strings);
      case DW_FORM_strp:
        return length_at(sections_.strings);
      case DW_FORM_udata:
        return in_.leb128();
      case DW_FORM_data1:
        return in_.number(1);
      case DW_FORM_data2:
        return in_.number(2);
      case DW_FORM_data4:
        return in_.number(4);
      case DW_FORM_data8:
        return in_.number(8);
      case DW_FORM_data16:
        in_.skip(16);
        return 0;
      case DW_FORM_block:
        in_.skip(in_.leb128());
        return 0;
      default:
        in_.skip(UINT64_MAX);  // nothing behind it can be found
        return 0;
    }
  }

  uint64_t length_at(std::string_view strings) {
    const uint64_t offset = in_.number(offset_size_);
    if (offset >= strings.size()) return 0;
    const auto [known, added] = lengths_.try_emplace(strings.data() + offset, 0);
    if (added) known->second = std::min(strings.find('\0', offset), strings.size()) - offset;
    return known->second;
  }

  const LineSections& sections_;
  Cursor in_;
  const uint64_t limit_;
  std::vector<uint64_t> directories_;  // lengths; the first one is the unit's
  std::unordered_map<const char*, uint64_t> lengths_;
  size_t offset_size_ = 4;
  uint64_t sum_ = 0;
};

}  // namespace

std::optional<uint64_t> file_name_bytes(const LineSections& sections, uint64_t offset,
                                        uint64_t unit_directory, uint64_t limit) {
  if (offset >= sections.lines.size()) return std::nullopt;
  return Head(sections, Cursor(sections.lines.substr(offset)), unit_directory, limit).name_bytes();
}

}  // namespace a2n
