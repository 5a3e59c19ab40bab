// SPDX-License-Identifier: MIT
// Reads what runs now from /proc: processes, their threads and executable mappings.
#include "proc_snapshot.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <pi/uninterrupted.h>
#include <pi/unique_fd.h>

#include "module_name.h"
#include "proc_maps.h"
#include "system/text.h"

namespace pi::perfutil {
namespace {

// Of the mappings of one process. 65,530, the kernel's default limit, fit with names of usual
// length.
constexpr size_t maps_bytes_limit = 32u << 20;

// Entries of the directory that are numbers, in ascending order.
std::vector<uint32_t> numbers_in(const std::string& directory) {
  std::vector<uint32_t> numbers;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(directory.c_str()), ::closedir);
  if (!stream) return numbers;
  while (const dirent* entry = ::readdir(stream.get())) {
    const auto number = parse_number(entry->d_name);
    if (number && *number > 0 && *number <= INT32_MAX)
      numbers.push_back(static_cast<uint32_t>(*number));
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string process_path(const std::string& proc, uint32_t pid, std::string_view file) {
  return fmt::format("{}/{}/{}", proc, pid, file);
}

// From the auxiliary vector, which the kernel keeps: the program's file may be on a file system
// that does not answer. The vector begins with a type below 2^32, as a number of the process's
// width, and its value, which is not 0.
bool is_32_bit(const std::string& auxv) {
  std::array<uint32_t, 2> words{};
  const UniqueFd file(::open(auxv.c_str(), O_RDONLY | O_CLOEXEC));
  return file && ::read(file.get(), words.data(), sizeof words) == sizeof words && words[1] != 0;
}

// Passes the lines of a file of /proc to take(), without their line feeds, until the deadline or
// until take() returns false. 0, ETIME, or the error number of open() or read(). A line that is
// longer than any of the kernel's is passed in pieces.
template <class Take>
int each_line(const std::string& path, SnapshotTime::Clock::time_point deadline, const Take& take) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return errno;
  std::array<char, 32768> buffer;
  size_t kept = 0;  // beginning of a line
  for (;;) {
    if (SnapshotTime::Clock::now() >= deadline) return ETIME;
    const ssize_t got = uninterrupted(
        [&] { return ::read(file.get(), buffer.data() + kept, buffer.size() - kept); });
    if (got < 0) return errno;
    std::string_view text(buffer.data(), kept + static_cast<size_t>(got));
    const bool is_last = got == 0;
    while (!text.empty()) {
      const bool is_whole = text.find('\n') != std::string_view::npos;
      if (!is_whole && !is_last && text.size() < buffer.size()) break;
      if (!take(next_word(text, '\n'))) return 0;
    }
    if (is_last) return 0;
    kept = text.size();
    std::memmove(buffer.data(), text.data(), kept);
  }
}

void read_maps(const std::string& path, SnapshotTime& time, ProcessFacts& out) {
  size_t bytes = 0;
  const auto start = SnapshotTime::Clock::now();
  const int error = each_line(path, start + time.for_next(), [&](std::string_view text) {
    const auto line = parse_map_line(text);
    if (!line || !line->executable) return true;
    if (line->name.size() > PITRACE_MAX_STRING) {
      ++out.too_long_maps;
      return true;
    }
    bytes += sizeof(ProcessMap) + line->name.size();
    out.maps_cut_off = bytes > maps_bytes_limit;
    if (!out.maps_cut_off)
      out.maps.push_back({line->start, line->end - line->start, line->offset, line->inode,
                          std::string(line->name)});
    return !out.maps_cut_off;
  });
  time.spend(SnapshotTime::Clock::now() - start);
  out.maps_denied = error == EACCES || error == EPERM;
  out.maps_cut_off |= error == ETIME;
}

void read_namespace_ids(const std::string& proc, ProcessFacts& out) {
  const NamespaceIdReader reader(proc);
  if (!reader.find(out.pid, out.pid)) return;
  out.pid_namespace = reader.namespace_of(out.pid);
  for (const auto& [tid, name] : out.threads)
    if (const auto ids = reader.find(out.pid, tid)) out.namespace_ids.emplace(tid, *ids);
}

void put_namespace_ids(const ProcessFacts& facts, uint32_t tid, uint64_t time, UserBuffer& mte) {
  const auto ids = facts.namespace_ids.find(tid);
  if (ids == facts.namespace_ids.end()) return;
  mte.put_ints(time, PITRACE_MAJOR_MTE, PITRACE_MTE_NAMESPACE_IDS,
               {facts.pid, tid, ids->second.pid, ids->second.tid,
                static_cast<uint32_t>(facts.pid_namespace)});
}

void put_map(uint32_t pid, const ProcessMap& map, uint64_t time, bool anonymous, UserBuffer& mte) {
  const ModuleName name = classify_module(map.name);
  if (name.stamp == PITRACE_STAMP_ANON && !anonymous) return;
  pitrace_module entry{};
  entry.pid = pid;
  entry.stamp = name.stamp;
  entry.address = map.start;
  entry.size = map.size;
  entry.offset = name.stamp == 0 ? map.offset : 0;
  entry.inode = map.inode;
  mte.put_module(time, entry, name.name);
}

}  // namespace

void IncompleteMaps::add(const ProcessFacts& facts) {
  if (facts.too_long_maps != 0 && too_long_ == 0) too_long_pid_ = facts.pid;
  if (facts.maps_cut_off && cut_off_ == 0) cut_off_pid_ = facts.pid;
  too_long_ += facts.too_long_maps;
  cut_off_ += facts.maps_cut_off;
}

std::vector<std::string> IncompleteMaps::notes() const {
  std::vector<std::string> notes;
  if (cut_off_ != 0)
    notes.push_back(fmt::format(
        "Not all mappings of {} process{} (process {}{}) were read when the trace began: there "
        "were "
        "too many. Code in the missing ones has no names.",
        cut_off_, cut_off_ == 1 ? "" : "es", cut_off_pid_, cut_off_ == 1 ? "" : ", and others"));
  if (too_long_ != 0)
    notes.push_back(fmt::format(
        "{} mapping{} (of process {}, for example) had paths of more than {} bytes when the trace "
        "began: code in these files has no names.",
        too_long_, too_long_ == 1 ? "" : "s", too_long_pid_, PITRACE_MAX_STRING));
  return notes;
}

std::vector<uint32_t> list_processes(const std::string& proc, uint32_t root) {
  std::vector<uint32_t> pids = numbers_in(proc);
  if (root == 0) return pids;
  std::multimap<uint32_t, uint32_t> children;
  for (const uint32_t pid : pids)
    if (const auto stat = read_text(process_path(proc, pid, "stat")))
      if (const auto parent = parse_parent(*stat)) children.emplace(*parent, pid);
  // A set guards against a parent link that a reused pid has turned into a circle.
  std::set<uint32_t> family;
  std::vector<uint32_t> open;
  if (std::binary_search(pids.begin(), pids.end(), root)) open.push_back(root);
  while (!open.empty()) {
    const uint32_t pid = open.back();
    open.pop_back();
    if (!family.insert(pid).second) continue;
    const auto [first, last] = children.equal_range(pid);
    for (auto child = first; child != last; ++child) open.push_back(child->second);
  }
  return {family.begin(), family.end()};
}

std::vector<uint32_t> list_threads(const std::string& proc, uint32_t pid) {
  return numbers_in(process_path(proc, pid, "task"));
}

SnapshotTime::Clock::duration SnapshotTime::for_next() const {
  return std::min<Clock::duration>(limits_.one, limits_.free + rest_);
}

void SnapshotTime::spend(Clock::duration time) {
  const auto counted = std::max(time - limits_.free, Clock::duration::zero());
  rest_ -= std::min(rest_, counted);
}

bool read_process(const std::string& proc, uint32_t pid, SnapshotTime& time, ProcessFacts& out) {
  out = {};
  out.pid = pid;
  const auto stat = read_text(process_path(proc, pid, "stat"));
  if (!stat) return false;
  out.parent = parse_parent(*stat).value_or(0);
  out.name = read_line(process_path(proc, pid, "comm"));
  out.is_32_bit = is_32_bit(process_path(proc, pid, "auxv"));
  for (const uint32_t tid : list_threads(proc, pid))
    out.threads.emplace_back(tid,
                             read_line(process_path(proc, pid, fmt::format("task/{}/comm", tid))));
  read_namespace_ids(proc, out);
  out.cgroup = read_cgroup(proc, pid);
  read_maps(process_path(proc, pid, "maps"), time, out);
  return true;
}

void put_process(const ProcessFacts& facts, uint64_t time, bool anonymous, UserBuffer& mte) {
  mte.put_ints(time, PITRACE_MAJOR_MTE, PITRACE_MTE_PARENT,
               {facts.pid, facts.parent, PITRACE_PARENT_EXISTING});
  put_namespace_ids(facts, facts.pid, time, mte);
  const uint32_t width = facts.is_32_bit ? PITRACE_NAME_32 : PITRACE_NAME_64;
  mte.put_name(time, PITRACE_MTE_NAME, {facts.pid, width}, facts.name);
  if (facts.cgroup)
    mte.put_name(time, PITRACE_MTE_CGROUP, {facts.pid, facts.cgroup->hierarchy},
                 facts.cgroup->path);
  for (const auto& [tid, name] : facts.threads) {
    if (tid == facts.pid) continue;
    mte.put_ints(time, PITRACE_MAJOR_MTE, PITRACE_MTE_CREATE_THREAD, {facts.pid, tid});
    put_namespace_ids(facts, tid, time, mte);
    // Even if it equals the name of the process: the thread keeps it when the process's changes.
    if (!name.empty()) mte.put_name(time, PITRACE_MTE_THREAD_NAME, {facts.pid, tid}, name);
  }
  for (const auto& map : facts.maps) put_map(facts.pid, map, time, anonymous, mte);
  mte.count_lost(PITRACE_LOST_TOO_LONG, facts.too_long_maps);
  mte.count_lost(PITRACE_LOST_SOURCE, facts.maps_cut_off);
}

}  // namespace pi::perfutil
