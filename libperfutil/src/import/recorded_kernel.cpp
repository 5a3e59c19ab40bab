// SPDX-License-Identifier: MIT
// Finds the symbols of the kernel on which a recording of perf was made.
#include "recorded_kernel.h"

#include <sys/utsname.h>

#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <pi/files.h>

#include "system/text.h"

namespace pi::perfutil {
namespace {

bool is_running(const RecordedKernel& kernel) {
  utsname here{};
  return ::uname(&here) == 0 && kernel.host == here.nodename && kernel.release == here.release;
}

// perf names it by its build-id.
std::string cached_kallsyms(const RecordedKernel& kernel, const std::string& cache) {
  if (cache.empty() || kernel.build_id.empty()) return {};
  const auto file =
      open_regular(fmt::format("{}/[kernel.kallsyms]/{}/kallsyms", cache, kernel.build_id));
  if (!file) return {};
  auto text = read_whole(file->fd.get(), max_kernel_text);
  return text ? std::move(*text) : std::string();
}

}  // namespace

bool has_symbol(std::string_view kallsyms, std::string_view symbol, uint64_t address) {
  while (!kallsyms.empty()) {
    std::string_view line = next_word(kallsyms, '\n');
    if (!line.ends_with(symbol)) continue;
    const auto number = parse_number(next_word(line, ' '), 16);
    (void)next_word(line, ' ');  // its type
    if (line == symbol && number == address) return true;
  }
  return false;
}

KernelTexts find_kernel_texts(const RecordedKernel& kernel, const std::string& proc,
                              const std::string& cache) {
  KernelTexts none;
  none.kallsyms_state = "missing";
  if (kernel.symbol.empty()) return none;
  if (is_running(kernel)) {
    std::string kallsyms = read_text(proc + "/kallsyms", max_kernel_text).value_or("");
    if (has_symbol(kallsyms, kernel.symbol, kernel.address))
      return kernel_texts_of(std::move(kallsyms),
                             read_text(proc + "/modules", max_kernel_text).value_or(""));
    if (!kallsyms.empty() && !has_addresses(kallsyms)) none.kallsyms_state = "hidden";
  }
  std::string kallsyms = cached_kallsyms(kernel, cache);
  if (!has_symbol(kallsyms, kernel.symbol, kernel.address)) return none;
  return kernel_texts_of(std::move(kallsyms), {});
}

}  // namespace pi::perfutil
