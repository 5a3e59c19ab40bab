// SPDX-License-Identifier: MIT
// A Java virtual machine in this process, for tests: tests/progs/fake_hotspot.c.
#ifndef TESTS_SWTRACE_FAKE_JVM_H
#define TESTS_SWTRACE_FAKE_JVM_H

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <pi/unique_fd.h>

#include "compile/compile_table.h"
#include "stacks/hotspot.h"
#include "table/table.h"

namespace pi::swtrace::fake_jvm {

struct FileTable {
  explicit FileTable(const char* path) {
    std::ifstream in(path, std::ios::binary);
    const std::string file{std::istreambuf_iterator<char>(in), {}};
    auto compiled = unwind::compile_table(std::as_bytes(std::span(file)));
    EXPECT_TRUE(compiled);
    if (compiled) bytes = std::move(*compiled);
    table = unwind::Table::check(bytes).value();
  }
  std::vector<std::byte> bytes;
  unwind::Table table;
};

// Loaded, with the place of its file in memory.
class Loaded {
 public:
  explicit Loaded(const char* path) : handle_(::dlopen(path, RTLD_NOW)) {
    EXPECT_NE(handle_, nullptr) << ::dlerror();
    std::ifstream maps("/proc/self/maps");
    const std::string name = std::string(path).substr(std::string(path).rfind('/'));
    for (std::string line; std::getline(maps, line);) {
      std::istringstream words(line);
      std::string range, rights, offset;
      words >> range >> rights >> offset;
      if (line.ends_with(name) && rights.find('x') != rights.npos)
        bias = std::stoull(range, nullptr, 16) - std::stoull(offset, nullptr, 16);
    }
  }
  ~Loaded() { ::dlclose(handle_); }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  template <class T>
  T* symbol(const char* name) const {
    return static_cast<T*>(::dlsym(handle_, name));
  }
  uint64_t bias = 0;

 private:
  void* handle_;
};

inline bool read_own(uint64_t address, std::span<std::byte> bytes) {
  static const UniqueFd memory(::open("/proc/self/mem", O_RDONLY | O_CLOEXEC));
  return address <= INT64_MAX &&
         ::pread(memory.get(), bytes.data(), bytes.size(), static_cast<off_t>(address)) ==
             static_cast<ssize_t>(bytes.size());
}

// Structures of tests/progs/fake_hotspot.c.
struct FakeSymbol {
  explicit FakeSymbol(std::string_view from) : length(static_cast<uint16_t>(from.size())) {
    std::copy_n(from.begin(), from.size(), text);
  }
  uint32_t hash = 0;
  uint16_t length;
  char text[1018];
};
struct FakeKlass {
  uint64_t vtable;
  const FakeSymbol* name;
};
struct FakePool {
  uint64_t vtable;
  const FakeKlass* owner;
  int32_t length;
  const FakeSymbol* entries[8];
};
struct FakeCodeOfMethod {
  const FakePool* constants;
  uint16_t name, signature;
};
struct FakeMethod {
  uint64_t vtable;
  const FakeCodeOfMethod* code;
};

// A method of the fake JVM.
class Method {
 public:
  Method(std::string_view owner, std::string_view name, std::string_view signature)
      : owner_(owner), name_(name), signature_(signature) {}
  Method(const Method&) = delete;
  Method& operator=(const Method&) = delete;
  uint64_t at() const { return reinterpret_cast<uint64_t>(&method); }

 private:
  FakeSymbol owner_, name_, signature_;
  FakeKlass klass_{0, &owner_};

 public:
  FakePool pool{0, &klass_, 5, {nullptr, nullptr, nullptr, &name_, &signature_}};
  FakeCodeOfMethod code{&pool, 3, 4};
  FakeMethod method{0, &code};
};

class FakeHotspot : public testing::Test {
 protected:
  FakeHotspot() {
    auto* code = library_.symbol<char>("fake_code");
    *library_.symbol<const void*>("fake_low") = code;
    *library_.symbol<const void*>("fake_high") = code + 4096;
    code_ = reinterpret_cast<uint64_t>(code);
  }
  std::optional<HotspotFacts> facts(const ReadMemory& read = read_own) const {
    return read_hotspot(read, library_.bias, file_.table.symbols());
  }

  const FileTable file_{FAKE_HOTSPOT};
  const Loaded library_{FAKE_HOTSPOT};
  uint64_t code_ = 0;
};

}  // namespace pi::swtrace::fake_jvm

#endif  // TESTS_SWTRACE_FAKE_JVM_H
