// SPDX-License-Identifier: MIT
// The kernel's half of the addresses: where its symbols are read from, and when.
#include "kernel.h"

#include <algorithm>
#include <utility>

#include "safe_file.h"

namespace a2n {
namespace {

constexpr uint64_t max_text = uint64_t{1} << 30;

}  // namespace

void Kernel::set_kallsyms(TextLocation location) {
  kallsyms_location_ = std::move(location);
}
void Kernel::set_modules(TextLocation location) {
  modules_location_ = std::move(location);
}
void Kernel::set_image(std::string path) {
  image_path_ = std::move(path);
}

std::string Kernel::read(const TextLocation& location) {
  if (location.file.empty()) return "";
  const uint64_t limit = location.size == 0 ? max_text : std::min(location.size, max_text);
  auto text = read_text(location.file, location.offset, limit);
  if (text) {
    // The file was cut off within the text: so was its last line, perhaps.
    if (text->size() < location.size) text->resize(text->rfind('\n') + 1);
    return std::move(*text);
  }
  notes_.add(text.error().message + "; kernel symbols not read");
  return "";
}

void Kernel::load() {
  const std::string kallsyms = read(kallsyms_location_);
  symbols_ = KernelSymbols(kallsyms, read(modules_location_));
  if (symbols_.withheld()) {
    notes_.add(
        "kernel symbols were withheld from the one who traced (all their addresses are 0); kernel "
        "code has no names (trace as root, or with sysctl kernel.kptr_restrict=0)");
  } else if (symbols_.empty()) {
    notes_.add("the trace has no kernel symbols; kernel code has no names");
  }
  if (!image_path_.empty()) {
    image_ = load_kernel_image(image_path_, build_id_, symbols_, notes_);
  }
  loaded_ = true;
}

Kernel::Found Kernel::find(uint64_t address) {
  if (!loaded_) load();
  const auto [module, symbol] = symbols_.find(address);
  Found found{module, &symbols_.table(), symbol, 0, !symbols_.empty()};
  if (!module && symbols_.empty()) found.module = &symbols_.core();
  if (image_ && module == &symbols_.core()) {
    if (const Symbol* better = image_->symbols.find(address - image_->shift)) {
      found.table = &image_->symbols;
      found.symbol = better;
      found.shift = image_->shift;
    }
  }
  return found;
}

}  // namespace a2n
