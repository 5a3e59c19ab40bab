// SPDX-License-Identifier: MIT
// The encoder and decoder of the blocks of an MSI file.
#include "msi_codec.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "elf/build_id.h"

namespace a2n {
namespace {

constexpr uint64_t max_path = 1 << 16;
constexpr uint64_t max_note = 1 << 17;
constexpr uint64_t max_notes = 1 << 10;
constexpr uint64_t max_segments = 4096;   // as in elf_file.cpp
constexpr uint64_t max_sections = 65536;  // as in elf_file.cpp
constexpr uint64_t max_kernel_modules = 1 << 20;

class Encoder {
 public:
  void number(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }
  void flag(bool value) { number(value ? 1 : 0); }
  void text(std::string_view value) {
    number(value.size());
    bytes_ += value;
  }
  void texts(const std::vector<std::string>& values) {
    number(values.size());
    for (const std::string& value : values) text(value);
  }
  void range(const Range& range) {
    number(range.begin);
    number(range.end - range.begin);
  }
  void optional(const std::optional<std::string>& value) {
    flag(value.has_value());
    if (value) text(*value);
  }
  void optional(const std::optional<uint64_t>& value) {
    flag(value.has_value());
    if (value) number(*value);
  }
  // For each symbol the distance from the previous start, then size << 1 | size_guessed; at the end
  // all names.
  void table(const SymbolTable& table) {
    number(table.size());
    uint64_t previous = 0;
    std::string names;
    for (size_t i = 0; i < table.size(); ++i) {
      number(table[i].start - std::exchange(previous, table[i].start));
      number(uint64_t{table[i].size} << 1 | table[i].size_guessed);
      names.append(table.name(table[i])).push_back('\0');
    }
    text(names);
  }
  void content(const ModuleSymbols& module) {
    flag(module.usable);
    flag(module.exact_offsets);
    flag(module.exports_only);
    flag(module.is_64);
    number(module.segments.size());
    for (const Segment& segment : module.segments) {
      number(segment.offset);
      number(segment.vaddr);
      number(segment.file_size);
      number(segment.memory_size);
      flag(segment.executable);
    }
    number(module.sections.size());
    for (const Section& section : module.sections) {
      range(section.range);
      text(section.name);
      flag(section.executable);
      flag(section.plt);
    }
    table(module.symbols);
  }

  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// The first invalid value makes good() false; values read after it are 0 or empty.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : bytes_(bytes) {}

  bool good() const { return good_; }
  bool complete() const { return good_ && bytes_.empty(); }
  void require(bool condition) { good_ = good_ && condition; }

  uint64_t number(uint64_t max = UINT64_MAX) {
    uint64_t value = 0;
    for (unsigned shift = 0; good_; shift += 7) {
      if (bytes_.empty() || shift > 63) return fail();
      const auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      const uint64_t part = byte & 0x7f;
      if (shift == 63 && part > 1) return fail();
      value |= part << shift;
      if (byte < 0x80) return value <= max ? value : fail();
    }
    return 0;
  }
  bool flag() { return number(1) != 0; }
  std::string_view bytes(uint64_t max_size) {
    const uint64_t size = number(max_size);
    if (size > bytes_.size()) fail();
    if (!good_) return {};
    const std::string_view value = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return value;
  }
  // Texts are returned as C strings later, so NUL is invalid.
  std::string text(uint64_t max_size) {
    const std::string_view value = bytes(max_size);
    if (value.find('\0') != value.npos) fail();
    return std::string(value);
  }
  // Reads the number of following objects; each takes at least one byte, which limits the number.
  uint64_t count(uint64_t max) {
    const uint64_t value = number(max);
    if (value > bytes_.size()) return fail();
    return value;
  }
  std::vector<std::string> notes() {
    std::vector<std::string> values(count(max_notes));
    for (std::string& value : values) value = text(max_note);
    return values;
  }
  Range range() {
    const uint64_t begin = number();
    return {begin, begin + number(UINT64_MAX - begin)};
  }
  std::optional<std::string> build_id() {
    if (!flag()) return std::nullopt;
    std::string id = text(max_path);
    require(is_build_id(id));
    return id;
  }
  std::optional<uint64_t> optional_number() {
    return flag() ? std::optional<uint64_t>(number()) : std::nullopt;
  }
  SymbolTable table() {
    std::vector<Symbol> symbols(count(UINT32_MAX));
    uint64_t start = 0;
    for (Symbol& symbol : symbols) {
      const uint64_t distance = number(UINT64_MAX - start);
      const uint64_t size = number(uint64_t{UINT32_MAX} << 1 | 1);
      symbol.start = start += distance;
      symbol.size = static_cast<uint32_t>(size >> 1);
      symbol.name = 0;
      symbol.size_guessed = (size & 1) != 0;
      if (!good_) return {};
    }
    auto restored = SymbolTable::restore(std::move(symbols), std::string(bytes(UINT32_MAX)));
    if (!restored) fail();
    return good_ ? std::move(*restored) : SymbolTable();
  }
  ModuleSymbols content() {
    ModuleSymbols module;
    module.usable = flag();
    module.exact_offsets = flag();
    module.exports_only = flag();
    module.is_64 = flag();
    module.segments.resize(count(max_segments));
    for (Segment& segment : module.segments) {
      segment.offset = number();
      segment.vaddr = number();
      segment.file_size = number();
      segment.memory_size = number();
      segment.executable = flag();
    }
    module.sections.resize(count(max_sections));
    for (Section& section : module.sections) {
      section.range = range();
      section.name = text(max_path);
      section.executable = flag();
      section.plt = flag();
    }
    require(std::is_sorted(
        module.sections.begin(), module.sections.end(),
        [](const Section& a, const Section& b) { return a.range.begin < b.range.begin; }));
    module.symbols = table();
    return module;
  }

