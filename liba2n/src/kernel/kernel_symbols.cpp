// SPDX-License-Identifier: MIT
// Symbols of the kernel and its modules from the trace's kallsyms and modules texts.
#include "kernel_symbols.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "kallsyms.h"

namespace a2n {
namespace {

constexpr uint64_t kernel_half = 0xffff800000000000;
// Maximum size in bytes of a symbol whose module has no known range (bpf programs, trampolines).
constexpr uint64_t max_unbounded = 64 * 1024;

bool is_text(char type) {
  return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

Binding binding_of(char type) {
  if (type == 'T') return Binding::global;
  return type == 't' ? Binding::local : Binding::weak;
}

// Names that the linker script gives to the bounds of a region. They limit the symbol before them,
// but are not symbols themselves.
bool is_marker(std::string_view name) {
  return name == "_text" || name == "_stext" || name == "_etext" || name == "_sinittext" ||
         name == "_einittext" || name.ends_with("_text_start") || name.ends_with("_text_end");
}

}  // namespace

class KernelSymbolsBuilder {
 public:
  explicit KernelSymbolsBuilder(KernelSymbols& out) : out_(out) {}

  void run(std::string_view kallsyms, std::string_view modules) {
    index_.emplace("", 0);
    read_modules(modules);
    auto [lines, bad_lines, bad_bytes] = parse_kallsyms(kallsyms);
    out_.damage_.lines += bad_lines;
    out_.damage_.bytes += bad_bytes;
    drop_unusable(lines);
    sort(lines);
    set_core_range(lines);
    build(lines);
    order_ranges();
  }

 private:
  void read_modules(std::string_view text) {
    const auto [lines, bad_lines, bad_bytes] = parse_modules(text);
    out_.damage_ = {bad_lines, bad_bytes};
    for (const ModulesLine& line : lines) {
      const uint32_t module = module_index(line.name);
      if (module == 0 || line.address < kernel_half) continue;
      out_.parts_.modules[module].range = {
          line.address, line.address + std::min(line.size, UINT64_MAX - line.address)};
    }
  }

  uint32_t module_index(std::string_view name) {
    const auto [entry, added] =
        index_.emplace(name, static_cast<uint32_t>(out_.parts_.modules.size()));
    if (added) out_.parts_.modules.push_back({std::string(name), {0, 0}});
    return entry->second;
  }

  void drop_unusable(std::vector<KallsymsLine>& lines) {
    const auto in_kernel = [](const KallsymsLine& line) { return line.address >= kernel_half; };
    out_.parts_.withheld = !lines.empty() && std::none_of(lines.begin(), lines.end(), in_kernel);
    std::erase_if(lines, [&](const KallsymsLine& line) { return !in_kernel(line); });
  }

  // Sorts by address; of aliases, the preferred one is first.
  static void sort(std::vector<KallsymsLine>& lines) {
    const auto rank = [](const KallsymsLine& line) {
      return !is_text(line.type)    ? 4
             : is_marker(line.name) ? 3
                                    : static_cast<int>(binding_of(line.type));
    };
    std::sort(lines.begin(), lines.end(), [&rank](const KallsymsLine& a, const KallsymsLine& b) {
      if (a.address != b.address) return a.address < b.address;
      if (rank(a) != rank(b)) return rank(a) < rank(b);
      if (a.name != b.name) return SymbolTableBuilder::better_name(a.name, b.name);
      return a.module < b.module;
    });
  }

  void set_core_range(const std::vector<KallsymsLine>& lines) {
    uint64_t first = UINT64_MAX;
    uint64_t last = 0;
    std::optional<uint64_t> end;
    for (const KallsymsLine& line : lines) {
      if (!line.module.empty() || !is_text(line.type)) continue;
      if (line.name == "_stext") out_.parts_.stext = line.address;
      if (line.name == "_etext") end = line.address;
      first = std::min(first, line.address);
      last = std::max(last, line.address);
    }
    if (first > last) return;
    const uint64_t begin = out_.parts_.stext.value_or(first);
    out_.parts_.modules[0].range = {begin, end && *end > begin ? *end : std::max(last, begin)};
  }

  // The end of a symbol. next: the address of the following symbol of any kind.
  uint64_t end_of(const KallsymsLine& line, uint32_t module, uint64_t next) const {
    const Range& range = out_.parts_.modules[module].range;
    if (range.contains(line.address)) return std::min(next, range.end);
    return std::min(next, line.address + std::min(max_unbounded, UINT64_MAX - line.address));
  }

