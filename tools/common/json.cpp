// SPDX-License-Identifier: MIT
// JSON values; nlohmann-json writes and parses their text.
#include "json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace pi {
namespace {

using Library = nlohmann::ordered_json;

struct ToLibrary {
  Library operator()(std::monostate) const { return nullptr; }
  Library operator()(const Json::Array& elements) const {
    Library array = Library::array();
    for (const Json& element : elements) array.push_back(element.visit(*this));
    return array;
  }
  Library operator()(const Json::Object& members) const {
    Library object = Library::object();
    for (const auto& [name, value] : members) object.emplace(name, value.visit(*this));
    return object;
  }
  template <class T>
  Library operator()(const T& scalar) const {
    return scalar;
  }
};

// Deeper than any report. The limit prevents that a hostile file exhausts the stack.
constexpr size_t max_depth = 100;

// Values that parse_each() stores: about 140 MB.
constexpr size_t max_stored = size_t{1} << 21;

// Builds a value from the parser's events, in the order of the text. Each function returns whether
// to continue.
class Builder {
 public:
  using Take = std::function<void(Json)>;

  explicit Builder(size_t most) : most_(most) {}
  // Elements of arrays with this name are not stored, but passed to `take`.
  Builder(std::string_view each, const Take& take)
      : each_(each), take_each_(&take), most_(max_stored) {}

  Json take() { return std::move(root_); }

  bool null() { return add(Json()); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(int64_t value) { return add(value); }
  bool number_unsigned(uint64_t value) { return add(value); }
  bool number_float(double value, const std::string&) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(std::vector<uint8_t>&) { return false; }
  bool start_array(size_t) { return open(Json::array()); }
  bool start_object(size_t) { return open(Json::object()); }
  bool end_array() { return close(); }
  bool end_object() { return close(); }
  bool key(std::string& name) {
    name_ = std::move(name);
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) { return false; }

 private:
  Json& place(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    Json& parent = *open_.back();
    if (parent.is_object()) return parent.add(name_) = std::move(value);
    return parent.push_back(std::move(value));
  }
  bool add(Json value) {
    if (!count()) return false;
    place(std::move(value));
    pass_element();
    return true;
  }
  bool open(Json container) {
    if (open_.size() >= max_depth || !count()) return false;
    const bool named = !open_.empty() && open_.back()->is_object() && name_ == each_;
    open_.push_back(&place(std::move(container)));
    if (take_each_ && !array_ && named && open_.back()->is_array()) array_ = open_.back();
    return true;
  }
  bool close() {
    if (open_.back() == array_) array_ = nullptr;
    open_.pop_back();
    pass_element();
    return true;
  }
  void pass_element() {
    if (!array_ || open_.back() != array_) return;
    stored_ = stored_before_;
    (*take_each_)(array_->take_back());
  }
  // A value takes many times the memory of its text.
  bool count() {
    if (!array_) stored_before_ = stored_ + 1;
    return ++stored_ <= most_;
  }

  Json root_;
  std::vector<Json*> open_;  // stays valid: a container does not grow while one in it is open
  std::string name_;         // of the next member
  std::string each_;
  const Take* take_each_ = nullptr;
  const size_t most_;
  size_t stored_ = 0, stored_before_ = 0;  // values; without those of the present element
  Json* array_ = nullptr;                  // the one whose elements are passed on, while it is open
};

}  // namespace

Json::Json(std::initializer_list<Item> items) {
  const bool object = std::ranges::all_of(items, [](const Item& item) {
    const Array& pair = item.value.elements();
    return pair.size() == 2 && pair.front().text() != nullptr;
  });
  if (!object) {
    value_ = Array();
    for (const Item& item : items) push_back(std::move(item.value));
    return;
  }
  value_ = Object();
  for (const Item& item : items) {
    Array& pair = std::get<Array>(item.value.value_);
    (*this)[*pair.front().text()] = std::move(pair.back());
  }
}

std::optional<Json> Json::parse(std::string_view text, size_t most) {
  Builder builder(most);
  if (!Library::sax_parse(text, &builder)) return std::nullopt;
  return builder.take();
}

std::optional<Json> Json::parse_each(std::string_view text, std::string_view name,
                                     const std::function<void(Json)>& take) {
  Builder builder(name, take);
  if (!Library::sax_parse(text, &builder)) return std::nullopt;
  return builder.take();
}

Json Json::take_back() {
  auto& array = std::get<Array>(value_);
  Json last = std::move(array.back());
  array.pop_back();
  return last;
}

Json& Json::push_back(Json element) {
  if (std::holds_alternative<std::monostate>(value_)) value_ = Array();
  return std::get<Array>(value_).emplace_back(std::move(element));
}

Json& Json::operator[](std::string_view name) {
  if (std::holds_alternative<std::monostate>(value_)) value_ = Object();
  for (auto& [key, value] : std::get<Object>(value_))
    if (key == name) return value;
  return add(name);
}

Json& Json::add(std::string_view name) {
  return std::get<Object>(value_).emplace_back(name, Json()).second;
}

void Json::update(Json object) {
  for (auto& [name, value] : std::get<Object>(object.value_)) (*this)[name] = std::move(value);
}

std::string Json::dump(int indent) const {
  return visit(ToLibrary()).dump(indent, ' ', false, Library::error_handler_t::replace);
}

std::optional<int64_t> Json::signed_number() const {
  if (const auto* number = std::get_if<int64_t>(&value_)) return *number;
  const auto whole = whole_number();
  if (!whole || *whole > INT64_MAX) return std::nullopt;
  return static_cast<int64_t>(*whole);
}

std::optional<uint64_t> Json::whole_number() const {
  const auto* number = std::get_if<uint64_t>(&value_);
  return number != nullptr ? std::optional(*number) : std::nullopt;
}

std::optional<double> Json::number() const {
  if (const auto* number = std::get_if<double>(&value_)) return *number;
  if (const auto* number = std::get_if<uint64_t>(&value_)) return static_cast<double>(*number);
  if (const auto* number = std::get_if<int64_t>(&value_)) return static_cast<double>(*number);
  return std::nullopt;
}

const Json* Json::find(std::string_view name) const {
  for (const auto& [key, value] : members())
    if (key == name) return &value;
  return nullptr;
}

const Json::Array& Json::elements() const {
  static const Array none;
  const auto* array = std::get_if<Array>(&value_);
  return array != nullptr ? *array : none;
}

const Json::Object& Json::members() const {
  static const Object none;
  const auto* object = std::get_if<Object>(&value_);
  return object != nullptr ? *object : none;
}

size_t Json::size() const {
  if (is_array()) return elements().size();
  if (is_object()) return members().size();
  return std::holds_alternative<std::monostate>(value_) ? 0 : 1;
}

}  // namespace pi
