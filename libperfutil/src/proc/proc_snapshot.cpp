// SPDX-License-Identifier: MIT
// Reads what runs now from /proc: processes, their threads and executable mappings.
#include "proc_snapshot.h"

#include <dirent.h>
#include <elf.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <set>
#include <span>

#include <fmt/format.h>
#include <pi/files.h>

#include "module_name.h"
#include "proc_maps.h"
#include "system/text.h"

namespace pi::perfutil {
namespace {

constexpr size_t maps_limit = 256u << 20;  // 65,530 mappings, the kernel's default limit, fit well

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

bool is_32_bit(const std::string& executable) {
  const auto file = open_regular(executable);
  unsigned char ident[EI_NIDENT] = {};
  return file &&
         read_at(file->fd.get(), 0, std::as_writable_bytes(std::span(ident))).bytes ==
             sizeof ident &&
         ident[EI_CLASS] == ELFCLASS32;
}

void read_maps(const std::string& path, ProcessFacts& out) {
  const auto text = read_text(path, maps_limit);
  if (!text) {
    out.maps_denied = errno == EACCES || errno == EPERM;
    return;
  }
  std::string_view rest = *text;
  while (!rest.empty()) {
    const auto line = parse_map_line(next_word(rest, '\n'));
    if (!line || !line->executable) continue;
    out.maps.push_back(
        {line->start, line->end - line->start, line->offset, line->inode, std::string(line->name)});
  }
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

bool read_process(const std::string& proc, uint32_t pid, ProcessFacts& out) {
  out = {};
  out.pid = pid;
  const auto stat = read_text(process_path(proc, pid, "stat"));
  if (!stat) return false;
  out.parent = parse_parent(*stat).value_or(0);
  out.name = read_line(process_path(proc, pid, "comm"));
  out.is_32_bit = is_32_bit(process_path(proc, pid, "exe"));
  for (const uint32_t tid : list_threads(proc, pid))
    out.threads.emplace_back(tid,
                             read_line(process_path(proc, pid, fmt::format("task/{}/comm", tid))));
  read_namespace_ids(proc, out);
  read_maps(process_path(proc, pid, "maps"), out);
  return true;
}

void put_process(const ProcessFacts& facts, uint64_t time, bool anonymous, UserBuffer& mte) {
  mte.put_ints(time, PITRACE_MAJOR_MTE, PITRACE_MTE_PARENT,
               {facts.pid, facts.parent, PITRACE_PARENT_EXISTING});
  put_namespace_ids(facts, facts.pid, time, mte);
  const uint32_t width = facts.is_32_bit ? PITRACE_NAME_32 : PITRACE_NAME_64;
  mte.put_name(time, PITRACE_MTE_NAME, {facts.pid, width}, facts.name);
  for (const auto& [tid, name] : facts.threads) {
    if (tid == facts.pid) continue;
    mte.put_ints(time, PITRACE_MAJOR_MTE, PITRACE_MTE_CREATE_THREAD, {facts.pid, tid});
    put_namespace_ids(facts, tid, time, mte);
    // Even if it equals the name of the process: the thread keeps it when the process's changes.
    if (!name.empty()) mte.put_name(time, PITRACE_MTE_THREAD_NAME, {facts.pid, tid}, name);
  }
  for (const auto& map : facts.maps) put_map(facts.pid, map, time, anonymous, mte);
}

}  // namespace pi::perfutil
