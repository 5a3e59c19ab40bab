// SPDX-License-Identifier: MIT
// Reads perf-PID.map, the list of JIT-compiled code that many runtimes write for perf. It has no
// timestamps.
#include "perf_map.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/budgets.h"
#include "base/line_reader.h"
#include "base/safe_file.h"
#include "base/words.h"

namespace a2n {
namespace {

std::string_view without_prefix(std::string_view number) {
  return number.starts_with("0x") || number.starts_with("0X") ? number.substr(2) : number;
}

bool parse_line(std::string_view line, Interner& interner, JitCode& code) {
  JitMethod method;
  if (!to_number(without_prefix(take_word(line)), method.address, 16) ||
      !to_number(without_prefix(take_word(line)), method.size, 16) || line.empty())
    return false;
  // Some runtimes list entries without code.
  if (method.size == 0) return true;
  if (method.size > UINT64_MAX - method.address) return false;
  method.name = interner.add(line);
  code.load(std::move(method));
  return true;
}

}  // namespace

pi::Status read_perf_map(int fd, const std::string& name, Interner& interner, Notes& notes,
                         JitCode& code) {
  const auto size = size_within(fd, name, budgets::perf_map);
  if (!size) return size.error();
  JitCode read;
  read.ignore_times();
  LineReader lines(fd, *size);
  size_t invalid = 0;
  for (std::string_view line; lines.next(line);)
    if (!parse_line(line, interner, read)) ++invalid;
  if (lines.error() != 0)
    return pi::Error{lines.error(), name + ": " + std::strerror(lines.error())};
  if (invalid + lines.skipped() != 0)
    notes.add(name + ": " + std::to_string(invalid + lines.skipped()) +
              " lines make no sense and are ignored");
  std::string trust = name + ": names from it are the least certain: it has no timestamps";
  if (const size_t reuses = read.reuses(); reuses != 0)
    trust += ", and " + std::to_string(reuses) + " of its " + std::to_string(read.methods()) +
             " entries take the place of earlier ones, of which the last is shown";
  notes.add(trust);
  code = std::move(read);
  return {};
}

}  // namespace a2n