 private:
  uint64_t fail() {
    good_ = false;
    return 0;
  }

  std::string_view bytes_;
  bool good_ = true;
};

void encode_parts(const KernelSymbols::Parts& parts, Encoder& out) {
  out.number(parts.modules.size());
  for (const KernelModule& module : parts.modules) {
    out.text(module.name);
    out.range(module.range);
  }
  out.number(parts.by_begin.size());
  for (const uint32_t module : parts.by_begin) out.number(module);
  out.table(parts.table);
  for (const uint32_t module : parts.symbol_module) out.number(module);
  out.optional(parts.stext);
  out.flag(parts.withheld);
}

KernelSymbols::Parts decode_parts(Decoder& in) {
  KernelSymbols::Parts parts;
  parts.modules.resize(in.count(max_kernel_modules));
  for (KernelModule& module : parts.modules) {
    module.name = in.text(max_path);
    module.range = in.range();
  }
  parts.by_begin.resize(in.count(max_kernel_modules));
  for (uint32_t& module : parts.by_begin) module = static_cast<uint32_t>(in.number(UINT32_MAX));
  parts.table = in.table();
  parts.symbol_module.resize(parts.table.size());
  for (uint32_t& module : parts.symbol_module)
    module = static_cast<uint32_t>(in.number(UINT32_MAX));
  parts.stext = in.optional_number();
  parts.withheld = in.flag();
  return parts;
}

}  // namespace

std::string encode_module(const SavedModule& module) {
  Encoder out;
  out.text(module.path);
  out.optional(module.build_id);
  out.number(module.inode);
  out.number(module.length);
  out.texts(module.notes);
  out.content(*module.content);
  return out.take();
}

std::optional<SavedModule> decode_module(std::string_view bytes,
                                         std::vector<FunctionRange> functions) {
  Decoder in(bytes);
  SavedModule module;
  module.path = in.text(max_path);
  module.build_id = in.build_id();
  module.inode = in.number();
  module.length = in.number();
  module.notes = in.notes();
  ModuleSymbols content = in.content();
  content.functions = std::move(functions);
  module.content = std::make_shared<ModuleSymbols>(std::move(content));
  in.require(!module.path.empty());
  if (!in.complete()) return std::nullopt;
  return module;
}

// Starts as distances from the one before, sizes.
std::string encode_functions(const SavedModule& module) {
  Encoder out;
  out.number(module.content->functions.size());
  uint64_t previous = 0;
  for (const FunctionRange& function : module.content->functions) {
    out.number(function.start - std::exchange(previous, function.start));
    out.number(function.size);
  }
  return out.take();
}

std::optional<std::vector<FunctionRange>> decode_functions(std::string_view bytes) {
  Decoder in(bytes);
  std::vector<FunctionRange> functions(in.count(UINT32_MAX));
  uint64_t start = 0;
  for (FunctionRange& function : functions) {
    const uint64_t distance = in.number(UINT64_MAX - start);
    in.require(distance != 0 || &function == functions.data());
    function.start = start += distance;
    function.size = static_cast<uint32_t>(in.number(UINT32_MAX));
  }
  if (!in.complete()) return std::nullopt;
  return functions;
}

std::string encode_kernel(const SavedKernel& kernel) {
  Encoder out;
  encode_parts(kernel.symbols.parts(), out);
  out.flag(kernel.image.has_value());
  if (kernel.image) {
    out.table(kernel.image->symbols);
    out.number(kernel.image->shift);
  }
  out.texts(kernel.notes);
  return out.take();
}

std::optional<SavedKernel> decode_kernel(std::string_view bytes) {
  Decoder in(bytes);
  SavedKernel kernel;
  auto symbols = KernelSymbols::restore(decode_parts(in));
  if (in.flag()) {
    kernel.image.emplace();
    kernel.image->symbols = in.table();
    kernel.image->shift = in.number();
  }
  kernel.notes = in.notes();
  if (!in.complete() || !symbols) return std::nullopt;
  kernel.symbols = std::move(*symbols);
  return kernel;
}

std::string encode_kernel_image(const KernelSource& image) {
  Encoder out;
  out.text(image.name);
  out.optional(std::optional(image.build_id));
  out.optional(image.stext);
  out.table(image.symbols);
  return out.take();
}

std::optional<KernelSource> decode_kernel_image(std::string_view bytes) {
  Decoder in(bytes);
  KernelSource image;
  image.name = in.text(max_path);
  image.build_id = in.build_id().value_or("");
  image.stext = in.optional_number();
  image.symbols = in.table();
  if (!in.complete()) return std::nullopt;
  return image;
}

}  // namespace a2n
