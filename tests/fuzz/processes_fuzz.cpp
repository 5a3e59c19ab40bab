// SPDX-License-Identifier: MIT
// Reads any bytes as process events: mappings, forks, clones, execs. A mapping found at an address
// must contain it, and a change must be found.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "amplification.h"
#include "process/process_table.h"

namespace {

// A four-byte event creates at most a process with its first image (about 500 bytes) and a change
// of a tree, which copies the nodes on the path: logarithmic.
constexpr fuzz::Allowed allowed{256 << 10, 512, 500'000, 200};

void look(const a2n::ProcessTable& table, uint32_t pid, uint64_t address, uint64_t time) {
  const a2n::Space* space = table.find(pid, time);
  const auto piece = space ? space->map.find(address, time) : std::nullopt;
  if (piece && (address < piece->begin || address >= piece->end)) std::abort();
}

}  // namespace

// Four bytes for each event: kind, pid, address, length.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fuzz::Amplification amplification(size, allowed);
  a2n::ProcessTable table;
  uint64_t time = 0;
  for (; size >= 4; data += 4, size -= 4) {
    const uint32_t pid = data[1] % 16;
    const uint64_t begin = uint64_t{data[2]} * 8;
    time += data[0] >> 4;
    switch (data[0] % 8) {
      case 0:
        table.fork(pid, 16 + data[2], time);
        break;
      case 1:
        table.clone(pid, 16 + data[2], time);
        break;
      case 2:
        table.exec(pid, time);
        break;
      case 3:
        table.create(pid, time);
        break;
      default:
        table.add(pid, begin, begin + data[3], static_cast<uint32_t>(size), time);
        if (data[3] == 0) break;
        if (const auto piece = table.newest(pid, begin);
            !piece || piece->tag != static_cast<uint32_t>(size))
          std::abort();
    }
    look(table, pid, begin + data[3] / 2, time / 2);
  }
  return 0;
}
