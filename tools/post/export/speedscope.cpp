// SPDX-License-Identifier: MIT
// Writes speedscope's JSON. It is written piece by piece: a trace can have millions of stacks.
#include <fmt/format.h>

#include "export.h"
#include "json.h"
#include "stacks.h"
#include "text/text.h"

namespace post {
namespace {

std::string quoted(std::string text) {
  return pi::Json(std::move(text)).dump();
}

// All frames of the tree; a stack refers to them by number.
bool write_frames(const CallTree& calls, Sink& sink) {
  const Frames& frames = calls.frames();
  for (FrameId id = 0; id < frames.size(); ++id) {
    const Frame& frame = frames.frame(id);
    std::string line = id == 0 ? "\n" : ",\n";
    line += "{\"name\":" + quoted(frames.folded_name(id));
    if (!frame.marker && frame.found != Found::no_module)
      line += ",\"file\":" + quoted(printable(calls.names().text(frame.module)));
    if (!sink.write(line + "}")) return false;
  }
  return true;
}

class ProfileWriter {
 public:
  ProfileWriter(const ExportFacts& facts, Sink& sink)
      : weight_(facts.event.empty() && facts.period != 0 ? facts.period : 1),
        unit_(facts.event.empty() && facts.period != 0 ? "nanoseconds" : "none"),
        sink_(sink) {}

  bool write(const Stacks& stacks, const StackOwner& owner) {
    const std::string name =
        owner.thread.empty() ? owner.process : owner.process + ", " + owner.thread;
    return sink_.write(fmt::format("{{\"type\":\"sampled\",\"name\":{},\"unit\":\"{}\","
                                   "\"startValue\":0,\"endValue\":{},\n"
                                   "\"samples\":[",
                                   quoted(name), unit_, owner.ticks * weight_)) &&
           write_each(stacks, owner,
                      [](std::span<const FrameId> stack, uint64_t) {
                        return fmt::format("[{}]", fmt::join(stack, ","));
                      }) &&
           sink_.write("],\n\"weights\":[") &&
           write_each(stacks, owner,
                      [&](std::span<const FrameId>, uint64_t ticks) {
                        return std::to_string(ticks * weight_);
                      }) &&
           sink_.write("]}");
  }

 private:
  bool write_each(const Stacks& stacks, const StackOwner& owner, const auto& text_of) {
    const char* separator = "";
    return stacks.for_each(owner, [&](std::span<const FrameId> stack, uint64_t ticks) {
      const bool good = sink_.write(separator + text_of(stack, ticks));
      separator = ",\n";
      return good;
    });
  }

  const uint64_t weight_;
  const char* const unit_;
  Sink& sink_;
};

}  // namespace

bool write_speedscope(const CallTree& calls, const ExportFacts& facts, Sink& sink) {
  const Stacks stacks(calls);
  // The format has no other place for remarks.
  std::string title = facts.title;
  for (const std::string& remark : facts.remarks) title += ". " + remark;
  bool good = sink.write(fmt::format(
      "{{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n\"exporter\":\"post "
      "(pitrace)\",\"name\":{},\"activeProfileIndex\":0,\n\"shared\":{{\"frames\":[",
      quoted(title)));
  good = good && write_frames(calls, sink) && sink.write("]},\n\"profiles\":[\n");
  const char* separator = "";
  for (const StackOwner& owner : stacks.owners()) {
    good = good && sink.write(separator) && ProfileWriter(facts, sink).write(stacks, owner);
    separator = ",\n";
  }
  return good && sink.write("]}\n");
}

}  // namespace post
