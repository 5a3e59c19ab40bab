// SPDX-License-Identifier: MIT
// Writes pprof's protocol buffers. The numbers of fields are those of profile.proto.
#include <algorithm>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "export.h"
#include "stacks.h"
#include "text/deflate.h"
#include "text/text.h"

namespace post {
namespace {

namespace field {
enum Profile : protozero::pbf_tag_type {
  sample_type = 1,
  sample = 2,
  mapping = 3,
  location = 4,
  function = 5,
  string_table = 6,
  time_nanos = 9,
  duration_nanos = 10,
  period_type = 11,
  period = 12,
  comment = 13,
};
enum ValueType : protozero::pbf_tag_type { type = 1, unit = 2 };
enum Sample : protozero::pbf_tag_type { location_id = 1, value = 2, label = 3 };
enum Label : protozero::pbf_tag_type { key = 1, str = 2 };
enum Mapping : protozero::pbf_tag_type { mapping_id = 1, filename = 5, has_functions = 7 };
enum Location : protozero::pbf_tag_type { id = 1, of_mapping = 2, line = 4 };
enum Line : protozero::pbf_tag_type { function_id = 1 };
enum Function : protozero::pbf_tag_type { number = 1, name = 2, system_name = 3 };
}  // namespace field

using Message = protozero::pbf_writer;

// Parts of a profile may follow in any order, so that the tables are written at the end. The text
// is compressed piece by piece.
class PprofWriter {
 public:
  PprofWriter(const CallTree& calls, const ExportFacts& facts, const ShownNames& shown,
              const LabelOptions& labels, Sink& sink)
      : calls_(calls),
        facts_(facts),
        shown_(shown),
        labels_(labels),
        output_(sink, Container::gzip),
        used_(calls.frames().size()) {
    string("");  // number 0
  }

  bool write() {
    const bool by_time = facts_.event.empty() && facts_.period != 0;
    add(field::sample_type, value_type("ticks", "count"));
    if (by_time) add(field::sample_type, value_type("cpu", "nanoseconds"));
    const Stacks stacks(calls_);
    for (StackOwner owner : stacks.owners()) {
      owner.process = shown_.process_label(owner.process, labels_);
      if (!owner.thread.empty()) owner.thread = shown_.thread_label(owner.thread, labels_);
      if (!stacks.for_each(owner, [&](std::span<const FrameId> stack, uint64_t ticks) {
            add(field::sample, sample(owner, stack, ticks, by_time));
            return flush(piece);
          }))
        return false;
    }
    add_tables();
    Message profile(bytes_);
    if (facts_.begin_ns != 0)
      profile.add_int64(field::time_nanos, static_cast<int64_t>(facts_.begin_ns));
    profile.add_int64(field::duration_nanos, static_cast<int64_t>(facts_.duration_ns));
    if (facts_.period != 0) {
      profile.add_message(field::period_type, by_time ? value_type("cpu", "nanoseconds")
                                                      : value_type(facts_.event, "count"));
      profile.add_int64(field::period, static_cast<int64_t>(facts_.period));
    }
    std::vector<int64_t> comments;
    for (const std::string& remark : facts_.remarks) comments.push_back(string(remark));
    profile.add_packed_int64(field::comment, comments.begin(), comments.end());
    for (const std::string* text : strings_) profile.add_string(field::string_table, *text);
    return flush(0) && output_.finish();
  }

 private:
  static constexpr size_t piece = 64 << 10;  // bytes that are compressed at once

  int64_t string(const std::string& text) {
    const auto [at, added] = numbers_.try_emplace(text, static_cast<int64_t>(strings_.size()));
    if (added) strings_.push_back(&at->first);
    return at->second;
  }

  void add(protozero::pbf_tag_type tag, const std::string& message) {
    Message(bytes_).add_message(tag, message);
  }

  bool flush(size_t above) {
    if (bytes_.size() <= above) return true;
    const bool good = output_.write(bytes_);
    bytes_.clear();
    return good;
  }

  std::string value_type(const std::string& type, const std::string& unit) {
    std::string bytes;
    Message message(bytes);
    message.add_int64(field::type, string(type));
    message.add_int64(field::unit, string(unit));
    return bytes;
  }

