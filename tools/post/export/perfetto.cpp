// SPDX-License-Identifier: MIT
// Writes Perfetto's protocol buffers. The numbers of fields are those of its .proto files.
#include <fmt/format.h>

#include <protozero/pbf_writer.hpp>
#include <unordered_map>
#include <unordered_set>

#include "text/text.h"
#include "timed.h"

namespace post {
namespace {

using Tag = protozero::pbf_tag_type;
using Bytes = protozero::pbf_writer;

namespace perfetto {
enum Trace : Tag { packet = 1 };
enum Packet : Tag {
  ftrace_events = 1,
  process_tree = 2,
  timestamp = 8,
  sequence_id = 10,
  track_event = 11,
  interned_data = 12,
  sequence_flags = 13,
  track_descriptor = 60,
  perf_sample = 66,
};
enum Bundle : Tag { bundle_cpu = 1, bundle_event = 2 };
enum Event : Tag {
  event_timestamp = 1,
  event_pid = 2,
  sched_switch = 4,
  common_flags = 5,
  sched_waking = 20,
};
enum Switch : Tag {
  prev_comm = 1,
  prev_pid = 2,
  prev_prio = 3,
  prev_state = 4,
  next_comm = 5,
  next_pid = 6,
  next_prio = 7,
};
enum Waking : Tag { comm = 1, pid = 2, prio = 3, success = 4, target_cpu = 5 };
enum Tree : Tag { tree_process = 1, tree_thread = 2 };
enum Process : Tag { process_pid = 1, process_cmdline = 3 };
enum Thread : Tag { thread_tid = 1, name = 2, thread_tgid = 3 };
enum Sample : Tag {
  sample_cpu = 1,
  sample_pid = 2,
  sample_tid = 3,
  sample_stack = 4,
  sample_mode = 5
};
enum Interned : Tag {
  function_names = 5,
  frames = 6,
  callstacks = 7,
  mapping_paths = 17,
  mappings = 19,
};
enum Item : Tag { iid = 1, text = 2 };
enum FrameOf : Tag { frame_function = 2, frame_mapping = 3, frame_pc = 4 };
enum StackOf : Tag { stack_frames = 2 };
enum MappingOf : Tag { mapping_path = 7 };
enum Track : Tag { track_uuid = 1, track_name = 2, track_thread = 4 };
enum TrackThread : Tag { track_pid = 1, track_tid = 2 };
enum Instant : Tag { annotations = 4, type = 9, of_track = 11, instant_name = 23 };
enum Annotation : Tag { annotation_value = 3, annotation_name = 10 };
}  // namespace perfetto

constexpr uint32_t state_cleared = 1, needs_state = 2;  // flags of a sequence
constexpr uint32_t only_sequence = 1;
constexpr int instant = 3;                   // a type of track events
constexpr int32_t usual_priority = 120;      // a trace has no priorities
constexpr int32_t unknown_tid = 0x7fffffff;  // Linux does not use it
constexpr uint32_t in_interrupt = 8;         // a flag of the kernel's events
// Of tracks: 0 is Perfetto's own. Those of threads begin behind.
constexpr uint64_t remarks_track = 1, first_thread_track = 2;
// Of frames: the first item has the number 1.
constexpr uint64_t number_of(uint32_t place) {
  return uint64_t{place} + 1;
}

class PerfettoWriter final : public TimedWriter {
 public:
  PerfettoWriter(const TimedFacts& facts, Sink& sink)
      : names_(facts.names), begin_(facts.begin), sink_(sink) {}

  void add(const RecordSum& record, const RecordsByTime& records) override {
    if (record.key.kind != RecordSum::Kind::tick) return;
    const auto& key = record.key;
    describe({key.pid, key.tid, key.process, key.thread});
    std::string interned, sample;
    if (stacks_.insert(key.stack).second) intern_stack(key.stack, records, interned);
    Bytes one(sample);
    one.add_uint32(perfetto::sample_cpu, record.cpu);
    one.add_uint32(perfetto::sample_pid, key.pid);
    one.add_uint32(perfetto::sample_tid, key.tid);
    one.add_uint64(perfetto::sample_stack, number_of(key.stack));
    constexpr int kernel_mode = 1, user_mode = 2;
    one.add_enum(perfetto::sample_mode,
                 records.innermost(key.stack).kernel ? kernel_mode : user_mode);
    put_in_sequence(record.time, [&](Bytes& packet) {
      if (!interned.empty()) packet.add_message(perfetto::interned_data, interned);
      packet.add_message(perfetto::perf_sample, sample);
    });
  }

