// SPDX-License-Identifier: MIT
// Builds, from time-ordered JIT events, which method owned each address when.
#include "jit_timeline.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace a2n {

// Dynamic code inside dynamic code, such as a stub in its blob: both exist at the same time.
bool JitTimeline::is_inside(uint32_t inner, uint32_t outer) const {
  const Method& in = methods_[inner];
  const Method& out = methods_[outer];
  return in.dynamic && out.dynamic && nested_left_ != 0 && out.begin <= in.begin &&
         in.end <= out.end && in.end - in.begin < out.end - out.begin;
}

// Splits the piece that contains the address, if any, at that address. Returns the first piece that
// begins at or after it.
JitTimeline::Pieces::iterator JitTimeline::split(uint64_t address) {
  auto after = pieces_.lower_bound(address);
  if (after == pieces_.begin()) return after;
  Piece& before = std::prev(after)->second;
  if (before.end <= address) return after;
  const Piece rest = before;
  before.end = address;
  return pieces_.emplace_hint(after, address, rest);
}

// Ends the ownership of a piece. Code that is reported late may end before it begins: the piece is
// free from the later of the two times.
void JitTimeline::close(Pieces::iterator at, uint64_t time) {
  Piece& piece = at->second;
  if (piece.owner != none && piece.since < time)
    done_.push_back({at->first, piece.end, piece.since, time, piece.owner});
  piece.since = std::max(piece.since, time);
  piece.owner = none;
}

void JitTimeline::end_method(uint32_t method, uint64_t time) {
  for (auto piece = pieces_.lower_bound(methods_[method].begin);
       piece != pieces_.end() && piece->first < methods_[method].end; ++piece)
    if (piece->second.owner == method) close(piece, time);
}

// Overlapped methods without an unload event end at the load event of the new method.
void JitTimeline::end_overlapped(uint64_t time, uint32_t method) {
  std::vector<uint32_t> ended;
  const uint64_t end = methods_[method].end;
  for (auto piece = split(methods_[method].begin); piece != pieces_.end() && piece->first < end;
       ++piece) {
    const uint32_t owner = piece->second.owner;
    if (owner == none || is_inside(owner, method) || is_inside(method, owner)) continue;
    if (ended.empty() || ended.back() != owner) ended.push_back(owner);
  }
  for (const uint32_t owner : ended) end_method(owner, time);
}

// The time since which all of the method's range has been free, dynamic code around the method not
// counted; none: no piece has been freed there.
std::optional<uint64_t> JitTimeline::free_since(uint32_t method) const {
  std::optional<uint64_t> since;
  for (auto piece = pieces_.lower_bound(methods_[method].begin);
       piece != pieces_.end() && piece->first < methods_[method].end; ++piece)
    if (piece->second.owner == none || !is_inside(piece->second.owner, method))
      since = std::max(since.value_or(0), piece->second.since);
  return since;
}

// Gives the method its range, except for dynamic code inside it, in as few pieces as possible.
void JitTimeline::take(uint64_t from, uint32_t method) {
  const uint64_t end = methods_[method].end;
  uint64_t at = methods_[method].begin;
  auto piece = pieces_.lower_bound(at);
  while (piece != pieces_.end() && piece->first < end) {
    if (piece->second.owner == none || !is_inside(piece->second.owner, method)) {
      close(piece, from);
      piece = pieces_.erase(piece);
      continue;
    }
    --nested_left_;
    if (at < piece->first) pieces_.emplace_hint(piece, at, Piece{piece->first, from, method});
    at = piece->second.end;
    ++piece;
  }
  if (at < end) pieces_.emplace_hint(piece, at, Piece{end, from, method});
}

void JitTimeline::load(uint64_t time, uint32_t method) {
  end_overlapped(time, method);
  split(methods_[method].begin);
  split(methods_[method].end);
  const auto since = free_since(method);
  if (since) ++reuses_;
  take(lossy_ ? time : std::max(since.value_or(0), known_from_), method);
}

// The end of a method without a load event is not known: it may have reached up to the next one.
void JitTimeline::unload(uint64_t time, uint64_t address) {
  const uint32_t method = owner(address);
  if (method != none) {
    if (methods_[method].begin == address && !methods_[method].dynamic) end_method(method, time);
    return;
  }
  auto next = split(address);
  while (next != pieces_.end() && next->second.owner == none) next = pieces_.erase(next);
  const uint64_t end = next == pieces_.end() ? UINT64_MAX : next->first;
  if (address < end) pieces_.emplace_hint(next, address, Piece{end, time, none});
}

void JitTimeline::begin_late(uint64_t time) {
  known_from_ = std::max(known_from_, time);
  lossy_ = false;
}

// Unload events may be among those lost, and so may loads of code where new methods will be.
void JitTimeline::lose(uint64_t time) {
  for (auto piece = pieces_.begin(); piece != pieces_.end();) {
    if (piece->second.owner != none && methods_[piece->second.owner].dynamic) {
      ++piece;
      continue;
    }
    close(piece, time);
    piece = pieces_.erase(piece);
  }
  lossy_ = true;
}

void JitTimeline::stop(uint64_t time) {
  for (auto piece = pieces_.begin(); piece != pieces_.end(); ++piece) close(piece, time);
  pieces_.clear();
  known_from_ = std::max(known_from_, time);
}

uint32_t JitTimeline::owner(uint64_t address) const {
  const auto after = pieces_.upper_bound(address);
  if (after == pieces_.begin()) return none;
  const Piece& piece = std::prev(after)->second;
  return address < piece.end ? piece.owner : none;
}

std::vector<Rectangle> JitTimeline::finish() {
  stop(UINT64_MAX);
  return std::exchange(done_, {});
}

}  // namespace a2n
