// SPDX-License-Identifier: MIT
// Reads any bytes as a recording of perf, and converts its records.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <span>
#include <string>

#include <pi/decode.h>
#include <pi/unique_fd.h>

#include "amplification.h"
#include "import/import_info.h"
#include "import/recording.h"

namespace {

// Windows of half a megabyte, one of them for compressed records; zstd's own memory, which its
// format limits to 128 MiB; records that are unpacked by a factor of up to 1,000.
constexpr fuzz::Allowed allowed{uint64_t{160} << 20, 3000, 3'000'000, 20'000};
constexpr size_t max_sorted_bytes = 1 << 20;

// Aborts if the records are not what a reader of traces accepts.
int check(const pi::perfutil::BufferView& view) {
  auto rest = view.records;
  while (!rest.empty()) {
    const pi::RecordView record(rest);
    if (!record.valid()) std::abort();
    rest = rest.subspan(record.length());
  }
  return 0;
}

// Reads each byte of each copy and path, and finds as many callers as there may be.
class AnyCode final : public pi::perfutil::RecordedCode {
 public:
  pi_stack_resolver resolver() override {
    pi_stack_resolver functions{};
    functions.context = this;
    functions.begin = [](void*) {};
    functions.change = [](void* context, const pi_process_change* change) {
      if (change->path != nullptr) static_cast<AnyCode*>(context)->add({change->path, {}, false});
    };
    functions.resolve = [](void* context, const pi_stack_copy* copy, int, uint64_t* addresses,
                           uint32_t space, pi_stack_frames* frames) {
      auto& sum = static_cast<AnyCode*>(context)->sum_;
      const auto* bytes = static_cast<const unsigned char*>(copy->bytes);
      for (size_t i = 0; i < copy->length; ++i) sum = sum + bytes[i];
      for (uint32_t i = 0; i < space; ++i) addresses[i] = copy->registers[i % PI_STACK_REGISTERS];
      *frames = {space, space / 2, PI_STACK_CUT};
      return 1;
    };
    functions.note = [](void*, unsigned) -> const char* { return nullptr; };
    return functions;
  }
  void add(const pi::perfutil::RecordedFile& file) override {
    for (const char each : file.path) sum_ = sum_ + static_cast<unsigned char>(each);
  }
  std::map<std::string, std::string> found_build_ids() const override { return {}; }

 private:
  volatile unsigned sum_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fuzz::Amplification amplification(size, allowed);
  const pi::UniqueFd fd(::memfd_create("fuzzed", MFD_CLOEXEC));
  if (!fd || ::write(fd.get(), data, size) != static_cast<ssize_t>(size)) return 0;
  auto file = pi::perfutil::read_perf_file(fd.get(), size);
  if (!file) return 0;
  pi::perfutil::PerfStream stream(fd.get(), file->begin, file->end);
  AnyCode code;
  pi::perfutil::Recording recording(*file, "", max_sorted_bytes, check, &code);
  // Every other input is read as a directory with a second file of the same records.
  pi::perfutil::PerfStream other(fd.get(), file->begin, file->end, true);
  pi::perfutil::PerfStream* const streams[] = {&stream, &other};
  (void)recording.convert(std::span(streams).first(1 + size % 2));
  (void)describe_import(*file, recording, stream.damage(), "missing");
  (void)build_id_lines(*file);
  return 0;
}
