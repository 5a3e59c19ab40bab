// SPDX-License-Identifier: MIT
// The functions of a log's addresses, by liba2n.
#include "names.h"

#include <a2n_context.h>
#include <fmt/format.h>
#include <pi/printable.h>

namespace heapstats {
namespace {

std::string last_component(std::string_view path) {
  return pi::printable(path.substr(path.rfind('/') + 1));
}

}  // namespace

// The time of liba2n is the number of mappings.
Names::Names(const HeapFile& file) : pid_(file.pid), context_(a2n_context_new()) {
  if (!context_) return;
  a2n_set_demangle(context_, 1);
  a2n_set_no_symbol_action(context_, A2N_NSF_FUNCTION);
  a2n_use_debuginfod(context_, nullptr, nullptr);
  uint64_t time = 0;
  for (const Mapping& mapping : file.mappings)
    a2n_add_module(context_, ++time, pid_, mapping.begin, mapping.end - mapping.begin,
                   mapping.path.c_str(), 0, mapping.offset, mapping.inode);
}

Names::~Names() {
  a2n_context_free(context_);
}

const Function& Names::of(uint64_t address, size_t mappings) {
  const auto [known, is_new] = known_.try_emplace({address, mappings});
  if (is_new) known->second = find(address, mappings);
  return known->second;
}

Function Names::find(uint64_t address, size_t mappings) {
  SYMDATA data{};
  const int rc =
      context_ ? a2n_get_symbol(context_, mappings, pid_, address, &data) : A2N_MEMORY_ERROR;
  const bool is_known = rc == A2N_SUCCESS || rc == A2N_FLAKY_SYMBOL || rc == A2N_NO_SYMBOL_FOUND ||
                        rc == A2N_NO_SYMBOLS;
  Function function;
  if (is_known && data.mod_name) function.module = last_component(data.mod_name);
  const bool has_name = rc == A2N_SUCCESS || rc == A2N_FLAKY_SYMBOL ||
                        (is_known && (data.flags & A2N_FLAG_FUNCTION) != 0);
  function.name =
      has_name && data.sym_name ? pi::printable(data.sym_name) : fmt::format("{:#x}", address);
  return function;
}

}  // namespace heapstats
