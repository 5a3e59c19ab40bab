// SPDX-License-Identifier: MIT
// The names of native functions of this process, by liba2n.
#include "native_names.h"

#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <string_view>

#include <pi/files.h>

namespace pi::jprof {

NativeNames::NativeNames(const A2nFunctions& a2n)
    : a2n_(a2n), context_(a2n.context_new()), pid_(static_cast<uint32_t>(::getpid())) {
  if (!context_) return;
  a2n_.set_demangle(context_, 1);
  a2n_.set_no_symbol_action(context_, A2N_NSF_FUNCTION);
  see_libraries();
}

NativeNames::~NativeNames() {
  a2n_.context_free(context_);
}

bool NativeNames::Mapping::is_same(const Mapping& other) const {
  return from == other.from && to == other.to && offset == other.offset && inode == other.inode &&
         path == other.path;
}

void NativeNames::see_libraries() {
  if (!context_) return;
  // Not /proc/self, which has none after the main thread has called pthread_exit().
  const auto maps = read_system_file("/proc/thread-self/maps", SIZE_MAX);
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
void NativeNames::add(Mapping mapping) {
  const auto overlaps = [&](const Mapping& other) {
    return other.from < mapping.to && mapping.from < other.to;
  };
  const auto newest = std::find_if(mappings_.rbegin(), mappings_.rend(), overlaps);
  if (newest != mappings_.rend() && newest->is_same(mapping)) return;
  a2n_.add_module(context_, time_, pid_, mapping.from, mapping.to - mapping.from,
                  mapping.path.c_str(), 0, mapping.offset, mapping.inode);
  mapping.seen = time_;
  mappings_.push_back(std::move(mapping));
}

std::vector<NativeName> NativeNames::all_at(uint64_t address) const {
  std::vector<NativeName> all;
  for (const auto& mapping : mappings_)
    if (address >= mapping.from && address < mapping.to)
      all.push_back(at_time(address, mapping.seen));
  if (all.empty()) all.push_back(newest_at(address));
  return all;
}

NativeName NativeNames::at_time(uint64_t address, uint64_t time) const {
  SYMDATA data{};
  const int rc =
      context_ ? a2n_.get_symbol(context_, time, pid_, address, &data) : A2N_MEMORY_ERROR;
  NativeName name;
  name.has_symbol = (rc == A2N_SUCCESS || rc == A2N_FLAKY_SYMBOL) && data.sym_name;
  const bool has_module = name.has_symbol || rc == A2N_NO_SYMBOL_FOUND || rc == A2N_NO_SYMBOLS;
  if (has_module && data.mod_name) name.module = data.mod_name;
  if (name.has_symbol || (has_module && data.sym_name && (data.flags & A2N_FLAG_FUNCTION) != 0))
    name.function = data.sym_name;
  return name;
}

}  // namespace pi::jprof
