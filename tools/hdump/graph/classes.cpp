// SPDX-License-Identifier: MIT
#include "classes.h"

#include <fmt/format.h>
#include <pi/printable.h>

#include <algorithm>

namespace hdump {
namespace {

constexpr uint64_t largest_compressed_heap = uint64_t{32} << 30;
// HotSpot's collector Z, which does not compress references, has its objects from here on.
constexpr Id z_heap = Id{1} << 42;

std::string_view primitive_name(Type type) {
  switch (type) {
    case Type::boolean:
      return "boolean";
    case Type::character:
      return "char";
    case Type::single_float:
      return "float";
    case Type::double_float:
      return "double";
    case Type::int8:
      return "byte";
    case Type::int16:
      return "short";
    case Type::int32:
      return "int";
    case Type::int64:
      return "long";
    default:
      return "";
  }
}

Type type_of_letter(char letter) {
  switch (letter) {
    case 'Z':
      return Type::boolean;
    case 'C':
      return Type::character;
    case 'F':
      return Type::single_float;
    case 'D':
      return Type::double_float;
    case 'B':
      return Type::int8;
    case 'S':
      return Type::int16;
    case 'I':
      return Type::int32;
    case 'J':
      return Type::int64;
    default:
      return Type::object;
  }
}

constexpr std::string_view weak_classes[] = {"java.lang.ref.WeakReference",
                                             "java.lang.ref.PhantomReference",
                                             "java.lang.ref.FinalReference"};

}  // namespace

Layout assumed_layout(unsigned id_size, Id lowest, Id highest) {
  if (id_size == 4) return {8, 12, 16, 4, 8};
  if (highest >= z_heap || highest - lowest >= largest_compressed_heap) return {12, 16, 16, 8, 8};
  return {};
}

std::string java_name(std::string_view name) {
  const size_t dimensions = std::min(name.find_first_not_of('['), name.size());
  std::string_view element = name.substr(dimensions);
  std::string text;
  if (dimensions != 0 && element.size() == 1)
    text = primitive_name(type_of_letter(element[0]));
  else if (dimensions != 0 && element.starts_with('L') && element.ends_with(';'))
    text = element.substr(1, element.size() - 2);
  if (text.empty()) text = element;
  std::ranges::replace(text, '/', '.');
  // A hidden class: the JVM itself shows "Program$$Lambda/0x7f6760000a08".
  if (const size_t plus = text.rfind("+0x"); plus != text.npos) text[plus] = '/';
  for (size_t i = 0; i < dimensions; ++i) text += "[]";
  return pi::printable(text);
}

Classes::Classes(unsigned id_size) : id_size_(id_size), classes_(type_numbers) {
  for (uint32_t type = 0; type < type_numbers; ++type) {
    const std::string_view name = primitive_name(static_cast<Type>(type));
    if (!name.empty()) classes_[type].name = fmt::format("{}[]", name);
  }
  classes_[of_classes].name = "java.lang.Class";
}

uint32_t Classes::number(Id id) {
  const auto [entry, added] = numbers_.try_emplace(id, static_cast<uint32_t>(classes_.size()));
  if (added) classes_.emplace_back().id = id;
  return entry->second;
}

std::optional<uint32_t> Classes::find(Id id) const {
  const auto entry = numbers_.find(id);
  if (entry == numbers_.end()) return std::nullopt;
  return entry->second;
}

void Classes::add_string(Id id, std::string_view text) {
  // A JVM has some hundred thousand names of some tens of bytes. A compressed dump can have any
  // number.
  constexpr size_t max_texts = 4 << 20, max_bytes = 256 << 20;
  if (strings_.size() >= max_texts || texts_.size() + text.size() > max_bytes) {
    ++texts_left_out_;
    return;
  }
  if (strings_.try_emplace(id, texts_.size(), static_cast<uint32_t>(text.size())).second)
    texts_ += text;
}

std::string_view Classes::string(Id id) const {
  const auto entry = strings_.find(id);
  if (entry == strings_.end()) return "?";
  return std::string_view(texts_).substr(entry->second.first, entry->second.second);
}

bool Classes::add(const ClassDump& dump) {
  Class& entry = classes_[number(dump.id)];
  if (entry.dumped) return false;
  entry.dumped = true;
  entry.super = dump.super;
  entry.loader = dump.loader;
  entry.fields = dump.fields;
  for (const StaticField& field : dump.statics) {
    entry.static_bytes += size_in_dump(field.type, id_size_);
    if (field.type == Type::object) entry.statics.push_back(field);
  }
  return true;
}

void Classes::complete(const pi::log_hd::Facts* jvm) {
  for (Class& entry : classes_) {
    if (!entry.name.empty()) continue;
    const auto name = class_names_.find(entry.id);
    if (name != class_names_.end()) entry.name = java_name(string(name->second));
    if (entry.name.empty()) entry.name = fmt::format("class@{:#x}", entry.id);
  }
  sizes_.assign(classes_.size(), {});
  references_.assign(classes_.size(), std::nullopt);
  if (jvm != nullptr) take_sizes(*jvm);
}

void Classes::take_sizes(const pi::log_hd::Facts& jvm) {
  const auto of_class = jvm.classes.find("java/lang/Class");
  const uint32_t fixed = of_class == jvm.classes.end() ? 0 : of_class->second.instance;
  for (Class& entry : classes_) {
    const auto name = class_names_.find(entry.id);
    if (name == class_names_.end()) continue;
    const auto known = jvm.classes.find(string(name->second));
    if (known == jvm.classes.end()) continue;
    entry.instance_bytes = known->second.instance;
    if (fixed != 0 && known->second.object >= fixed)
      entry.static_bytes = known->second.object - fixed;
  }
}

std::string Classes::field_name(const Reference& reference) const {
  const Class& holder = classes_[reference.holder];
  return pi::printable(string(holder.fields[reference.field].name));
}

std::string Classes::static_name(uint32_t holder, size_t field) const {
  return pi::printable(string(classes_[holder].statics[field].name));
}

const Classes::Sizes* Classes::sizes(uint32_t number) {
  using State = Sizes::State;
  // From the class up to the first super class whose sizes are known, and down again. Each class is
  // visited once, in whatever way a hostile dump connects them.
  std::vector<uint32_t> chain;
  for (uint32_t at = number; sizes_[at].state != State::known;) {
    const Class& entry = classes_[at];
    const auto super = entry.super == 0 ? std::optional(at) : find(entry.super);
    const bool broken = sizes_[at].state == State::broken || !entry.dumped || !super;
    sizes_[at].state = State::broken;  // until its super class is known
    chain.push_back(at);
    if (broken) return nullptr;
    if (entry.super == 0) break;
    at = *super;
  }
  while (!chain.empty()) {
    const uint32_t at = chain.back();
    chain.pop_back();
    const Class& entry = classes_[at];
    Sizes sum;
    if (entry.super != 0) sum = sizes_[*find(entry.super)];
    for (const Field& field : entry.fields) {
      const unsigned size = size_in_dump(field.type, id_size_);
      sum.dump += size;
      if (field.type == Type::object)
        ++sum.references;
      else
        sum.primitive += size;
    }
    sum.weak = sum.weak || std::ranges::find(weak_classes, entry.name) != std::end(weak_classes);
    sum.state = State::known;
    sizes_[at] = sum;
  }
  return &sizes_[number];
}

std::optional<uint64_t> Classes::dump_bytes(uint32_t number) {
  const Sizes* known = sizes(number);
  if (known == nullptr) return std::nullopt;
  return known->dump;
}

uint64_t Classes::object_bytes(uint32_t number, const Layout& layout) {
  if (const uint32_t recorded = classes_[number].instance_bytes) return recorded;
  const Sizes* known = sizes(number);
  uint64_t bytes = layout.header;
  if (known != nullptr) bytes += known->primitive + known->references * layout.reference;
  return (bytes + layout.alignment - 1) / layout.alignment * layout.alignment;
}

const std::vector<Classes::Reference>* Classes::references(uint32_t number, uint64_t bytes) {
  const Sizes* known = sizes(number);
  // The list is made only for an object that has these bytes: so it is no longer than the dump.
  if (known == nullptr || known->dump != bytes) return nullptr;
  auto& list = references_[number];
  if (list) return &*list;
  list.emplace();
  uint32_t offset = 0;
  for (uint32_t at = number;;) {
    const Class& entry = classes_[at];
    const bool holds_referent = known->weak && entry.name == "java.lang.ref.Reference";
    for (uint32_t i = 0; i < entry.fields.size(); ++i) {
      const Field& field = entry.fields[i];
      if (field.type == Type::object && !(holds_referent && string(field.name) == "referent"))
        list->push_back({offset, at, i});
      offset += size_in_dump(field.type, id_size_);
    }
    if (entry.super == 0) return &*list;
    at = *find(entry.super);
  }
}

}  // namespace hdump
