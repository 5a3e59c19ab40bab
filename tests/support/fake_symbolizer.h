// SPDX-License-Identifier: MIT
// A Symbolizer for tests of post: the test defines modules by process and symbols by module.
#ifndef TESTS_SUPPORT_FAKE_SYMBOLIZER_H
#define TESTS_SUPPORT_FAKE_SYMBOLIZER_H

#include <cxxabi.h>
#include <state/symbolizer.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace test_support {

// Has no history of mappings: a lookup uses the state after all previous calls, which is the order
// in which post makes them.
class FakeSymbolizer final : public post::Symbolizer {
 public:
  // A name in brackets is that of a function without a symbol.
  // start is an offset in the file; in the module "vmlinux" it is an address.
  void add_symbol(const std::string& module, uint64_t start, uint64_t size,
                  const std::string& name) {
    symbols_[module].push_back({start, size, name});
  }
  // JIT-compiled code that owns its addresses during [from, until). From the offset inlined_from
  // on, it belongs to an inlined function.
  struct Jitted {
    uint32_t pid;
    uint64_t from, until, start, size;
    std::string name, inlined;
    uint64_t inlined_from;
  };
  void add_jitted(Jitted code) { jitted_.push_back(std::move(code)); }
  void add_thread_start(uint32_t pid, pi::ThreadStart start) {
    thread_starts_[pid].push_back(std::move(start));
  }
  // Machine code for read_code(); start as for add_symbol(); in "JITCODE" also an address.
  void add_code(const std::string& module, uint64_t start, std::vector<std::byte> bytes) {
    pieces_[module][start] = std::move(bytes);
  }
  void add_note(const std::string& note) { notes_.push_back(note); }

  void create(uint64_t, uint32_t pid) override { spaces_[pid] = std::make_shared<Space>(); }
  void fork(uint64_t, uint32_t parent, uint32_t child) override {
    spaces_[child] = std::make_shared<Space>(*space(parent));
  }
  void clone(uint64_t, uint32_t parent, uint32_t child) override { spaces_[child] = space(parent); }
  void exec(uint64_t, uint32_t pid) override { spaces_[pid] = std::make_shared<Space>(); }
  void set_name(uint64_t, uint32_t, std::string_view) override {}
  bool add_module(uint64_t, const pi::ModuleEntry& module) override {
    if (module.size == 0) return false;
    auto& mappings = space(module.pid)->mappings;
    std::erase_if(mappings, [&](const Mapping& old) {
      return old.address < module.address + module.size && module.address < old.address + old.size;
    });
    mappings.push_back({module.address, module.size, module.offset, std::string(module.name)});
    return true;
  }