  void add(const ThreadSwitch& event) override {
    describe(event.from);
    describe(event.to);
    std::string change;
    Bytes fields(change);
    fields.add_string(perfetto::prev_comm, thread_name(event.from, names_));
    fields.add_int32(perfetto::prev_pid, id_of(event.from));
    fields.add_int32(perfetto::prev_prio, usual_priority);
    fields.add_int64(perfetto::prev_state,
                     event.from.exists() ? static_cast<int64_t>(kernel_state(event.reason)) : 0);
    fields.add_string(perfetto::next_comm, thread_name(event.to, names_));
    fields.add_int32(perfetto::next_pid, id_of(event.to));
    fields.add_int32(perfetto::next_prio, usual_priority);
    put_kernel_event(event.time, event.cpu, id_of(event.from), 0, perfetto::sched_switch, change);
  }

  void add(const ThreadWake& event) override {
    describe(event.thread);
    describe(event.waker);
    std::string woken;
    Bytes fields(woken);
    fields.add_string(perfetto::comm, thread_name(event.thread, names_));
    fields.add_int32(perfetto::pid, id_of(event.thread));
    fields.add_int32(perfetto::prio, usual_priority);
    fields.add_int32(perfetto::success, 1);
    const bool interrupt = event.waker.tid == NamedThread::unknown;
    put_kernel_event(event.time, event.cpu, interrupt ? 0 : id_of(event.waker),
                     interrupt ? in_interrupt : 0, perfetto::sched_waking, woken);
  }

  void add(const UserHook& event) override {
    describe(event.thread);
    const uint64_t track = track_of(event.thread);
    std::string hook;
    Bytes fields(hook);
    fields.add_enum(perfetto::type, instant);
    fields.add_uint64(perfetto::of_track, track);
    fields.add_string(perfetto::instant_name, hook_name(event.record));
    for (uint32_t i = 0; i < event.record.int_count(); ++i) {
      std::string value;
      Bytes annotation(value);
      annotation.add_string(perfetto::annotation_name, fmt::format("integer {}", i + 1));
      annotation.add_uint64(perfetto::annotation_value, event.record.int_at(i));
      fields.add_message(perfetto::annotations, value);
    }
    put_in_sequence(event.time,
                    [&](Bytes& packet) { packet.add_message(perfetto::track_event, hook); });
  }

  void finish(const RecordsByTime&, const std::vector<std::string>& remarks) override {
    if (remarks.empty()) return;
    std::string track;
    Bytes fields(track);
    fields.add_uint64(perfetto::track_uuid, remarks_track);
    fields.add_string(perfetto::track_name, "What this trace lacks");
    put_track(track);
    for (const std::string& remark : remarks) {
      std::string event;
      Bytes of_event(event);
      of_event.add_enum(perfetto::type, instant);
      of_event.add_uint64(perfetto::of_track, remarks_track);
      of_event.add_string(perfetto::instant_name, remark);
      put_in_sequence(begin_,
                      [&](Bytes& packet) { packet.add_message(perfetto::track_event, event); });
    }
  }

 private:
  static int32_t id_of(const NamedThread& thread) {
    return thread.tid == NamedThread::unknown ? unknown_tid : static_cast<int32_t>(thread.tid);
  }

  void put_packet(const std::string& packet) {
    bytes_.clear();
    Bytes(bytes_).add_message(perfetto::packet, packet);
    sink_.write(bytes_);
  }

  template <typename AddContent>
  void put_in_sequence(uint64_t time, const AddContent& add_content) {
    packet_.clear();
    Bytes fields(packet_);
    fields.add_uint64(perfetto::timestamp, time);
    fields.add_uint32(perfetto::sequence_id, only_sequence);
    fields.add_uint32(perfetto::sequence_flags, begun_ ? needs_state : state_cleared | needs_state);
    begun_ = true;
    add_content(fields);
    put_packet(packet_);
  }

  void put_track(const std::string& track) {
    std::string packet;
    Bytes fields(packet);
    fields.add_uint32(perfetto::sequence_id, only_sequence);
    fields.add_message(perfetto::track_descriptor, track);
    put_packet(packet);
  }

