// SPDX-License-Identifier: MIT
// A JSON value: written by the tools' --json reports and read by post --diff.
//
// The library behind it, nlohmann-json, is included by json.cpp only: it takes seconds to compile
// in each file.
#ifndef PI_TOOLS_COMMON_JSON_H
#define PI_TOOLS_COMMON_JSON_H

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace pi {

// Members of objects keep the order in which they were added. Not thread-safe.
class Json {
 public:
  class Item;
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;

  Json() = default;  // null
  Json(std::nullptr_t) {}
  Json(bool value) : value_(value) {}
  Json(const char* text) : value_(std::string(text)) {}
  Json(std::string text) : value_(std::move(text)) {}
  Json(std::string_view text) : value_(std::string(text)) {}
  template <std::signed_integral T>
  Json(T number) : value_(int64_t{number}) {}
  template <std::unsigned_integral T>
  requires(!std::same_as<T, bool>) Json(T number) : value_(uint64_t{number}) {}
  template <std::floating_point T>
  Json(T number) : value_(double{number}) {}
  // An array of the elements of a range.
  template <std::ranges::input_range T>
  requires(!std::convertible_to<const T&, std::string_view> && !std::same_as<T, Json>)
      Json(const T& range)
      : value_(Array()) {
    for (const auto& element : range) push_back(Json(element));
  }
  // {{"name", value}, ...} is an object; any other list is an array.
  Json(std::initializer_list<Item> items);

  static Json array() { return Json(Value(Array())); }
  static Json object() { return Json(Value(Object())); }
  // About 1.1 GB of memory.
  static constexpr size_t most_values = size_t{1} << 24;
  // nullopt if the text is not JSON, nested deeper than 100 levels, or has more values than `most`.
  // Of members with the same name find() returns the first.
  static std::optional<Json> parse(std::string_view text, size_t most = most_values);
  // The same for large files: each element of an array that is a member with this name is passed
  // to the function when it is complete, and then forgotten. The function may throw. nullopt also
  // if one element, or all that is not in such arrays, has more than 2 million values.
  static std::optional<Json> parse_each(std::string_view text, std::string_view name,
                                        const std::function<void(Json)>& take);

  // A null becomes an empty array, or object, first. The result is valid until the next element is
  // added.
  Json& push_back(Json element);
  // Removes the last element of an array that has one.
  Json take_back();
  Json& operator[](std::string_view name);
  // Adds a member, null at first, to an object that has none of that name.
  Json& add(std::string_view name);
  // Copies the members of another object to this one.
  void update(Json object);

  // As text: on one line if indent is negative, else a line for each value, indented by `indent`
  // spaces for each level. Bytes that are not UTF-8 become U+FFFD.
  std::string dump(int indent = -1) const;

  bool is_object() const { return std::holds_alternative<Object>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  // The value if it has that type, else nullptr or nullopt.
  const bool* boolean() const { return std::get_if<bool>(&value_); }
  const std::string* text() const { return std::get_if<std::string>(&value_); }
  std::optional<uint64_t> whole_number() const;
  std::optional<int64_t> signed_number() const;  // also of a uint64_t that fits
  std::optional<double> number() const;
  // The member of an object, nullptr if there is none.
  const Json* find(std::string_view name) const;
  bool contains(std::string_view name) const { return find(name) != nullptr; }
  // The elements of an array or an object; empty for other values.
  const Array& elements() const;
  const Object& members() const;
  // The number of elements or members; of null 0, of any other value 1.
  size_t size() const;
  bool empty() const { return size() == 0; }
  // Calls the visitor with the value: std::monostate for null, bool, int64_t, uint64_t, double,
  // std::string, Array or Object.
  template <class Visitor>
  decltype(auto) visit(Visitor&& visitor) const {
    return std::visit(std::forward<Visitor>(visitor), value_);
  }

 private:
  using Value =
      std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string, Array, Object>;
  explicit Json(Value value) : value_(std::move(value)) {}

  Value value_;
};

// An element of a list in braces, which is moved into the value that the list makes.
class Json::Item {
 public:
  Item(std::initializer_list<Item> items) : value(items) {}
  template <class T>
  requires std::constructible_from<Json, T> Item(T&& from) : value(std::forward<T>(from)) {}

 private:
  friend Json;
  mutable Json value;  // elements of initializer lists are const
};

}  // namespace pi

#endif  // PI_TOOLS_COMMON_JSON_H
