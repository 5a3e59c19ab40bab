// SPDX-License-Identifier: MIT
// Looks up kernel addresses; selects and loads the sources of kernel symbols.
#include "kernel.h"

#include <zstd.h>

#include <algorithm>
#include <utility>

#include "base/budgets.h"
#include "base/safe_file.h"

namespace a2n {
namespace {

constexpr uint64_t max_text_size = uint64_t{1} << 30;
constexpr std::string_view zstd_magic = "\x28\xb5\x2f\xfd";

// The uncompressed text of one zstd frame; the error's message is a part of a note.
pi::Result<std::string> unpacked(const std::string& frame) {
  const auto size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN)
    return pi::Error{-1, "they are damaged"};
  const uint64_t limit = budgets::kernel_text.of(frame.size());
  if (size > limit)
    return pi::Error{-1, "they unpack to " + std::to_string(size) + " bytes, and " +
                             std::to_string(limit) + " are the limit"};
  std::string text(size, '\0');
  const size_t got = ZSTD_decompress(text.data(), text.size(), frame.data(), frame.size());
  if (ZSTD_isError(got) != 0 || got != size) return pi::Error{-1, "they are damaged or cut off"};
  return text;
}

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
void Kernel::set_map(std::string path) {
  map_path_ = std::move(path);
}
void Kernel::set_saved_image(KernelSource image) {
  saved_image_ = std::move(image);
}
void Kernel::set_saved(SavedKernel kernel) {
  saved_ = std::move(kernel);
}

std::string Kernel::read(const TextLocation& location, const char* what) {
  if (location.file.empty()) return "";
  const uint64_t limit =
      location.size == 0 ? max_text_size : std::min(location.size, max_text_size);
  auto text = read_text(location.file, location.offset, limit);
  if (text && text->starts_with(zstd_magic)) {
    auto plain = unpacked(*text);
    if (plain && plain->empty() && &location == &kallsyms_location_)
      own_notes_.add_damage("the kernel's symbols have no contents", text->size());
    if (plain) return std::move(*plain);
    own_notes_.add_damage(
        "the kernel's " + std::string(what) + " are not read: " + plain.error().message,
        text->size());
    return "";
  }
  if (text) {
    // The file is truncated within the text: drop the last line, which may be incomplete.
    if (text->size() < location.size) text->resize(text->rfind('\n') + 1);
    return std::move(*text);
  }
  own_notes_.add(text.error().message + "; kernel symbols not read");
  return "";
}

void Kernel::load() {
  loaded_ = true;
  if (saved_) {
    symbols_ = std::move(saved_->symbols);
    image_ = std::move(saved_->image);
    for (std::string& text : saved_->notes) own_notes_.add(std::move(text));
    saved_.reset();
  } else {
    const std::string kallsyms = read(kallsyms_location_, "symbols");
    symbols_ = KernelSymbols(kallsyms, read(modules_location_, "modules"));
    if (const auto& damage = symbols_.damage(); damage.lines != 0)
      own_notes_.add_damage(
          "the kernel's symbols or modules are damaged: " + std::to_string(damage.lines) +
              " of their lines make no sense; kernel functions may have no name, or "
              "that of the function before them",
          damage.bytes);
    if (symbols_.withheld()) {
      own_notes_.add(
          "kernel symbols were withheld from the user who traced (all their addresses are 0); "
          "kernel code has no names (trace as root, or with sysctl kernel.kptr_restrict=0)");
    } else if (symbols_.empty() && own_notes_.size() == 0) {
      own_notes_.add("the trace has no kernel symbols; kernel code has no names");
    }
    load_image();
  }
  notes_.add_all(own_notes_);
}

void Kernel::load_image() {
  const auto use = [this](pi::Result<KernelSource> source) {
    if (source)
      image_ = match_kernel(std::move(*source), build_id_, symbols_, validate_, own_notes_);
    else
      own_notes_.add(source.error().message + "; the trace's own kernel symbols are used instead");
  };
  if (saved_image_) {
    use(std::move(*saved_image_));
    saved_image_.reset();
    return;
  }
  if (!image_path_.empty()) use(read_kernel_image(image_path_));
  if (image_) code_path_ = image_path_;
  if (!image_ && !map_path_.empty()) use(read_kernel_map(map_path_));
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

size_t Kernel::read_code(uint64_t address, char* out, size_t room) {
  if (!loaded_) load();
  if (code_path_.empty()) return 0;
  if (!image_code_) {
    ModuleSymbols code;
    if (auto file = ElfFile::open(code_path_)) {
      code.segments = file->layout().segments;
      code.build_id = file->layout().build_id;
      code.files = {code_path_};
      code.identities = {file->identity()};
      code.exact_offsets = true;
      code.code_bytes = file->size();
    }
    image_code_ = std::make_shared<const ModuleSymbols>(std::move(code));
  }
  return pieces_.read(*image_code_, address - image_->shift, out, room);
}

SavedKernel Kernel::saved() {
  if (!loaded_) load();
  SavedKernel kernel{symbols_, image_, {}};
  for (size_t i = 0; i < own_notes_.size(); ++i) kernel.notes.emplace_back(own_notes_.get(i));
  return kernel;
}

pi::Result<std::optional<KernelSource>> Kernel::read_image() const {
  if (saved_image_) return saved_image_;
  if (image_path_.empty() && map_path_.empty()) return std::optional<KernelSource>();
  auto source = image_path_.empty() ? read_kernel_map(map_path_) : read_kernel_image(image_path_);
  if (!source) return source.error();
  return std::optional(std::move(*source));
}

const std::vector<uint32_t>* Kernel::modules_of(const SymbolTable* table) const {
  return table == &symbols_.table() ? &symbols_.parts().symbol_module : nullptr;
}

}  // namespace a2n
