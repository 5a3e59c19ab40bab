// SPDX-License-Identifier: MIT
// Writes seed inputs of a fuzz target: seeds TARGET DIRECTORY. Writes nothing for targets without
// seeds.
#include <pi/log_hd.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <iostream>
#include <span>
#include <string>
#include <string_view>

#include "cfi_file.h"
#include "compile/compile_table.h"
#include "dump_builder.h"
#include "elf_builder.h"
#include "heap_log_builder.h"
#include "import/perf_data.h"
#include "import/perf_sched_data.h"
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
    // A record that continues in the next section, a damaged one, a final section.
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
    // Stacks, dispatches and other records of a processor.
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

// Files of runtimes; the byte before each selects the format.
constexpr std::string_view log = R"( JitA2N
 BINARY DATA IN PRINTABLE HEX
 Linux x86_64
 Process_Number_ID=100
# head version=1 agent=0.1.0 clock=CLOCK_MONOTONIC offset=0 pid=100 pidns=7 started=0 begun=10 attached=late jvm=x
00000000 00000064 7f0000001000 22 1 demo/A.a()V
0000000000000000000000000000000000000000000000000000000000000000
9090
# method 1 A.java demo/A.a()V
# method 2 - demo/B.b()V
# lines 1 0:10 5:11
# frames 0:1:2 1:2:-
# ranges 4:1 8:2
00000000 00000065 7f0000002000 1000 2 Interpreter
00000000 00000066 7f0000002010 10 6 a_stub
# unload 00000000 00000070 7f0000001000
# lost 3 00000000 00000080 00000000 00000090
# end 00000000 000000a0 detach
)";
constexpr std::string_view map = "1000 100 a name with blanks\n0x1080 0x10 b\n";

