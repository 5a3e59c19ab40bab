// SPDX-License-Identifier: MIT
// Writes seeds for a fuzz target: seeds TARGET DIRECTORY. Nothing for targets that need none.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

#include "text_trace.h"

namespace {

constexpr std::string_view traces[] = {
    // Every kind of record and section.
    R"(cpus 2
info source=driver
info scope=system
info cannot_see=nothing much
info count.0.trace.produced=4
info count.0.trace.written=2
info count.0.trace.full=2
info missed.task_rename=1
build-id 00ff /bin/a
kallsyms ffffffff81000000 T _text
section mte 0
1 ints 0x11 0xb5 2000 0 0 0
1 ints 0x11 0xb8 0 1000 0
1 existing 0x20 1
1 name 0x20 app
1 module 0x20 0x1000 0x1000 0 /bin/a
2 fork 0x21 0x20
3 exec 0x21
4 new-thread 0x20 0x22
5 thread 0x20 0x22 worker
6 clone 0x23 0x20
7 end-thread 0x20 0x22
8 kill 0x20
section trace 0 flags=1
0x41fffffff0 tick user 0x20 0x20 0x1001
0x4200000010 tick kernel 0x20 0x22 0xffffffff81000001
section trace 1 lost=3
20 tick user 0xffffffff 0xffffffff 0x1
30 ints 0xb0 0x80 1 2 3
)",
    // A record over two sections, a damaged one, a final section.
    R"(section trace 0 no-time
100 tick user 0x20 0x20 0x1
raw 1c 00 10 00 23 00 00 00 6e 00 00 00 20 00 00 00
section trace 0 no-time
raw 20 00 00 00 00 00 00 00 01 00 00 00
120 tick user 0x20 0x20 0x1
raw ff ff ff ff ff ff ff ff ff ff ff ff
130 tick user 0x20 0x20 0x1
section final 0
200 name 0x20 late
)",
    // Stacks, dispatches and what else happens on a processor.
    R"(cpus 2
info tick=event
info event=page-faults
info stacks=both
section mte 0
1 name 0x20 app
1 module 0x20 0x1000 0x1000 0 /bin/a
5 born 0x21 0x20
section trace 0
1 ints 0x11 0xb8 1 0 1000
10 dispatch 0x20 0x20 sleeping
20 tick user 0x20 0x20 0x1001 stack user 0x1010 0x1020
30 tick kernel 0x20 0x20 0xffffffff81000001 stack kernel 0xffffffff81000010 user 0x1010 user-broken
40 ints 0x04 1 0x10020 1
41 ints 0x04 0x80000000 0x80010020 1
42 ints 0x05 1 0x20
43 ints 0x03 14 0x20 4 0 0x1001 0 0
45 wakeup 0x21 0x20 1
50 dispatch 0x21 0x21 sleeping stack kernel 0xffffffff81000010 user 0x1010
60 wakeup 0x20 0x21 0 interrupt
61 migrate 0x20 1
70 dispatch 0 0 dead
80 lost 4
90 dispatch 0x20 0x20 preempted
section trace 1
65 dispatch 0x20 0x20 sleeping
85 dispatch 0 0 preempted stack user 0x1010
)",
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "Usage: seeds TARGET DIRECTORY\n";
    return 255;
  }
  if (std::string_view(argv[1]) != "nrm2_reader_fuzz") return 0;
  int number = 0;
  for (const std::string_view text : traces) {
    const auto bytes = test_support::trace_from_text(text);
    if (!bytes) {
      std::cerr << bytes.error().message << '\n';
      return 1;
    }
    const std::string name = std::string(argv[2]) + "/seed" + std::to_string(number++);
    std::ofstream out(name, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes->data()),
              static_cast<std::streamsize>(bytes->size()));
    if (!out.flush()) {
      std::cerr << "cannot write " << name << '\n';
      return 1;
    }
  }
  return 0;
}
