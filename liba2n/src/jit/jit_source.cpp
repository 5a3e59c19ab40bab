// SPDX-License-Identifier: MIT
// Source lines and inlined functions of JIT-compiled code.
#include "jit_source.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace a2n {

uint32_t BytecodeMethod::line_at(uint32_t index) const {
  const auto after = lines.upper_bound(index);
  return after == lines.begin() ? 0 : std::prev(after)->second;
}

bool JitSource::add_frame(uint32_t parent, std::shared_ptr<const BytecodeMethod> method,
                          uint32_t index) {
  if (parent > frames_.size() || !method) return false;
  const uint32_t depth = parent == 0 ? 1 : frames_[parent - 1].depth + 1;
  if (depth > max_depth) return false;
  frames_.push_back({parent, depth, index, std::move(method)});
  return true;
}

bool JitSource::add_range(uint32_t end, uint32_t frame) {
  if (frame == 0 || frame > frames_.size()) return false;
  if (end == 0 || (!ranges_.empty() && end <= ranges_.back().end)) return false;
  ranges_.push_back({end, frame});
  return true;
}

void JitSource::set_lines(std::vector<Line> lines) {
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return a.offset < b.offset; });
  lines_ = std::move(lines);
}

std::vector<SourceFrame> JitSource::at(uint32_t offset, const char* name) const {
  std::vector<SourceFrame> found;
  const auto range =
      std::upper_bound(ranges_.begin(), ranges_.end(), offset,
                       [](uint32_t value, const Range& entry) { return value < entry.end; });
  // A parent has a smaller number than its child, so the loop ends.
  for (uint32_t frame = range == ranges_.end() ? 0 : range->frame; frame != 0;) {
    const Frame& known = frames_[frame - 1];
    const uint32_t line = known.index == unknown_index ? 0 : known.method->line_at(known.index);
    found.push_back({known.method->name, known.method->file, line});
    frame = known.parent;
  }
  if (found.empty()) {
    found.push_back({name, nullptr, 0});
    const auto after =
        std::upper_bound(lines_.begin(), lines_.end(), offset,
                         [](uint32_t value, const Line& entry) { return value < entry.offset; });
    if (after != lines_.begin())
      found.back() = {name, std::prev(after)->file, std::prev(after)->line};
  }
  found.back().name = name;
  return found;
}

}  // namespace a2n
