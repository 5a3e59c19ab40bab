// SPDX-License-Identifier: MIT
// The names of this process's functions in logs.
#include "names.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <utility>
#include <vector>

namespace pi::hookit {
namespace {

std::string text_of(const jprof::NativeName& name, uint64_t function) {
  if (!name.function.empty()) return name.function;
  char address[24];
  std::snprintf(address, sizeof address, "0x%" PRIx64, function);
  return name.module.empty() ? address : std::string(address) + "@" + name.module;
}

}  // namespace

Names::Names()
    : names_({a2n_context_new, a2n_context_free, a2n_set_demangle, a2n_set_no_symbol_action,
              a2n_add_module, a2n_get_symbol}) {}

std::string Names::of(uint64_t function) const {
  std::vector<std::string> texts;
  for (const auto& name : names_.all_at(function)) {
    std::string text = text_of(name, function);
    if (std::find(texts.begin(), texts.end(), text) == texts.end())
      texts.push_back(std::move(text));
  }
  std::string all = texts[0];
  for (size_t i = 1; i < texts.size(); ++i) all += " or " + texts[i];
  return all;
}

}  // namespace pi::hookit
