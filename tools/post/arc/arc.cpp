// SPDX-License-Identifier: MIT
// Writes the report arc: the executed code, one line per block.
#include "arc.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "text/text.h"

namespace post {
namespace {

constexpr uint32_t kernel_version = 0xffffffff;  // versions of processes are counted up from 1
// Without code: a branch at most this far after the start, in the same function, is taken as the
// end of the block.
constexpr uint64_t near_bytes = 2048;
constexpr uint64_t max_merged_instructions = 1000;  // instructions of a line of -c
constexpr uint64_t imperfect_offset = 1;

// How the lines of an arc separate their fields.
std::string without_blanks(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == ' ')
      out += "\\x20";
    else
      out += c;
  }
  return out;
}

bool is_return_thunk(std::string_view symbol) {
  return symbol.ends_with("return_thunk") || symbol == "srso_safe_ret" ||
         symbol == "srso_alias_safe_ret";
}

bool is_indirect_thunk(std::string_view symbol) {
  return symbol.starts_with("__x86_indirect_");
}

// Whether the branch leaves the function: the block that follows begins another line.
bool leaves_function(LineType type) {
  return type != LineType::jump && type != LineType::undefined && type != LineType::other;
}

}  // namespace

const char* gap_word(size_t reason) {
  static constexpr const char* words[gap_reasons] = {"unknown",  "entry",  "untraced", "exception",
                                                     "signal",   "switch", "limit",    "room",
                                                     "diverted", "probe",  "interrupt"};
  return words[reason < gap_reasons ? reason : 0];
}

const char* stop_word(size_t reason) {
  static constexpr const char* words[stop_reasons] = {"unknown", "off",      "exit",
                                                      "full",    "debugger", "rights"};
  return words[reason < stop_reasons ? reason : 0];
}

Arc::Arc(Processes& processes, Symbolizer& symbolizer, StringTable& names, KernelCode kernel,
         std::unique_ptr<ArcOutput> output, const ArcOptions& options, NameFilter* filter)
    : processes_(processes),
      symbolizer_(symbolizer),
      names_(names),
      options_(options),
      kernel_(std::move(kernel)),
      filter_(filter),
      decoder_(symbolizer, kernel_),
      output_(std::move(output)),
      places_(options.cache_entries) {}

Arc::Cpu& Arc::cpu_of(uint32_t cpu) {
  while (cpus_.size() <= cpu) cpus_.emplace_back();
  return cpus_[cpu];
}

ArcThreadTotals& Arc::totals_of(const FlowThread& thread) {
  if (totals_.threads.size() <= thread.number) totals_.threads.resize(thread.number + 1);
  return totals_.threads[thread.number];
}

bool Arc::shows(const FlowThread& thread) {
  if (!wanted_ || !filter_) return wanted_;
  return thread.tid == 0 ? filter_->takes_unknown_thread()
                         : filter_->takes_thread(thread.pid, thread.tid, time_);
}

// pid_tid_process, and the thread's name where it has another one.
std::string_view Arc::label_of(const FlowThread& thread) {
  if (labels_.size() <= thread.number) labels_.resize(thread.number + 1);
  Label& label = labels_[thread.number];
  const Process& process = process_of(thread);
  if (label.version == process.names_version && label.pid == thread.pid && label.tid == thread.tid)
      [[likely]]
    return label.text;
  const NameId process_name = processes_.process_name(process);
  const NameId thread_name = processes_.thread_name(process, thread.tid);
  label = {thread.pid, thread.tid, process.names_version,
           fmt::format("{:04x}_{:04x}", thread.pid, thread.tid)};
  if (thread.tid == 0)
    label.text += "_unknown";
  else if (process_name != no_name)
    label.text += '_' + without_blanks(names_.text(process_name));
  if (thread_name != process_name && thread_name != no_name)
    label.text += '_' + without_blanks(names_.text(thread_name));
  ArcThreadTotals& totals = totals_of(thread);
  totals.pid = thread.pid;
  totals.tid = thread.tid;
  totals.label = label.text;
  return label.text;
}

void Arc::name_block(Info& info, uint64_t address, const Process& process) {
  const Lookup found = symbolizer_.lookup(time_, process.pid, address);
  const std::string symbol = printable(found.symbol);
  const std::string module =
      printable(found.module) + (options_.module_width && found.module_64 ? "_64" : "");
  info.offset = address - (found.start <= address ? found.start : 0);
  info.narrow = found.module_32;
  info.generated = found.code_id != 0;
  if (is_return_thunk(symbol))
    info.fold = Fold::ret;
  else if (is_indirect_thunk(symbol) || (options_.merge_plt && symbol == "<plt>"))
    info.fold = Fold::keep;
  const bool known = found.found == Found::symbol;
  info.name = names_.intern(symbol + ":" + module);
  if (!known) return;
  const auto frames = symbolizer_.frames(time_, process.pid, address);
  if (!frames.empty()) info.line = frames.front().line;
}

