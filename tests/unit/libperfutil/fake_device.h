// SPDX-License-Identifier: MIT
// A fake of the module's device: state, answers and buffers in plain memory.
#ifndef PI_TESTS_FAKE_DEVICE_H
#define PI_TESTS_FAKE_DEVICE_H

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <pitrace/abi.h>

#include "system/device.h"

namespace pi::test {

// State that tests set and check; must outlive the device.
struct FakeModule {
  int open_result = 0;
  std::map<unsigned long, int> refuse;  // request -> negative error number
  std::vector<unsigned long> requests;  // in order
  std::vector<uint32_t> arguments;      // arguments of ENABLE, DISABLE, RATE
  pitrace_alloc allocated{};
  pitrace_stacks stacks{};
  pitrace_event event{};
  std::map<uint32_t, pitrace_ai> above_idle;  // by CPU
  pitrace_info info{};
  std::vector<pitrace_probe> probes;
  std::vector<uint32_t> cpus{0};
  std::map<std::pair<uint32_t, uint32_t>, pitrace_buffer_head> heads;  // by kind and CPU
  std::map<std::pair<uint32_t, uint32_t>, std::byte*> memory;          // the same, as it is mapped
  pitrace_copies copies{};
  bool closed = false;

  FakeModule() {
    info.abi_major = PITRACE_ABI_MAJOR;
    info.abi_minor = PITRACE_ABI_MINOR;
    info.cpus_possible = 4;
  }
};

class FakeDevice final : public perfutil::Device {
 public:
  explicit FakeDevice(std::shared_ptr<FakeModule> module) : module_(std::move(module)) {}
  ~FakeDevice() override { module_->closed = true; }

  int open() override { return module_->open_result; }
  int fd() const override { return -1; }

  int control(unsigned long request, void* argument) override {
    module_->requests.push_back(request);
    if (const auto refused = module_->refuse.find(request); refused != module_->refuse.end())
      return refused->second;
    if (request == PITRACE_IOC_ENABLE || request == PITRACE_IOC_DISABLE ||
        request == PITRACE_IOC_RATE) {
      uint32_t value;
      std::memcpy(&value, argument, sizeof value);
      module_->arguments.push_back(value);
    }
    if (request == PITRACE_IOC_ALLOC) {
      std::memcpy(&module_->allocated, argument, sizeof module_->allocated);
      module_->info.trace_bytes = (module_->allocated.trace_bytes + 4095) & ~4095ull;
      module_->info.mte_bytes = (module_->allocated.mte_bytes + 4095) & ~4095ull;
      module_->info.state = PITRACE_TRACE_INIT;
    }
    if (request == PITRACE_IOC_STACKS)
      std::memcpy(&module_->stacks, argument, sizeof module_->stacks);
    if (request == PITRACE_IOC_COPIES)
      std::memcpy(&module_->copies, argument, sizeof module_->copies);
    if (request == PITRACE_IOC_CONSUMED) consume(*static_cast<pitrace_consumed*>(argument));
    if (request == PITRACE_IOC_EVENT) std::memcpy(&module_->event, argument, sizeof module_->event);
    if (request == PITRACE_IOC_AI_READ) return above_idle(static_cast<pitrace_ai*>(argument));
    if (request == PITRACE_IOC_ON) module_->info.state = PITRACE_TRACE_ON;
    if (request == PITRACE_IOC_OFF) module_->info.state = PITRACE_TRACE_INIT;
    if (request == PITRACE_IOC_INFO) std::memcpy(argument, &module_->info, sizeof module_->info);
    if (request == PITRACE_IOC_PROBE) return probe(static_cast<pitrace_probe*>(argument));
    return 0;
  }

  UniqueMapping map(uint32_t kind, uint32_t cpu, size_t bytes) override {
    bool present = false;
    for (const uint32_t each : module_->cpus) present |= each == cpu;
    if (!present) return {};
    void* memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    module_->memory[{kind, cpu}] = static_cast<std::byte*>(memory);
    auto& head = module_->heads[{kind, cpu}];
    head.cpu = cpu;
    head.kind = kind;
    std::memcpy(memory, &head, sizeof head);
    return UniqueMapping(memory, bytes);
  }

 private:
  void consume(const pitrace_consumed& consumed) {
    const auto memory = module_->memory.find({consumed.kind, consumed.cpu});
    if (memory != module_->memory.end())
      reinterpret_cast<pitrace_buffer_head*>(memory->second)->consumed = consumed.position;
  }

  int probe(pitrace_probe* out) {
    if (out->index >= module_->probes.size()) return -ENOENT;
    *out = module_->probes[out->index];
    return 0;
  }

  int above_idle(pitrace_ai* out) {
    const auto found = module_->above_idle.find(out->cpu);
    if (found == module_->above_idle.end()) return -ENXIO;
    *out = found->second;
    return 0;
  }

  std::shared_ptr<FakeModule> module_;
};

}  // namespace pi::test

#endif  // PI_TESTS_FAKE_DEVICE_H
