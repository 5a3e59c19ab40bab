// SPDX-License-Identifier: MIT
// Reads from a Java virtual machine's memory where its code is, and what its frames contain.
#include "hotspot.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "table/runtime.h"

namespace pi::swtrace {
namespace {

using unwind::HotspotSymbol;

constexpr size_t max_name = 64;
constexpr uint64_t max_entries = 8192, max_stride = 256, max_flags = 4096;
// Strings of structures and flags.
constexpr unsigned max_strings = 8192;

// The tables of the JVM's structures: what is in them is checked when it is used.
class Structs {
 public:
  Structs(const ReadMemory& read, uint64_t bias, std::span<const uint64_t> symbols)
      : read_(read), bias_(bias), symbols_(symbols) {}

  template <class T>
  std::optional<T> load(uint64_t address) const {
    T value;
    if (!read_(address, std::as_writable_bytes(std::span(&value, 1)))) return std::nullopt;
    return value;
  }

  // False: the tables cannot be read.
  bool read_tables() {
    return read_table(HotspotSymbol::structs, HotspotSymbol::struct_stride,
                      [&](std::span<const std::byte> entry) { return add_field(entry); }) &&
           read_table(HotspotSymbol::types, HotspotSymbol::type_stride,
                      [&](std::span<const std::byte> entry) { return add_type(entry); });
  }

  // "Type::field"; of a static one, its address.
  std::optional<uint64_t> field(const std::string& name) const { return find(fields_, name); }
  std::optional<uint64_t> size(const std::string& type) const { return find(sizes_, type); }
  // The word of a static field.
  std::optional<uint64_t> word(const std::string& name) const {
    const auto address = field(name);
    return address ? load<uint64_t>(*address) : std::nullopt;
  }

  // The names of the tables have fewer characters; a longer one is cut.
  std::string text(uint64_t address) const {
    if (address == 0 || strings_left_ == 0) return {};
    --strings_left_;
    std::array<char, max_name> name{};
    // At the end of memory, fewer bytes can be read.
    for (size_t bytes = name.size(); bytes >= 16; bytes /= 2) {
      if (!read_(address, std::as_writable_bytes(std::span(name).first(bytes)))) continue;
      return {name.data(), ::strnlen(name.data(), bytes)};
    }
    return {};
  }

 private:
  static std::optional<uint64_t> find(const std::map<std::string, uint64_t>& in,
                                      const std::string& name) {
    const auto found = in.find(name);
    return found == in.end() ? std::nullopt : std::optional(found->second);
  }

  uint64_t symbol(HotspotSymbol which) const {
    return load<uint64_t>(bias_ + symbols_[static_cast<size_t>(which)]).value_or(UINT64_MAX);
  }

  // Calls use for the entries, up to the one for which it returns false.
  template <class Use>
  bool read_table(HotspotSymbol first, HotspotSymbol stride_symbol, Use use) {
    const uint64_t begin = symbol(first), stride = symbol(stride_symbol);
    if (begin == UINT64_MAX || stride < sizeof(uint64_t) || stride > max_stride) return false;
    std::vector<std::byte> entry(stride);
    for (uint64_t i = 0; i < max_entries; ++i) {
      if (!read_(begin + i * stride, entry)) return false;
      if (!use(entry)) return true;
    }
    return false;
  }

  template <class T>
  T member(std::span<const std::byte> entry, HotspotSymbol offset_symbol) {
    auto [known, is_new] = offsets_.try_emplace(offset_symbol);
    if (is_new) known->second = symbol(offset_symbol);
    T value{};
    if (known->second <= entry.size() - sizeof value)
      std::memcpy(&value, entry.data() + known->second, sizeof value);
    return value;
  }

  bool add_field(std::span<const std::byte> entry) {
    const auto type = member<uint64_t>(entry, HotspotSymbol::struct_type);
    if (type == 0) return false;
    const auto [known, is_new] = types_.try_emplace(type);
    if (is_new) known->second = text(type);
    if (!is_wanted(known->second)) return true;
    const bool is_static = member<int32_t>(entry, HotspotSymbol::struct_is_static) != 0;
    fields_.try_emplace(
        known->second + "::" + text(member<uint64_t>(entry, HotspotSymbol::struct_field)),
        member<uint64_t>(entry,
                         is_static ? HotspotSymbol::struct_address : HotspotSymbol::struct_offset));
    return true;
  }

