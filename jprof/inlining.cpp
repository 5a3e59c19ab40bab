// SPDX-License-Identifier: MIT
// Reads from the JVM's compile record which methods are inlined into a compiled one.
#include "inlining.h"

#include <jvmticmlr.h>

#include <unordered_map>

namespace pi::jprof {
namespace {

// Builds the tree of frames. Consecutive PC records mostly share their outer frames, so a frame is
// searched only among those of the previous record.
class Builder {
 public:
  explicit Builder(jmethodID compiled) { (void)index_of(compiled); }

  // Adds one PC record: its frames from the innermost on.
  void add(uint32_t end, const PCStackInfo& place) {
    const auto depth = static_cast<size_t>(place.numstackframes);
    size_t shared = 0;
    while (shared < depth && shared < last_.size() && is(last_[shared], place, depth, shared))
      ++shared;
    last_.resize(shared);
    for (size_t level = shared; level < depth; ++level) push(place, depth, level);
    auto& ranges = result_.ranges;
    const uint32_t frame = last_.back();
    if (!ranges.empty() && ranges.back().frame == frame)
      ranges.back().end = end;
    else
      ranges.push_back({end, frame});
  }

  Inlining finish() { return std::move(result_); }

 private:
  // Levels count from the outermost frame.
  static jmethodID method_at(const PCStackInfo& place, size_t depth, size_t level) {
    return place.methods[depth - 1 - level];
  }
  static int32_t bci_at(const PCStackInfo& place, size_t depth, size_t level) {
    const jint bci = place.bcis[depth - 1 - level];
    return bci < 0 ? -1 : bci;
  }

  bool is(uint32_t number, const PCStackInfo& place, size_t depth, size_t level) const {
    const InlineFrame& frame = result_.frames[number - 1];
    return frame.bci == bci_at(place, depth, level) &&
           result_.methods[frame.method] == method_at(place, depth, level);
  }

  void push(const PCStackInfo& place, size_t depth, size_t level) {
    const uint32_t parent = last_.empty() ? 0 : last_.back();
    result_.frames.push_back(
        {parent, index_of(method_at(place, depth, level)), bci_at(place, depth, level)});
    last_.push_back(static_cast<uint32_t>(result_.frames.size()));
  }

  uint32_t index_of(jmethodID method) {
    const auto next = static_cast<uint32_t>(result_.methods.size());
    const auto [entry, is_new] = indexes_.try_emplace(method, next);
    if (is_new) result_.methods.push_back(method);
    return entry->second;
  }

  Inlining result_;
  std::unordered_map<jmethodID, uint32_t> indexes_;
  std::vector<uint32_t> last_;  // numbers of the previous record's frames, from the outermost on
};

// The end of the record's range, or 0 if the range is invalid: the JVM gives the byte after it.
uint32_t end_of(const PCStackInfo& place, const void* code, uint32_t code_size) {
  const auto pc = reinterpret_cast<uintptr_t>(place.pc), start = reinterpret_cast<uintptr_t>(code);
  return pc > start && pc - start <= code_size ? static_cast<uint32_t>(pc - start) : 0;
}

void add_all(Builder& builder, const jvmtiCompiledMethodLoadInlineRecord& record, const void* code,
             uint32_t code_size) {
  uint32_t last_end = 0;
  for (jint i = 0; i < record.numpcs; ++i) {
    const PCStackInfo& place = record.pcinfo[i];
    const uint32_t end = end_of(place, code, code_size);
    if (end <= last_end || place.numstackframes <= 0) continue;
    builder.add(end, place);
    last_end = end;
  }
}

}  // namespace

Inlining read_inlining(jmethodID compiled, const void* compile_info, const void* code,
                       uint32_t code_size) {
  Builder builder(compiled);
  for (auto* header = static_cast<const jvmtiCompiledMethodLoadRecordHeader*>(compile_info); header;
       header = header->next) {
    if (header->kind != JVMTI_CMLR_INLINE_INFO ||
        header->majorinfoversion != JVMTI_CMLR_MAJOR_VERSION_1)
      continue;
    add_all(builder, *reinterpret_cast<const jvmtiCompiledMethodLoadInlineRecord*>(header), code,
            code_size);
    break;
  }
  return builder.finish();
}

}  // namespace pi::jprof
