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
  add_modules();
}

Names::~Names() {
  a2n_context_free(context_);
}

void Names::add_modules() {
  const auto maps = read_system_file("/proc/self/maps", SIZE_MAX);
  if (!maps) return;
  for (std::string_view rest = *maps; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string line(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    uint64_t from = 0, to = 0, offset = 0, inode = 0;
    char permissions[8] = {};
    int path = 0;
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %" SCNu64 " %n",
                    &from, &to, permissions, &offset, &inode, &path) < 5 ||
        permissions[2] != 'x' || line.c_str()[path] == '\0')
      continue;
    a2n_add_module(context_, 0, pid_, from, to - from, line.c_str() + path, 0, offset, inode);
  }
}

std::string Names::of(uint64_t function) const {
  char address[24];
  std::snprintf(address, sizeof address, "0x%" PRIx64, function);
  SYMDATA data{};
  const int rc = context_ ? a2n_get_symbol(context_, 0, pid_, function, &data) : A2N_MEMORY_ERROR;
  if ((rc == A2N_SUCCESS || rc == A2N_FLAKY_SYMBOL) && data.sym_name) return data.sym_name;
  if ((rc == A2N_NO_SYMBOL_FOUND || rc == A2N_NO_SYMBOLS) && data.sym_name &&
      (data.flags & A2N_FLAG_FUNCTION))
    return data.sym_name;
  if ((rc == A2N_NO_SYMBOL_FOUND || rc == A2N_NO_SYMBOLS) && data.mod_name)
    return std::string(address) + "@" + data.mod_name;
  return address;
}

}  // namespace pi::hookit