  bool add_type(std::span<const std::byte> entry) {
    const auto type = member<uint64_t>(entry, HotspotSymbol::type_name);
    if (type == 0) return false;
    const std::string name = text(type);
    if (is_wanted(name))
      sizes_.try_emplace(name, member<uint64_t>(entry, HotspotSymbol::type_size));
    return true;
  }

  static bool is_wanted(std::string_view type) {
    constexpr std::string_view wanted[] = {
        "CodeCache", "AbstractInterpreter", "StubQueue", "JVMFlag", "Method", "ConstMethod",
        "Klass",     "ConstantPool",        "Symbol"};
    return std::ranges::find(wanted, type) != std::end(wanted);
  }

  const ReadMemory& read_;
  const uint64_t bias_;
  const std::span<const uint64_t> symbols_;
  std::map<HotspotSymbol, uint64_t> offsets_;
  std::map<uint64_t, std::string> types_;  // by the address of their name
  std::map<std::string, uint64_t> fields_, sizes_;
  mutable unsigned strings_left_ = max_strings;
};

std::optional<bool> flag(const Structs& structs, std::string_view wanted) {
  const auto flags = structs.word("JVMFlag::flags"), count = structs.word("JVMFlag::numFlags");
  const auto name = structs.field("JVMFlag::_name"), value = structs.field("JVMFlag::_addr");
  const auto size = structs.size("JVMFlag");
  if (!flags || !count || !name || !value || !size) return std::nullopt;
  for (uint64_t i = 0; i < std::min(*count, max_flags); ++i) {
    const uint64_t at = *flags + i * *size;
    const auto text = structs.load<uint64_t>(at + *name);
    if (!text) return std::nullopt;
    if (structs.text(*text) != wanted) continue;
    const auto place = structs.load<uint64_t>(at + *value);
    const auto byte = place ? structs.load<uint8_t>(*place) : std::nullopt;
    return byte ? std::optional(*byte != 0) : std::nullopt;
  }
  return std::nullopt;
}

AddressRange interpreter(const Structs& structs) {
  const auto queue = structs.word("AbstractInterpreter::_code");
  const auto begin = structs.field("StubQueue::_stub_buffer");
  const auto limit = structs.field("StubQueue::_buffer_limit");
  if (!queue || !begin || !limit) return {};
  const auto from = structs.load<uint64_t>(*queue + *begin);
  const auto bytes = structs.load<int32_t>(*queue + *limit);
  if (!from || !bytes || *bytes < 0) return {};
  return {*from, *from + static_cast<uint64_t>(*bytes)};
}

std::optional<MethodLayout> method_layout(const Structs& structs) {
  MethodLayout layout;
  constexpr uint64_t max_offset = 4096;
  bool is_known = true;
  const auto take = [&](uint64_t& offset, const std::optional<uint64_t>& found) {
    is_known = is_known && found && *found <= max_offset;
    offset = found.value_or(0);
  };
  take(layout.const_method, structs.field("Method::_constMethod"));
  take(layout.constants, structs.field("ConstMethod::_constants"));
  take(layout.name, structs.field("ConstMethod::_name_index"));
  take(layout.signature, structs.field("ConstMethod::_signature_index"));
  take(layout.owner, structs.field("ConstantPool::_pool_holder"));
  take(layout.length, structs.field("ConstantPool::_length"));
  take(layout.constants_size, structs.size("ConstantPool"));
  take(layout.klass_name, structs.field("Klass::_name"));
  take(layout.symbol_length, structs.field("Symbol::_length"));
  take(layout.symbol_text, structs.field("Symbol::_body"));
  return is_known ? std::optional(layout) : std::nullopt;
}

}  // namespace

std::optional<HotspotFacts> read_hotspot(const ReadMemory& read, uint64_t bias,
                                         std::span<const uint64_t> symbols) {
  if (symbols.size() != unwind::hotspot_symbols.size()) return std::nullopt;
  Structs structs(read, bias, symbols);
  if (!structs.read_tables()) return std::nullopt;
  HotspotFacts facts;
  facts.code = {structs.word("CodeCache::_low_bound").value_or(0),
                structs.word("CodeCache::_high_bound").value_or(0)};
  facts.interpreter = interpreter(structs);
  const auto keeps_frames = flag(structs, "PreserveFramePointer");
  if (!keeps_frames || facts.code.begin == 0 || facts.interpreter.begin == 0) return std::nullopt;
  facts.keeps_frames = *keeps_frames;
  facts.methods = method_layout(structs);
  return facts;
}

}  // namespace pi::swtrace
