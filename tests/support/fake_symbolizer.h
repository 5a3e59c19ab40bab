// SPDX-License-Identifier: MIT
// A Symbolizer for tests of post: modules by process, symbols by module, given by the test.
#ifndef TESTS_SUPPORT_FAKE_SYMBOLIZER_H
#define TESTS_SUPPORT_FAKE_SYMBOLIZER_H

#include <symbolizer.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace test_support {

// Knows the moment only as the order of the calls: a lookup is answered as of now, as post asks it.
class FakeSymbolizer final : public post::Symbolizer {
 public:
  // start counts from the file's beginning; in the module "vmlinux" it is an address.
  void add_symbol(const std::string& module, uint64_t start, uint64_t size,
                  const std::string& name) {
    symbols_[module].push_back({start, size, name});
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

  post::Lookup lookup(uint64_t, uint32_t pid, uint64_t address) override {
    ++lookups;
    if (address >> 63 != 0) return find("vmlinux", 0, address);
    for (const Mapping& mapping : space(pid)->mappings)
      if (address - mapping.address < mapping.size)
        return find(mapping.name, mapping.address - mapping.offset, address);
    return {post::Found::no_module, "NoModule", "NoSymbols", 0};
  }
  std::vector<std::string> notes() override { return notes_; }

  uint64_t lookups = 0;

 private:
  struct Mapping {
    uint64_t address;
    uint64_t size;
    uint64_t offset;
    std::string name;
  };
  struct Space {
    std::vector<Mapping> mappings;
  };
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

  // base: the address at which the module's file would begin.
  post::Lookup find(const std::string& module, uint64_t base, uint64_t address) {
    // The names must outlive the call, so that they come from the table. What lies in lib64 is a
    // 64-bit module.
    const auto& [name, symbols] = *symbols_.try_emplace(module).first;
    const bool wide = name.find("/lib64/") != std::string::npos;
    for (const Symbol& symbol : symbols)
      if (address - base - symbol.start < symbol.size)
        return {post::Found::symbol, name, symbol.name, base + symbol.start, wide};
    return {post::Found::no_symbol, name, "NoSymbolFound", base, wide};
  }

  std::map<uint32_t, std::shared_ptr<Space>> spaces_;
  std::map<std::string, std::vector<Symbol>> symbols_;
  std::vector<std::string> notes_;
};

}  // namespace test_support

#endif  // TESTS_SUPPORT_FAKE_SYMBOLIZER_H