  post::Lookup lookup(uint64_t time, uint32_t pid, uint64_t address) override {
    ++lookups;
    if (const Jitted* code = jitted_at(time, pid, address))
      return {.found = post::Found::symbol,
              .module = "JITCODE",
              .symbol = code->name,
              .start = code->start,
              .module_start = code->start,
              .code_id = static_cast<uint64_t>(code - jitted_.data() + 1)};
    if (address >> 63 != 0) return find("vmlinux", 0, address);
    for (const Mapping& mapping : space(pid)->mappings)
      if (address - mapping.address < mapping.size)
        return find(mapping.name, mapping.address - mapping.offset, address);
    return {post::Found::no_module, "NoModule", "NoSymbols", 0};
  }
  std::vector<post::SourceFrame> frames(uint64_t time, uint32_t pid, uint64_t address) override {
    const Jitted* code = jitted_at(time, pid, address);
    if (!code) {
      const post::Lookup known = lookup(time, pid, address);
      if (known.found != post::Found::symbol) return {};
      return {{known.symbol, "source.c", static_cast<uint32_t>((address - known.start) / 16 + 1)}};
    }
    if (code->inlined.empty() || address - code->start < code->inlined_from)
      return {{code->name, {}, jitted_line}};
    return {{code->inlined, {}, jitted_line}, {code->name, {}, jitted_line}};
  }
  // Returns as many bytes as the symbol has (none for JIT code): NOPs and a final return.
  post::Code code(uint64_t time, uint32_t pid, uint64_t address) override {
    const post::Lookup known = lookup(time, pid, address);
    if (known.found != post::Found::symbol || known.module == "JITCODE") return {};
    auto& bytes = code_[{std::string(known.module), std::string(known.symbol)}];
    for (const Symbol& symbol : symbols_[std::string(known.module)])
      if (symbol.name == known.symbol) bytes.assign(symbol.size, std::byte{0x90});
    bytes.back() = std::byte{0xc3};
    return {bytes, known.start};
  }
  // Copies from the bytes given to add_code(), at most to the end of one piece.
  size_t read_code(uint64_t time, uint32_t pid, uint64_t address,
                   std::span<std::byte> out) override {
    if (jitted_at(time, pid, address)) return copy_code("JITCODE", address, out);
    if (address >> 63 != 0) return copy_code("vmlinux", address, out);
    for (const Mapping& mapping : space(pid)->mappings)
      if (address - mapping.address < mapping.size)
        return copy_code(mapping.name, address - mapping.address + mapping.offset, out);
    return 0;
  }
  void look_for_logs(const post::ProcessIds& process) override {
    log_searches.push_back(process.pid);
  }
  uint64_t next_code_change(uint64_t time, uint32_t pid) override {
    uint64_t next = UINT64_MAX;
    for (const Jitted& code : jitted_)
      for (const uint64_t change : {code.from, code.until})
        if (code.pid == pid && change > time) next = std::min(next, change);
    return next;
  }
  std::vector<pi::ThreadStart> thread_starts(const post::ProcessIds& process) override {
    return thread_starts_[process.pid];
  }
  std::string readable(const std::string& name) const override {
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, nullptr), std::free);
    return text ? text.get() : name;
  }
  std::vector<std::string> notes() override { return notes_; }

  uint64_t lookups = 0;
  uint32_t jitted_line = 0;            // of all JIT-compiled code
  std::vector<uint32_t> log_searches;  // pids of look_for_logs() calls

 private:
  const Jitted* jitted_at(uint64_t time, uint32_t pid, uint64_t address) const {
    for (const Jitted& code : jitted_)
      if (code.pid == pid && code.from <= time && time < code.until &&
          address - code.start < code.size)
        return &code;
    return nullptr;
  }

  struct Mapping {
    uint64_t address;
    uint64_t size;
    uint64_t offset;
    std::string name;
  };
  struct Space {
    std::vector<Mapping> mappings;
  };
  size_t copy_code(const std::string& module, uint64_t at, std::span<std::byte> out) const {
    const auto pieces = pieces_.find(module);
    if (pieces == pieces_.end()) return 0;
    for (const auto& [start, bytes] : pieces->second) {
      if (at < start || at - start >= bytes.size()) continue;
      const size_t count = std::min<size_t>(out.size(), bytes.size() - (at - start));
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at - start), count, out.begin());
      return count;
    }
    return 0;
  }

  struct Symbol {
    uint64_t start;
    uint64_t size;
    std::string name;
  };

  std::shared_ptr<Space>& space(uint32_t pid) {
    auto& known = spaces_[pid];
    if (!known) known = std::make_shared<Space>();
    return known;
  }

  // base: the address that corresponds to the file's offset 0.
  post::Lookup find(const std::string& module, uint64_t base, uint64_t address) {
    // The returned names must outlive the call, so they refer to the table. Modules in lib64 are
    // 64-bit.
    const auto& [name, symbols] = *symbols_.try_emplace(module).first;
    const bool wide = name.find("/lib64/") != std::string::npos;
    for (const Symbol& symbol : symbols)
      if (address - base - symbol.start < symbol.size)
        return {symbol.name.starts_with('[') ? post::Found::function : post::Found::symbol,
                name,
                symbol.name,
                base + symbol.start,
                base,
                wide};
    return {post::Found::no_symbol, name, "NoSymbolFound", base, base, wide};
  }

  std::map<uint32_t, std::shared_ptr<Space>> spaces_;
  std::map<std::string, std::vector<Symbol>> symbols_;
  std::vector<Jitted> jitted_;
  std::map<std::string, std::map<uint64_t, std::vector<std::byte>>> pieces_;
  std::map<std::pair<std::string, std::string>, std::vector<std::byte>> code_;
  std::map<uint32_t, std::vector<pi::ThreadStart>> thread_starts_;
  std::vector<std::string> notes_;
};

}  // namespace test_support

#endif  // TESTS_SUPPORT_FAKE_SYMBOLIZER_H