  std::string label(const char* key, const std::string& text) {
    std::string bytes;
    Message message(bytes);
    message.add_int64(field::key, string(key));
    message.add_int64(field::str, string(text));
    return bytes;
  }

  // The innermost location is first.
  std::string sample(const StackOwner& owner, std::span<const FrameId> stack, uint64_t ticks,
                     bool by_time) {
    std::vector<uint64_t> locations;
    self_[calls_.frames().frame(stack.back()).module] += ticks;
    for (size_t i = stack.size(); i-- > 0;) {
      used_[stack[i]] = true;
      locations.push_back(uint64_t{stack[i]} + 1);
    }
    std::vector<int64_t> values{static_cast<int64_t>(ticks)};
    if (by_time) values.push_back(static_cast<int64_t>(ticks * facts_.period));
    std::string bytes;
    Message message(bytes);
    message.add_packed_uint64(field::location_id, locations.begin(), locations.end());
    message.add_packed_int64(field::value, values.begin(), values.end());
    const auto add_name = [&](const char* key, const std::string& text) {
      if (!text.empty()) message.add_message(field::label, label(key, text));
    };
    add_name("process", owner.process);
    add_name("thread", owner.thread);
    // Guesses are the outermost ones, but that what is missing may be shown above them.
    if (std::ranges::any_of(stack,
                            [this](FrameId id) { return calls_.frames().frame(id).guessed; }))
      message.add_message(field::label, label("callers", "guessed"));
    return bytes;
  }

  // A mapping for each module, a location and a function for each frame that a stack has. pprof
  // takes the first mapping for the program: it is the module with most ticks.
  void add_tables() {
    std::unordered_map<NameId, uint64_t> mappings;
    if (const auto most =
            std::ranges::max_element(self_, {}, &std::pair<const NameId, uint64_t>::second);
        most != self_.end() && most->first != no_name)
      add_mapping(mappings[most->first] = 1, module(most->first));
    for (FrameId id = 0; id < used_.size(); ++id) {
      if (!used_[id]) continue;
      const Frame& frame = calls_.frames().frame(id);
      uint64_t mapping = 0;
      if (!frame.marker && frame.found != Found::no_module) {
        const auto [at, added] = mappings.try_emplace(frame.module, mappings.size() + 1);
        mapping = at->second;
        if (added) add_mapping(mapping, module(frame.module));
      }
      add_location(uint64_t{id} + 1, mapping, shown_.folded(frame));
    }
  }

  std::string module(NameId name) const {
    return printable(calls_.names().text(shown_.module(name)));
  }

  void add_mapping(uint64_t number, const std::string& path) {
    std::string bytes;
    Message message(bytes);
    message.add_uint64(field::mapping_id, number);
    message.add_int64(field::filename, string(path));
    message.add_bool(field::has_functions, true);
    add(field::mapping, bytes);
  }

  void add_location(uint64_t number, uint64_t mapping, const std::string& name) {
    std::string line;
    Message(line).add_uint64(field::function_id, number);
    std::string location;
    Message message(location);
    message.add_uint64(field::id, number);
    if (mapping != 0) message.add_uint64(field::of_mapping, mapping);
    message.add_message(field::line, line);
    add(field::location, location);
    std::string function;
    Message named(function);
    named.add_uint64(field::number, number);
    named.add_int64(field::name, string(name));
    named.add_int64(field::system_name, string(name));
    add(field::function, function);
  }

  const CallTree& calls_;
  const ExportFacts& facts_;
  const ShownNames& shown_;
  const LabelOptions& labels_;
  DeflateWriter output_;
  std::string bytes_;
  std::unordered_map<std::string, int64_t> numbers_;
  std::vector<const std::string*> strings_;  // keys of numbers_
  std::vector<bool> used_;                   // by frame
  std::map<NameId, uint64_t> self_;          // ticks by module
};

}  // namespace

bool write_pprof(const CallTree& calls, const ExportFacts& facts, const ShownNames& shown,
                 const LabelOptions& labels, Sink& sink) {
  return PprofWriter(calls, facts, shown, labels, sink).write();
}

}  // namespace post
