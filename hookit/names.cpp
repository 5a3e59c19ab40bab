// SPDX-License-Identifier: MIT
// The names of this process's functions, by liba2n.
#include "names.h"

#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <string_view>

#include <pi/files.h>

#include "a2n_context.h"

namespace pi::hookit {

Names::Names() : context_(a2n_context_new()), pid_(static_cast<uint32_t>(::getpid())) {
  if (!context_) return;
  a2n_set_demangle(context_, 1);
  a2n_set_no_symbol_action(context_, A2N_NSF_FUNCTION);
  see_libraries();
}

Names::~Names() {
  a2n_context_free(context_);
}

bool Names::Mapping::is_same(const Mapping& other) const {
  return from == other.from && to == other.to && offset == other.offset && inode == other.inode &&
         path == other.path;
}

void Names::see_libraries() {
  if (!context_) return;
  const auto maps = read_system_file("/proc/self/maps", SIZE_MAX);
  if (!maps) return;
  ++time_;
  for (std::string_view rest = *maps; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string line(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    Mapping mapping{};
    char permissions[8] = {};
    int path = 0;
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %" SCNu64 " %n",
                    &mapping.from, &mapping.to, permissions, &mapping.offset, &mapping.inode,
                    &path) < 5 ||
        permissions[2] != 'x' || line.c_str()[path] == '\0')
      continue;
    mapping.path = line.c_str() + path;
    add(std::move(mapping));
  }
}

// liba2n ends the mappings that a new one overlaps, at this time.
void Names::add(Mapping mapping) {
  const auto overlaps = [&](const Mapping& other) {
    return other.from < mapping.to && mapping.from < other.to;
  };
  const auto newest = std::find_if(mappings_.rbegin(), mappings_.rend(), overlaps);
  if (newest != mappings_.rend() && newest->is_same(mapping)) return;
  a2n_add_module(context_, time_, pid_, mapping.from, mapping.to - mapping.from,
                 mapping.path.c_str(), 0, mapping.offset, mapping.inode);
  mapping.seen = time_;
  mappings_.push_back(std::move(mapping));
}

std::string Names::of(uint64_t function) const {
  std::vector<std::string> all;
  for (const auto& mapping : mappings_) {
    if (function < mapping.from || function >= mapping.to) continue;
    std::string name = at_time(function, mapping.seen);
    if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(std::move(name));
  }
  if (all.empty()) return at_time(function, time_);
  std::string text = all[0];
  for (size_t i = 1; i < all.size(); ++i) text += " or " + all[i];
  return text;
}

std::string Names::at_time(uint64_t function, uint64_t time) const {
  char address[24];
  std::snprintf(address, sizeof address, "0x%" PRIx64, function);
  SYMDATA data{};
  const int rc =
      context_ ? a2n_get_symbol(context_, time, pid_, function, &data) : A2N_MEMORY_ERROR;
  if ((rc == A2N_SUCCESS || rc == A2N_FLAKY_SYMBOL) && data.sym_name) return data.sym_name;
  if ((rc == A2N_NO_SYMBOL_FOUND || rc == A2N_NO_SYMBOLS) && data.sym_name &&
      (data.flags & A2N_FLAG_FUNCTION))
    return data.sym_name;
  if ((rc == A2N_NO_SYMBOL_FOUND || rc == A2N_NO_SYMBOLS) && data.mod_name)
    return std::string(address) + "@" + data.mod_name;
  return address;
}

}  // namespace pi::hookit