  void build(const std::vector<KallsymsLine>& lines) {
    SymbolTableBuilder builder;
    for (size_t i = 0; i < lines.size();) {
      const KallsymsLine& line = lines[i];
      size_t after = i + 1;
      while (after < lines.size() && lines[after].address == line.address) ++after;
      const uint64_t next = after < lines.size() ? lines[after].address : UINT64_MAX;
      if (is_text(line.type) && !is_marker(line.name)) {
        const uint32_t module = module_index(line.module);
        const uint64_t end = end_of(line, module, next);
        // The table drops empty symbols: symbol_module must have one entry per symbol of the table.
        if (end > line.address) {
          builder.add(line.address, end - line.address, line.name, binding_of(line.type), true);
          out_.parts_.symbol_module.push_back(module);
          widen(module, line.address, end);
        }
      }
      i = after;
    }
    out_.parts_.table = builder.build({{kernel_half, UINT64_MAX}});
    out_.parts_.symbol_module.resize(out_.parts_.table.size());
  }

  // The range of a module that /proc/modules does not list is from its first to its last symbol.
  void widen(uint32_t module, uint64_t begin, uint64_t end) {
    if (module == 0) return;
    Range& range = out_.parts_.modules[module].range;
    if (listed(module)) return;
    unlisted_[module] = true;
    range = range.begin == 0 ? Range{begin, end}
                             : Range{std::min(range.begin, begin), std::max(range.end, end)};
  }
  bool listed(uint32_t module) const {
    return out_.parts_.modules[module].range.begin != 0 && !unlisted_.contains(module);
  }

  // Only listed modules also own the gaps between their symbols: the symbols of unlisted ones (bpf
  // programs) are scattered.
  void order_ranges() {
    for (uint32_t i = 0; i < out_.parts_.modules.size(); ++i) {
      if (out_.parts_.modules[i].range.end > out_.parts_.modules[i].range.begin &&
          !unlisted_.contains(i)) {
        out_.parts_.by_begin.push_back(i);
      }
    }
    std::stable_sort(
        out_.parts_.by_begin.begin(), out_.parts_.by_begin.end(), [this](uint32_t a, uint32_t b) {
          return out_.parts_.modules[a].range.begin < out_.parts_.modules[b].range.begin;
        });
  }

  KernelSymbols& out_;
  std::unordered_map<std::string_view, uint32_t> index_;
  std::unordered_map<uint32_t, bool> unlisted_;
};

KernelSymbols::KernelSymbols(std::string_view kallsyms, std::string_view modules) {
  KernelSymbolsBuilder(*this).run(kallsyms, modules);
}

std::optional<KernelSymbols> KernelSymbols::restore(Parts parts) {
  const size_t count = parts.modules.size();
  const auto known = [count](uint32_t module) { return module < count; };
  const auto begin_of = [&parts](uint32_t module) { return parts.modules[module].range.begin; };
  if (count == 0 || parts.symbol_module.size() != parts.table.size() ||
      !std::all_of(parts.symbol_module.begin(), parts.symbol_module.end(), known) ||
      !std::all_of(parts.by_begin.begin(), parts.by_begin.end(), known) ||
      !std::is_sorted(parts.by_begin.begin(), parts.by_begin.end(),
                      [&](uint32_t a, uint32_t b) { return begin_of(a) < begin_of(b); }))
    return std::nullopt;
  KernelSymbols symbols;
  symbols.parts_ = std::move(parts);
  return symbols;
}

const KernelModule* KernelSymbols::module_at(uint64_t address) const {
  auto after = std::upper_bound(parts_.by_begin.begin(), parts_.by_begin.end(), address,
                                [this](uint64_t value, uint32_t module) {
                                  return value < parts_.modules[module].range.begin;
                                });
  if (after == parts_.by_begin.begin()) return nullptr;
  const KernelModule& module = parts_.modules[*--after];
  return module.range.contains(address) ? &module : nullptr;
}

KernelSymbols::Found KernelSymbols::find(uint64_t address) const {
  if (const Symbol* symbol = parts_.table.find(address)) {
    return {&parts_.modules[parts_.symbol_module[parts_.table.index(*symbol)]], symbol};
  }
  return {module_at(address), nullptr};
}

}  // namespace a2n
