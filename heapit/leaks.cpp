// SPDX-License-Identifier: MIT
// The search for leaked blocks.
#include "leaks.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

namespace pi::heapit {
namespace {

using heap_log::Search;
using heap_log::searched;

// Registers of a thread, those of the vector units included.
constexpr size_t register_words = (16 << 10) / sizeof(uint64_t);
constexpr size_t buffer_bytes = 256 << 10;
constexpr time_t seconds_more = 5;
constexpr size_t more_vmas = 64, more_ranges = 1024;

}  // namespace

LastResort::LastResort(const SearchLimit& limit) {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGKILL;
  itimerspec end{};
  end.it_value.tv_sec = static_cast<time_t>(limit.nanoseconds() / 1'000'000'000) + seconds_more;
  int timer = -1;
  if (::syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) != 0) return;
  timer_ = timer;
  ::syscall(SYS_timer_settime, timer_, 0, &end, nullptr);
}

LastResort::~LastResort() {
  if (timer_ >= 0) ::syscall(SYS_timer_delete, timer_);
}

size_t LeakSearch::bytes_for(size_t blocks, size_t vmas) {
  constexpr size_t slack = 4096;
  return Frozen::most_threads * (sizeof(Frozen::Thread) + sizeof(ThreadPlace)) +
         register_words * sizeof(uint64_t) + buffer_bytes + vmas * sizeof(Vma) +
         (2 * vmas + more_ranges) * sizeof(Range) + blocks * sizeof(Node) +
         NodeIndex::pieces_for(blocks) * sizeof(NodeIndex::Piece) + slack;
}

LeakSearch::Space LeakSearch::take_space(Workspace& workspace, size_t blocks, size_t vmas) {
  Space space;
  space.threads = workspace.take<Frozen::Thread>(Frozen::most_threads);
  space.places = workspace.take<ThreadPlace>(Frozen::most_threads + 1);
  space.registers = workspace.take<uint64_t>(register_words);
  space.buffer = std::as_writable_bytes(workspace.take<uint64_t>(buffer_bytes / sizeof(uint64_t)));
  space.vmas = workspace.take<Vma>(vmas);
  space.ranges = workspace.take<Range>(2 * vmas + more_ranges);
  space.nodes = workspace.take<Node>(blocks);
  space.pieces = workspace.take<NodeIndex::Piece>(NodeIndex::pieces_for(blocks));
  return space;
}

LeakSearch::LeakSearch(const Searched& what, size_t blocks, const SearchLimit& limit)
    : searched_(what),
      limit_(limit),
      last_resort_(limit),
      vmas_(Roots::count(what.process.maps) + more_vmas),
      workspace_(bytes_for(blocks + 1, vmas_)),
      space_(take_space(workspace_, blocks + 1, vmas_)),
      memory_(what.memory, what.pagemap),
      frozen_(space_.threads),
      nodes_(space_.nodes) {
  if (what.is_own) memory_.read_directly();
}

Search LeakSearch::stop() {
  if (!space_.has_all()) return heap_log::no_memory;
  return frozen_.stop(searched_.pid, searched_.own ? searched_.own->tid : 0, limit_);
}

bool LeakSearch::is_set_in_a_thread(uint64_t byte) {
  return std::ranges::any_of(frozen_.threads(), [&](const Frozen::Thread& thread) {
    ThreadPlace place{};
    std::byte value{};
    Frozen::registers(thread, space_.registers, place);
    return memory_.read(place.control_block + byte, std::span(&value, 1)) == 1 &&
           value != std::byte{0};
  });
}

bool LeakSearch::add(uint64_t address, const Block& block, const Log& log) {
  // Nothing can be there: the process lies.
  constexpr uint64_t end_of_addresses = uint64_t{1} << 56;
  if (address >= end_of_addresses || block.bytes >= end_of_addresses) return true;
  constexpr uint32_t path_mask = (1 << 30) - 1;
  const uint32_t path = block.path ? log.place_of(block.path) : 0;
  return nodes_.push({address, block.bytes, path & path_mask, 0, 0});
}

Search LeakSearch::run() {
  if (!memory_.is_open()) return heap_log::not_readable;
  const NodeIndex blocks({nodes_.begin(), nodes_.size()}, space_.pieces);
  Reach reach(blocks, space_.buffer, memory_, limit_);
  List<ThreadPlace> places(space_.places);
  if (searched_.own) {
    reach.look_at(searched_.own->registers);
    places.push(searched_.own->place);
  }
  for (const Frozen::Thread& thread : frozen_.threads()) {
    ThreadPlace place{};
    reach.look_at(Frozen::registers(thread, space_.registers, place));
    if (place.stack_pointer != 0) places.push(place);
  }
  Roots roots(space_.vmas, space_.ranges, memory_);
  bool has_space = roots.leave_out(workspace_.range());
  for (const Range& range : searched_.left_out) has_space &= roots.leave_out(range);
  if (!has_space) return heap_log::no_memory;
  const Search state = roots.find(searched_.process, {places.begin(), places.size()});
  if (state != searched) return state;
  roots.look_at(reach);
  reach.follow();
  bytes_ = reach.bytes();
  return reach.state();
}

void LeakSearch::write(Log& log, Search state) const {
  heap_log::Header& header = log.header();
  using heapit::add;
  if (state == searched)
    for (const Node& node : nodes_) {
      if (node.path == 0 || node.reached() == Reached::whole) continue;
      uint64_t* const number = log.path_at(node.path)->number;
      const bool is_leaked = node.reached() == Reached::no;
      add(number[is_leaked ? heap_log::leaked_blocks : heap_log::inside_blocks], 1);
      add(number[is_leaked ? heap_log::leaked_bytes : heap_log::inside_bytes], node.bytes);
    }
  header.searched_bytes = bytes_;
  header.search_ns = limit_.elapsed();
  header.search_limit = limit_.nanoseconds();
  std::atomic_ref(header.search).store(state, std::memory_order_release);
}

}  // namespace pi::heapit