// A jitdump file with a record of each kind.
std::string dump() {
  std::string bytes;
  const auto words = [&bytes](std::initializer_list<uint32_t> values) {
    for (const uint32_t value : values)
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  words({0x4a695444, 1, 40, 62, 0, 100, 0, 0, 0, 0});
  words({2, 16 + 16 + 16 + 4, 10, 0, 0x1000, 0, 1, 0, 0x1000, 0, 7, 0});
  bytes += std::string("a.c\0", 4);
  words({0, 16 + 40 + 2 + 4, 10, 0, 100, 100, 0x1000, 0, 0x1000, 0, 4, 0, 0, 0});
  bytes += std::string("f\0code", 6);
  words({1, 16 + 48, 20, 0, 100, 100, 0x2000, 0, 0x1000, 0, 0x2000, 0, 4, 0, 0, 0});
  words({4, 24, 20, 0, 0, 0, 3, 16, 30, 0});
  return bytes;
}

bool write_seed(const std::string& directory, int number, std::string_view bytes) {
  const std::string name = directory + "/seed" + std::to_string(number);
  std::ofstream out(name, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (out.flush()) return true;
  std::cerr << "cannot write " << name << '\n';
  return false;
}

// ELF files: with symbols, with a symbol's name that is the end of another's, with debug
// information.
bool write_elfs(const std::string& directory) {
  ElfBuilder elf;
  elf.section(".note.gnu.build-id", SHT_NOTE,
              ElfBuilder::raw(Elf64_Nhdr{4, 4, 3}) + std::string("GNU\0\1\2\3\4", 8));
  elf.symbols({{1, 0x1000}, {3, 0x1040}, {9, 0x1080}}, std::string("\0longer\0@_Z1fv\0", 15));
  return write_seed(directory, 0, elf.bytes()) &&
         write_seed(directory, 1, ElfBuilder::inlined_on_one_list(3, 4));
}

// Many mappings, then one more mapping and a fork, repeatedly.
std::string processes() {
  std::string events;
  for (int i = 0; i < 400; ++i)
    events += {'\4', '\1', static_cast<char>(i), static_cast<char>(4 + i % 3)};
  for (int i = 0; i < 300; ++i)
    events +=
        {'\5', '\1', static_cast<char>(i * 7), '\5', '\x10', '\1', static_cast<char>(i), '\0'};
  return events;
}

std::string_view text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A heap dump with an object of each kind.
std::vector<std::byte> heap_dump() {
  using hdump::Type;
  hdump::DumpBuilder heap;
  heap.add_class(16, "java/lang/Object");
  heap.add_class(24, "java/lang/ref/Reference", 16, {{"referent", Type::object}});
  heap.add_class(32, "java/lang/ref/WeakReference", 24, {{"more", Type::int32}}, {{"all", 48}});
  heap.add_object_bytes(40, 32, std::vector<std::byte>(12));
  heap.add_array(48, 16, {40, 0, 56});
  heap.end_segment();
  heap.add_primitives(56, Type::int16, 3);
  heap.add_root(32);
  return heap.finish();
}

// A log-hd of these bytes; finished: with its last frame.
bool write_log_hd(const std::string& directory, int number, const pi::log_hd::Facts& facts,
                  std::span<const std::byte> dump, bool finished = true) {
  const pi::UniqueFd file(::memfd_create("log-hd", MFD_CLOEXEC));
  auto writer = pi::log_hd::Writer::begin(file.get(), facts);
  if (!writer || !writer->add(dump) || (finished && !writer->finish())) return false;
  std::vector<std::byte> bytes(static_cast<size_t>(::lseek(file.get(), 0, SEEK_CUR)));
  pi::read_at(file.get(), 0, bytes);
  return write_seed(directory, number, text_of(bytes));
}

// The same dump as log-hd, with few and with many facts; an empty one; one of several frames, whole
// and without its end.
bool write_log_hds(const std::string& directory) {
  pi::log_hd::Facts facts;
  facts.jvm = "a JVM";
  facts.layout.emplace();
  facts.add_class("java/lang/Class", {112, 112});
  pi::log_hd::Facts many = facts;
  for (int i = 0; i < 300; ++i)
    many.add_class("shop/Item" + std::to_string(i), {static_cast<uint32_t>(16 + 8 * i), 120});
  std::vector<std::byte> long_dump(pi::log_hd::frame_bytes * 5 / 2);
  for (size_t i = 0; i < long_dump.size(); i += 1000)
    long_dump[i] = static_cast<std::byte>(i / 1000);
  return write_log_hd(directory, 0, facts, heap_dump()) &&
         write_log_hd(directory, 1, pi::log_hd::Facts(), heap_dump()) &&
         write_log_hd(directory, 2, many, heap_dump()) && write_log_hd(directory, 3, facts, {}) &&
         write_log_hd(directory, 4, facts, long_dump) &&
         write_log_hd(directory, 5, facts, long_dump, false);
}

// Call frame information with each kind of rule.
unwind_test::CfiSection frames(bool eh_frame) {
  using unwind_test::cfi;
  const std::string start = cfi({DW_CFA_def_cfa, 7, 8, DW_CFA_offset + 16, 1});
  return unwind_test::CfiSection(eh_frame, start, "zRS", cfi({DW_EH_PE_absptr}))
      .function(0x1000, 0x40,
                cfi({DW_CFA_advance_loc + 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset + 6, 2,
                     DW_CFA_remember_state, DW_CFA_advance_loc1, 3, DW_CFA_def_cfa_register, 6,
                     DW_CFA_advance_loc + 8, DW_CFA_restore_state, DW_CFA_restore + 6}))
      .function(0x1040, 0x40,
                cfi({DW_CFA_def_cfa_expression,
                     4,
                     DW_OP_breg7,
                     0xa0,
                     1,
                     DW_OP_deref,
                     DW_CFA_expression,
                     16,
                     3,
                     DW_OP_breg7,
                     0xa8,
                     1,
                     DW_CFA_register,
                     3,
                     12,
                     DW_CFA_val_offset,
                     13,
                     2,
                     DW_CFA_undefined,
                     14}))
      .function(0x1080, 0x10, cfi({DW_CFA_undefined, 16}))
      .function(0x1090, 0x40,
                cfi({DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15,
                     DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus}));
}

// Without code: the fuzzer changes small files faster.
bool write_frames(const std::string& directory) {
  int number = 0;
  const auto write = [&](const unwind_test::CfiSection& section, const char* name) {
    const auto file = unwind_test::file_with(section.bytes(), name, ElfBuilder::Code::none);
    return write_seed(directory, number++, text_of(file));
  };
  const auto one_function = [](bool eh_frame) {
    return unwind_test::CfiSection(eh_frame).function(0x1000, 0x40);
  };
  return write(frames(true), ".eh_frame") && write(frames(false), ".debug_frame") &&
         write(one_function(true), ".eh_frame") && write(one_function(false), ".debug_frame");
}

// A stack of three frames in code at 0x10000 more than in the file.
bool write_stack(const std::string& directory) {
  const auto table = unwind::compile_table(unwind_test::file_with(frames(true)));
  if (!table) return false;
  std::string seed = ElfBuilder::raw(static_cast<uint16_t>(table->size() / 8));
  seed += text_of(*table);
  const uint64_t stack = 0x7ffc00000000;
  for (int reg = 0; reg < 16; ++reg) seed += ElfBuilder::raw(stack + (reg == 7 ? 0 : 0x40));
  seed += ElfBuilder::raw(uint64_t{0x11000});
  for (const uint64_t word : {uint64_t{0x11020}, stack + 0x30, uint64_t{0x11095}, uint64_t{0x11005},
                              uint64_t{0x11081}, uint64_t{0x11081}, stack, uint64_t{0x11081}})
    seed += ElfBuilder::raw(word);
  return write_seed(directory, 0, seed);
}

// A recording of perf with each kind of record, as a file, as of a pipe, and compressed.
bool write_recordings(const std::string& directory) {
  using namespace pi::test;
  PerfData data, packed;
  for (PerfData* each : {&data, &packed}) {
    each->event(recorded_attr(PERF_COUNT_SW_CPU_CLOCK, usual_sample | PERF_SAMPLE_CALLCHAIN, 1000),
                {some_event});
    each->names({"cpu-clock"}).text_feature(3, "host").text_feature(4, "6.1");
  }
  data.record(perf_comm(5, 5, "prog", true, 0))
      .record(perf_mmap2(5, 0x1000, 0x1000, 0, 7, 4, "/bin/prog", 10))
      .record(perf_task(PERF_RECORD_FORK, 6, 5, 6, 5, 20))
      .record(perf_chain(PERF_RECORD_MISC_USER, 0x1000, 5, 30,
                         {static_cast<uint64_t>(PERF_CONTEXT_USER), 0x1000, 0x1010}))
      .record(end_of_round())
      .record(perf_switch(PERF_RECORD_MISC_SWITCH_OUT, 5, 0, 40))
      .record(perf_task(PERF_RECORD_EXIT, 6, 5, 6, 5, 50));
  std::string frame(ZSTD_compressBound(data.records().size()), '\0');
  frame.resize(
      ZSTD_compress(frame.data(), frame.size(), data.records().data(), data.records().size(), 1));
  packed.record(user_record(81, frame));
  PerfData copies;
  copies.event(copied_attr(), {some_event})
      .record(perf_mmap2(5, 0x1000, 0x1000, 0, 7, 4, "/bin/prog", 10))
      .record(copied_sample(20, "the stack bytes.", PERF_SAMPLE_REGS_ABI_64));
  PerfData switches = scheduler_data(PERF_SAMPLE_CALLCHAIN);
  switches.record(thread_map(~uint64_t{0}))
      .record(switch_sample(100, 5, 6, 1, 7, 8, true))
      .record(switch_sample(110, 5, 5, 0x100, 99, 8, true))   // 5 was not switched to
      .record(switch_sample(120, ~0u, 99, 0x10, 0, 8, true))  // of an unknown process
      .record(PerfRecord(PERF_RECORD_LOST).u64(1).u64(3).end(5, 7, 125))
      .record(switch_sample(130, 0, 0, 0, 6, 8, true));
  PerfData named = scheduler_data();
  named.record(thread_map(5))
      .record(waking_sample(90, 8, 6, 1))
      .record(switch_sample(100, 5, 6, 1, 7, 8));
  return write_seed(directory, 0, data.file()) && write_seed(directory, 1, data.piped()) &&
         write_seed(directory, 2, packed.file()) && write_seed(directory, 3, copies.file()) &&
         write_seed(directory, 4, switches.file()) && write_seed(directory, 5, switches.piped()) &&
         write_seed(directory, 6, named.file());
}

bool write_traces(const std::string& directory) {
  int number = 0;
  for (const std::string_view text : traces) {
    const auto bytes = test_support::trace_from_text(text);
    if (!bytes) {
      std::cerr << bytes.error().message << '\n';
      return false;
    }
    if (!write_seed(directory, number++,
                    {reinterpret_cast<const char*>(bytes->data()), bytes->size()}))
      return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "Usage: seeds TARGET DIRECTORY\n";
    return 255;
  }
  const std::string_view target = argv[1];
  bool good = true;
  if (target == "nrm2_reader_fuzz") good = write_traces(argv[2]);
  if (target == "hprof_fuzz") good = write_seed(argv[2], 0, text_of(heap_dump()));
  if (target == "heap_log_fuzz") good = write_seed(argv[2], 0, test_support::two_paths().bytes());
  if (target == "log_hd_fuzz") good = write_log_hds(argv[2]);
  if (target == "perf_import_fuzz") good = write_recordings(argv[2]);
  if (target == "processes_fuzz") good = write_seed(argv[2], 0, processes());
  if (target == "elf_symbols_fuzz") good = write_elfs(argv[2]);
  if (target == "unwind_table_fuzz") good = write_frames(argv[2]);
  if (target == "unwind_walk_fuzz") good = write_stack(argv[2]);
  if (target == "jit_files_fuzz")
    good = write_seed(argv[2], 0, "\4" + std::string(log)) &&
           write_seed(argv[2], 1, "\1" + dump()) && write_seed(argv[2], 2, "\2" + std::string(map));
  return good ? 0 : 1;
}
