// SPDX-License-Identifier: MIT
// Reads any bytes as a runtime's file: log-jita2n, jitdump, perf-PID.map. Then every method is
// looked up, and a result must contain the address.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "amplification.h"
#include "jit/jit_code.h"
#include "jit/jit_dump.h"
#include "jit/jit_log.h"
#include "jit/perf_map.h"

namespace {

void look_everywhere(const a2n::JitCode& code) {
  for (size_t i = 0; i < code.methods(); ++i) {
    const a2n::JitMethod& method = code.method(i);
    for (const uint64_t address : {method.address, method.address + method.size - 1})
      for (const uint64_t time : {uint64_t{0}, method.time, code.next_change(method.time)}) {
        const a2n::JitMethod* found = code.find(address, time);
        if (!found) continue;
        if (address < found->address || address - found->address >= found->size) std::abort();
        if (found->frames_at(static_cast<uint32_t>(address - found->address)).empty()) std::abort();
      }
  }
}

// A line of six bytes can create a method of about 100 bytes, its event, its rectangles (up to two
// entries for each level of their index) and, if dynamic code is inside dynamic code, the pieces
// around it.
constexpr fuzz::Allowed allowed{1 << 20, 512, 500'000, 500};

}  // namespace

// The first byte selects the format; the rest is the file.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const fuzz::Amplification amplification(size, allowed);
  static const int fd = ::memfd_create("fuzz", MFD_CLOEXEC);
  if (::ftruncate(fd, 0) != 0 ||
      ::pwrite(fd, data + 1, size - 1, 0) != static_cast<ssize_t>(size - 1) ||
      ::lseek(fd, 0, SEEK_SET) != 0)
    std::abort();
  a2n::Interner interner;
  a2n::Notes notes;
  a2n::JitCode code;
  const bool with_code = (data[0] & 4) != 0;
  if (data[0] % 4 == 0)
    static_cast<void>(a2n::read_jit_log(fd, "fuzz", {}, with_code, interner, notes, code));
  else if (data[0] % 4 == 1)
    static_cast<void>(a2n::read_jit_dump(fd, "fuzz", 0, with_code, interner, notes, code));
  else
    static_cast<void>(a2n::read_perf_map(fd, "fuzz", interner, notes, code));
  look_everywhere(code);
  return 0;
}