  // A packet with the thread and its process where one of their names is new.
  void describe(const NamedThread& thread) {
    if (!thread.exists() || thread.thread == no_name) return;
    const auto [process, new_process] = process_names_.try_emplace(thread.pid, thread.process);
    const auto [named, new_thread] = thread_names_.try_emplace(thread.tid, thread.thread);
    if (!new_process && !new_thread && process->second == thread.process &&
        named->second == thread.thread)
      return;
    process->second = thread.process;
    named->second = thread.thread;
    std::string owner, one, tree, packet;
    Bytes process_of(owner);
    process_of.add_int32(perfetto::process_pid, static_cast<int32_t>(thread.pid));
    process_of.add_string(perfetto::process_cmdline, names_.text(thread.process));
    Bytes thread_of(one);
    thread_of.add_int32(perfetto::thread_tid, static_cast<int32_t>(thread.tid));
    thread_of.add_string(perfetto::name, names_.text(thread.thread));
    thread_of.add_int32(perfetto::thread_tgid, static_cast<int32_t>(thread.pid));
    Bytes both(tree);
    both.add_message(perfetto::tree_process, owner);
    both.add_message(perfetto::tree_thread, one);
    Bytes(packet).add_message(perfetto::process_tree, tree);
    put_packet(packet);
  }

  // tid: of the thread that the event is an event of.
  void put_kernel_event(uint64_t time, uint32_t cpu, int32_t tid, uint32_t flags,
                        perfetto::Event kind, const std::string& content) {
    std::string event, bundle, packet;
    Bytes whole(event);
    whole.add_uint64(perfetto::event_timestamp, time);
    whole.add_uint32(perfetto::event_pid, static_cast<uint32_t>(tid));
    if (flags != 0) whole.add_uint32(perfetto::common_flags, flags);
    whole.add_message(kind, content);
    Bytes of_cpu(bundle);
    of_cpu.add_uint32(perfetto::bundle_cpu, cpu);
    of_cpu.add_message(perfetto::bundle_event, event);
    Bytes(packet).add_message(perfetto::ftrace_events, bundle);
    put_packet(packet);
  }

  uint64_t track_of(const NamedThread& thread) {
    const uint64_t track = first_thread_track + static_cast<uint64_t>(id_of(thread));
    if (!tracks_.insert(track).second) return track;
    std::string owner, whole;
    Bytes of_thread(owner);
    of_thread.add_int32(perfetto::track_pid, static_cast<int32_t>(thread.pid));
    of_thread.add_int32(perfetto::track_tid, id_of(thread));
    Bytes fields(whole);
    fields.add_uint64(perfetto::track_uuid, track);
    fields.add_message(perfetto::track_thread, owner);
    put_track(whole);
    return track;
  }

  static std::string item(uint64_t number, const std::string& text) {
    std::string bytes;
    Bytes message(bytes);
    message.add_uint64(perfetto::iid, number);
    message.add_bytes(perfetto::text, text);
    return bytes;
  }

  // The outermost frame is first.
  void intern_stack(uint32_t stack, const RecordsByTime& records, std::string& interned) {
    const std::vector<FrameId> ids = records.stack(stack);
    std::string bytes;
    Bytes message(bytes);
    message.add_uint64(perfetto::iid, number_of(stack));
    for (size_t i = ids.size(); i-- > 0;) {
      if (frames_.insert(ids[i]).second) intern_frame(ids[i], records.frames_of(stack), interned);
      message.add_uint64(perfetto::stack_frames, number_of(ids[i]));
    }
    Bytes(interned).add_message(perfetto::callstacks, bytes);
  }

  void intern_frame(FrameId id, const Frames& frames, std::string& interned) {
    const Frame& frame = frames.frame(id);
    const NameId module = frame.marker || frame.found == Found::no_module ? no_name : frame.module;
    Bytes to(interned);
    if (mappings_.insert(module).second) {
      to.add_message(perfetto::mapping_paths, item(number_of(module), names_.text(module)));
      std::string bytes;
      Bytes message(bytes);
      message.add_uint64(perfetto::iid, number_of(module));
      message.add_uint64(perfetto::mapping_path, number_of(module));
      to.add_message(perfetto::mappings, bytes);
    }
    to.add_message(perfetto::function_names, item(number_of(id), frames.folded_name(id)));
    std::string bytes;
    Bytes message(bytes);
    message.add_uint64(perfetto::iid, number_of(id));
    message.add_uint64(perfetto::frame_function, number_of(id));
    message.add_uint64(perfetto::frame_mapping, number_of(module));
    message.add_uint64(perfetto::frame_pc, 0);  // required, but functions inlined there are frames
    to.add_message(perfetto::frames, bytes);
  }

  const StringTable& names_;
  const uint64_t begin_;
  Sink& sink_;
  std::unordered_map<uint32_t, NameId> process_names_, thread_names_;
  std::unordered_set<uint32_t> stacks_, frames_, mappings_;
  std::unordered_set<uint64_t> tracks_;
  std::string bytes_, packet_;  // what is being made
  bool begun_ = false;
};

}  // namespace

std::unique_ptr<TimedWriter> make_perfetto_writer(const TimedFacts& facts, Sink& sink) {
  return std::make_unique<PerfettoWriter>(facts, sink);
}

}  // namespace post