bool Arc::is_near(uint64_t start, uint64_t end, const Process& process) {
  if (end < start || end - start > near_bytes) return false;
  const Lookup first = symbolizer_.lookup(time_, process.pid, start);
  const uint64_t beginning = first.start;
  const Found found = first.found;
  const Lookup last = symbolizer_.lookup(time_, process.pid, end);
  return found == last.found && found != Found::no_module && beginning == last.start;
}

Arc::Info Arc::make_info(const FlowBlock& block, uint64_t start, uint32_t version,
                         const Process& process) {
  Info info;
  info.start = start;
  info.end = block.how == BlockEnd::gap ? block.count : block.end;
  info.version = version;
  info.how = block.how;
  name_block(info, start, process);
  const CodePlace place{time_, process.pid, info.narrow};
  BlockCode code;
  switch (block.how) {
    case BlockEnd::branch:
      code = decoder_.to_branch(place, start, block.end);
      break;
    case BlockEnd::gap:
      code = decoder_.by_count(place, start, block.count);
      break;
    case BlockEnd::cut:
    case BlockEnd::stop:
      code = decoder_.to_cut(place, start, block.end);
      break;
  }
  info.code = code.known;
  info.repeats = code.repeats;
  info.type = code.type;
  info.instructions = code.connected ? code.instructions : 0;
  info.fixed = code.target.has_value();
  info.target = code.target.value_or(0);
  // The count of repeated instructions does not show where they end.
  if (block.how == BlockEnd::gap)
    info.connected = code.connected || !code.known || code.repeats;
  else
    info.connected = code.known ? code.connected : is_near(start, block.end, process);
  if (block.how == BlockEnd::cut) info.type = LineType::interrupt;
  if (block.how == BlockEnd::stop || (block.how == BlockEnd::gap && !code.connected))
    info.type = LineType::other;
  if (!info.connected && block.how != BlockEnd::gap) name_block(info, block.end, process);
  return info;
}

const Arc::Info& Arc::info_of(const FlowBlock& block, uint64_t start, const Process& process) {
  const uint32_t version = start >> 63 != 0 ? kernel_version : *process.maps_version;
  const uint64_t end = block.how == BlockEnd::gap ? block.count : block.end;
  const uint64_t hash =
      ((start ^ end * 0x9e3779b97f4a7c15ull ^ static_cast<uint64_t>(version) << 40 ^
        static_cast<uint64_t>(block.how) << 62) *
       0xd6e8feb86659fd93ull) >>
      32;
  if (const Info& info = places_.at(hash);
      info.start == start && info.end == end && info.version == version && info.how == block.how)
      [[likely]]
    return info;
  Info made = make_info(block, start, version, process);
  return places_.after_miss(hash) = std::move(made);
}

// Sets the line's number of instructions, and counts why it is imperfect.
void Arc::count_block(const FlowBlock& block, const Info& info, Open& line) {
  const bool branch = block.how == BlockEnd::branch;
  const bool misfit = branch && info.code &&
                      (info.type == LineType::undefined ||
                       (info.fixed && !info.generated && info.target != block.to));
  if (misfit)
    ++totals_.misfits;
  else if (!block.placed)
    ++totals_.unplaced;
  else if (!info.connected)
    ++totals_.disconnected;
  line.imperfect = misfit || !block.placed || !info.connected;
  line.type = misfit ? LineType::undefined : info.type;
  if (branch && line.type == LineType::undefined) ++totals_.undefined;
  const uint32_t by_code = line.imperfect ? 0 : info.instructions;
  if (by_code != 0 && block.count != 0 &&
      (info.repeats ? block.count < by_code : block.count != by_code))
    ++totals_.different;
  if (by_code != 0 && (block.count == 0 || options_.count_by_code)) {
    ++totals_.by_code;
    line.instructions = by_code;
  } else if (block.count != 0) {
    line.instructions = block.count;
  } else {
    ++totals_.uncounted;
    line.instructions = 1;
  }
  ArcThreadTotals& thread = totals_of(*block.thread);
  (block.user ? totals_.user : totals_.kernel) += line.instructions;
  (block.user ? thread.user : thread.kernel) += line.instructions;
  if (!branch) return;
  ++totals_.branches;
  ++thread.branches;
}

void Arc::put_instructions(const FlowBlock& block, const Info& info, const Process& process,
                           Open& line) {
  if (line.imperfect || info.instructions == 0) {
    line.text += fmt::format(" ss: the instructions from {:#x} on are not known\n",
                             block.placed ? block.start : block.end);
    return;
  }
  decoder_.put_lines({time_, process.pid, info.narrow}, info.start, info.instructions,
                     options_.bytes, line.text);
  if (block.count != 0 && block.count != info.instructions)
    line.text +=
        fmt::format(" ss: the record counts {} instructions, these are {}{}\n", block.count,
                    info.instructions, info.repeats ? ", of which some repeat" : "");
}

// Adds the line to the one before when it is part of that line's branch (a thunk).
bool Arc::fold(const FlowBlock& block, Open& line, Open& before) {
  if (line.fold == Fold::none || line.imperfect || block.how != BlockEnd::branch || !before.any ||
      before.thread != block.thread || before.to != block.start || before.user != block.user)
    return false;
  if (line.fold == Fold::ret) before.type = LineType::ret;
  before.instructions += line.instructions;
  before.to = block.to;
  before.text += line.text;
  ++totals_.folded;
  return true;
}

