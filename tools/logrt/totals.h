// SPDX-License-Identifier: MIT
// Sums of a call flow: of each method, class or package in all threads.
#ifndef LOGRT_TOTALS_H
#define LOGRT_TOTALS_H

#include <pi/result.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "call_flow.h"

namespace logrt {

enum class Level : uint8_t { method, class_of, package };

std::optional<Level> level_named(std::string_view word);
std::string_view level_word(Level level);

// The class or package of a method, by its name: "java/util/HashMap.put(Ljava/lang/Object;)V",
// "com.shop.Cart.add(int)" and "shop::Cart::add(int)" all have both. "" if the name has none.
std::string_view component_of(std::string_view method, Level level);

// The name of a row in tables and budgets: methods, classes and packages without a name have one in
// brackets.
std::string label(const std::string& name, Level level);

struct Total {
  std::string name;  // "": code outside of all methods
  uint64_t calls = 0;
  int64_t base = 0;
  int64_t cumulated = 0;  // with all callees; a recursive call counts once

  double base_of_call() const;  // 0 without calls
};

struct Totals {
  std::vector<Total> rows;  // by name
  uint64_t calls = 0;
  int64_t base = 0;
};

// Error: a sum is larger than 2^63.
pi::Result<Totals> total(const CallFlow& flow, Level level);

}  // namespace logrt

#endif  // LOGRT_TOTALS_H
