// SPDX-License-Identifier: MIT
// libFuzzer target: reads any bytes as a trace file, through the reader, the merge, the decoder,
// the state of processes, the tick counter and the reports. Accesses no file.
#include <analysis/call_tree.h>
#include <analysis/micro.h>
#include <analysis/off_cpu.h>
#include <analysis/tick_counter.h>
#include <arc/arc.h>
#include <pipeline.h>
#include <read/byte_source.h>
#include <report/reports.h>

#include "amplification.h"

namespace {

// A symbolizer without modules, which reads every byte of its arguments.
class BlindSymbolizer final : public post::Symbolizer {
 public:
  void create(uint64_t, uint32_t) override {}
  void fork(uint64_t, uint32_t, uint32_t) override {}
  void clone(uint64_t, uint32_t, uint32_t) override {}
  void exec(uint64_t, uint32_t) override {}
  void set_name(uint64_t, uint32_t, std::string_view name) override { name_ = name; }
  bool add_module(uint64_t, const pi::ModuleEntry& module) override {
    name_ = module.name;
    return module.size != 0;
  }
  post::Lookup lookup(uint64_t, uint32_t, uint64_t address) override {
    return {post::Found::symbol, name_, name_, address & ~0xfffull};
  }
  std::vector<post::SourceFrame> frames(uint64_t, uint32_t, uint64_t address) override {
    return {{name_, name_, static_cast<uint32_t>(address)}, {name_, {}, 0}};
  }
  post::Code code(uint64_t, uint32_t, uint64_t address) override {
    return {std::as_bytes(std::span(name_)), address};
  }
  size_t read_code(uint64_t, uint32_t, uint64_t address, std::span<std::byte> out) override {
    // A result of every kind, by address; every executed byte is one instruction.
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = (address + i) % 5 == 0 ? static_cast<std::byte>(address + i) : std::byte{0x90};
    return address % 3 == 0 ? 0 : out.size();
  }
  void look_for_logs(const post::ProcessIds&) override {}
  uint64_t next_code_change(uint64_t time, uint32_t pid) override { return time + pid % 4096 + 1; }
  std::vector<pi::ThreadStart> thread_starts(const post::ProcessIds& process) override {
    return {{process.pid, process.pid, "a thread"}, {1000, process.inner_pid, "another"}};
  }
  std::vector<std::string> notes() override { return {}; }

 private:
  std::string name_;
};

class NullSink final : public post::Sink {
 public:
  bool write(std::string_view text) override {
    written += text.size();
    return true;
  }
  size_t written = 0;
};

// A 12-byte record becomes up to one row in each of nine reports; a stack of two ints a frame
// becomes nodes of several trees. zstd's tables for the files of --fleet have 6 MB.
constexpr fuzz::Allowed allowed{12 << 20, 1024, 1'000'000, 1000};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fuzz::Amplification amplification(size, allowed);
  post::MemorySource source(std::as_bytes(std::span(data, size)));
  post::DamageLog damage;
  const auto file = read_layout(source, damage);
  if (!file) return 0;
  BlindSymbolizer symbolizer;
  post::StringTable names;
  post::Processes processes(symbolizer, names);
  post::TickCounter ticks(processes, symbolizer, names,
                          {.offsets = true, .inlined = true, .sets = 64});
  post::Options options;
  options.json = "json";
  options.html = "html";
  // Not always, since the best compression is slow.
  if (size % 16 == 7) options.fleet = "fleet";
  options.exports.assign(post::export_formats.begin(), post::export_formats.end());
  options.tree = options.folded = options.off_cpu = options.micro = options.arc = true;
  options.show = options.show_raw = true;
  options.arc_form = {size % 2 == 0, size % 3 == 0, true, size % 5 == 0, true, size % 7 == 0, true};
  options.report.calls_by_thread = true;
  options.symbols.inlined = true;
  // Arbitrary selections by name, time and CPU.
  post::Selection& selection = options.report.selection;
  if (size % 4 == 1)
    selection.names[static_cast<size_t>(post::NameKind::command)].only = {"[a-m]*"};
  if (size % 4 == 2) {
    selection.names[static_cast<size_t>(post::NameKind::thread)].without = {"*e*", "1"};
    selection.names[static_cast<size_t>(post::NameKind::symbol)].only = {"*"};
  }
  if (size % 8 == 3) selection.times.only = {{0, 1'000'000'000}};
  const auto filter = make_name_filter(selection, processes, symbolizer, names,
                                       {.inlined = true, .cache_entries = 64});
  NullSink sink;
  post::ReportSubscribers subscribers;
  const post::ReportContext context{options,    source, *file, damage,      processes,
                                    symbolizer, names,  64,    filter.get()};
  if (!subscribers.make(context, [&](const post::Report&) { return &sink; })) __builtin_trap();
  collect_fallback_names(source, *file, processes);
  post::Subscriptions subscriptions;
  ticks.subscribe(subscriptions);
  processes.subscribe(subscriptions);
  if (filter) filter->subscribe(subscriptions);
  subscribers.subscribe(subscriptions);
  const post::RecordTotals records =
      run_pipeline(source, *file, damage, selection, subscriptions, nullptr);
  // Every record has at least the size of a header in the file.
  if (records.records > size / sizeof(pitrace_record)) __builtin_trap();
  post::Summary summary{
      *file,          records,        ticks.tree(),      names, damage,
      options.report, ticks.totals(), sum_losses(*file), {},    processes.lifetimes()};
  summary.counts = subscribers.all();
  if (filter) summary.selection_remarks = filter->remarks(leaves_all_records(selection));
  const post::CallTree& calls = *summary.find<post::CallTree>();
  const post::OffCpu& off_cpu = *summary.find<post::OffCpu>();
  const post::Micro& micro = *summary.find<post::Micro>();
  const post::ArcTotals& arc = summary.find<post::Arc>()->totals();
  uint64_t sum = 0;
  for (const post::Leaf& leaf : ticks.tree().leaves()) sum += leaf.ticks;
  if (sum != summary.ticks.ticks) __builtin_trap();
  if (calls.ticks() != summary.ticks.ticks) __builtin_trap();
  if (calls.nodes()[0].inclusive != summary.ticks.ticks) __builtin_trap();
  if (arc.imperfect() + arc.folded > arc.branches + records.records) __builtin_trap();
  if (micro.ticks() != summary.ticks.ticks) __builtin_trap();
  for (uint32_t i = 0; i < off_cpu.threads(); ++i) {
    // No thread has more time than the trace.
    const post::ThreadTimes& times = off_cpu.thread(i).times;
    const uint64_t all = off_cpu.end_time() - off_cpu.begin_time();
    if (times.running > all || times.runnable > all || times.blocked > all) __builtin_trap();
    if (times.running + times.runnable + times.blocked + times.unknown > all) __builtin_trap();
  }
  for (const post::Report& report : post::reports())
    if (report.write && report.wanted(options)) report.write(summary, sink);
  return 0;
}