void Arc::block(const FlowBlock& block) {
  if (!shows(*block.thread)) return;
  if (block.thread->cpu != block.cpu) [[unlikely]]
    close_thread(*block.thread);
  const Process& process = process_of(*block.thread);
  const Info& info = info_of(block, block.placed ? block.start : block.end, process);
  Open line;
  line.any = true;
  line.user = block.user;
  line.thread = block.thread;
  line.name = info.name;
  line.line = info.line;
  line.fold = info.fold;
  line.to = block.to;
  count_block(block, info, line);
  line.offset = line.imperfect ? imperfect_offset : info.offset;
  if (options_.instructions) put_instructions(block, info, process, line);
  Open& before = cpu_of(block.cpu).block;
  if (fold(block, line, before)) return;
  close_block(block.cpu);
  before = std::move(line);
}

void Arc::put(const ArcLine& line) {
  ++totals_.lines;
  output_->put(line);
}

void Arc::write(uint32_t cpu, Open& line) {
  if (!line.text.empty()) output_->put_text(line.text);
  put({cpu, line.user, line.type, '@', line.instructions, line.offset, names_.text(line.name),
       label_of(*line.thread), line.line, 0});
  line.any = false;
}

bool Arc::belongs(const Open& merged, const Open& line) const {
  if (!merged.any || merged.thread != line.thread || merged.user != line.user || line.imperfect)
    return false;
  if (options_.merge_kernel && !line.user) return true;
  return options_.compact && merged.name == line.name && !leaves_function(merged.type);
}

void Arc::merge_line(uint32_t cpu, Open& line) {
  Open& merged = cpu_of(cpu).merged;
  if (belongs(merged, line)) {
    merged.type = line.type;
    merged.instructions += line.instructions;
    merged.text += line.text;
  } else {
    if (merged.any) write(cpu, merged);
    merged = std::move(line);
  }
  if (merged.instructions >= max_merged_instructions && !(options_.merge_kernel && !merged.user))
    write(cpu, merged);
}

void Arc::close_block(uint32_t cpu) {
  Open& block = cpu_of(cpu).block;
  if (!block.any) return;
  if (options_.compact || options_.merge_kernel)
    merge_line(cpu, block);
  else
    write(cpu, block);
  block.any = false;
}

void Arc::close(uint32_t cpu) {
  close_block(cpu);
  Open& merged = cpu_of(cpu).merged;
  if (merged.any) write(cpu, merged);
}

// Writes the lines of the thread that are still open on its last CPU.
void Arc::close_thread(const FlowThread& thread) {
  const Cpu& cpu = cpu_of(thread.cpu);
  if ((cpu.block.any && cpu.block.thread == &thread) ||
      (cpu.merged.any && cpu.merged.thread == &thread))
    close(thread.cpu);
}

void Arc::thread(uint32_t cpu, FlowThread& thread) {
  close(cpu);
  if (!shows(thread)) return;
  put({cpu, false, LineType::other, '?', 0, 1, "callflow:disp", label_of(thread), 0, 0});
}

void Arc::cut(uint32_t cpu, FlowThread& thread, const pi::ItraceCut& cut) {
  if (!shows(thread)) return;
  close_thread(thread);
  close(cpu);
  ++totals_.cuts;
  put({cpu, cut.user, cut.resumed ? LineType::vector_end : LineType::vector, '@', 0, 0,
       cut.device   ? fmt::format("Int_irq{}:VECTOR", cut.vector)
       : cut.signal ? fmt::format("Int_signal{}:VECTOR", cut.vector)
                    : fmt::format("Int_0x{:02x}:VECTOR", cut.vector),
       label_of(thread), 0, 0});
}

void Arc::gap(uint32_t cpu, FlowThread& thread, const pi::ItraceGap& gap, bool user) {
  if (!shows(thread)) return;
  close_thread(thread);
  close(cpu);
  const size_t reason = gap.reason < gap_reasons ? gap.reason : 0;
  totals_.gaps[reason].add({1, gap.missing == 0 ? 1u : 0u, gap.missing, gap.ns});
  ++totals_of(thread).gaps;
  put({cpu, user, LineType::gap, '@', gap.missing, 0, fmt::format("Gap_{}:GAP", gap_word(reason)),
       label_of(thread), 0, gap.ns});
}

void Arc::start(FlowThread& thread, const pi::ItraceStart& start) {
  close_thread(thread);
  if (!shows(thread)) return;
  ++totals_.starts;
  totals_.flags |= start.flags;
}

void Arc::stop(FlowThread& thread, const pi::ItraceStop& stop) {
  close_thread(thread);
  if (shows(thread)) ++totals_.stops[stop.reason < stop_reasons ? stop.reason : 0];
}

void Arc::loss(uint32_t cpu) {
  close(cpu);
  if (wanted_) ++totals_.losses;
}

bool Arc::finish() {
  for (uint32_t cpu = 0; cpu < cpus_.size(); ++cpu) close(cpu);
  return output_->flush();
}

}  // namespace post
