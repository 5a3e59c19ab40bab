// SPDX-License-Identifier: MIT
// Writes a trace in the Common Trace Format. A stream is kept in an unnamed file until it is
// written; its packets are as the format wants them.
#include <fmt/format.h>
#include <pi/files.h>
#include <pi/new_file.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>

#include "text/per_cpu.h"
#include "text/text.h"
#include "timed.h"

namespace post {
namespace {

enum EventId : uint16_t { id_switch, id_waking, id_tick, id_hook };

// The declarations that do not depend on the trace.
constexpr std::string_view types = R"(/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 32; align = 8; signed = true; } := int32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 64; align = 8; signed = true; } := int64_t;
)";
constexpr std::string_view streams = R"(
typealias integer { size = 64; align = 8; signed = false; map = clock.trace.value; } := time_t;
stream {
  id = 0;
  event.header := struct { uint16_t id; time_t timestamp; };
  packet.context := struct {
    time_t timestamp_begin;
    time_t timestamp_end;
    uint64_t content_size;
    uint64_t packet_size;
    uint32_t cpu_id;
  };
};
event {
  name = "sched_switch"; id = 0; stream_id = 0;
  fields := struct {
    string _prev_comm; int32_t _prev_tid; int32_t _prev_prio; int64_t _prev_state;
    string _next_comm; int32_t _next_tid; int32_t _next_prio;
  };
};
event {
  name = "sched_waking"; id = 1; stream_id = 0;
  fields := struct {
    string _comm; int32_t _tid; int32_t _prio; int32_t _target_cpu;
    int32_t _waker_tid; uint8_t _in_interrupt;
  };
};
event {
  name = "tick"; id = 2; stream_id = 0;
  fields := struct {
    string _process; int32_t _pid; string _thread; int32_t _tid; string _module; string _function; string _stack;
  };
};
event {
  name = "hook"; id = 3; stream_id = 0;
  fields := struct {
    string _name; int32_t _tid; uint32_t _major; uint32_t _minor; uint16_t __count; uint32_t _values[__count];
  };
};
)";

constexpr uint32_t packet_magic = 0xc1fc1fc1;
constexpr int32_t usual_priority = 120;  // a trace has no priorities
constexpr int32_t no_tid = -1;
constexpr size_t full_packet = 64 << 10;  // bytes
constexpr size_t packet_head = 4 + 16 + 4 + 4 * 8 + 4;

class Bytes {
 public:
  template <typename Number>
  Bytes& add(Number number) {
    static_assert(std::endian::native == std::endian::little && std::is_integral_v<Number>);
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
    return *this;
  }
  Bytes& add(const std::string& text) {
    bytes_.append(text, 0, text.find('\0'));
    bytes_ += '\0';
    return *this;
  }
  std::string& text() { return bytes_; }

 private:
  std::string bytes_;
};

// A text of the metadata.
std::string quoted_for_ctf(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? '?' : c;
  }
  return out + '"';
}

class CtfWriter final : public TimedWriter {
 public:
  CtfWriter(const TimedFacts& facts, Sink& metadata)
      : facts_(facts), names_(facts.names), metadata_(metadata), uuid_(uuid_of(facts.begin)) {}

  void add(const RecordSum& record, const RecordsByTime& records) override {
    if (record.key.kind != RecordSum::Kind::tick) return;
    const auto& key = record.key;
    tick_.text().clear();
    tick_.add(names_.text(key.process)).add(static_cast<int32_t>(key.pid));
    tick_.add(names_.text(key.thread)).add(static_cast<int32_t>(key.tid));
    tick_.text() += fields_of_stack(key.stack, records);
    put(record.cpu, id_tick, record.time, tick_);
  }

  void add(const ThreadSwitch& change) override {
    Bytes event;
    event.add(thread_name(change.from, names_)).add(id_of(change.from)).add(usual_priority);
    event.add(change.from.exists() ? static_cast<int64_t>(kernel_state(change.reason))
                                   : int64_t{0});
    event.add(thread_name(change.to, names_)).add(id_of(change.to)).add(usual_priority);
    put(change.cpu, id_switch, change.time, event);
  }

  void add(const ThreadWake& wake) override {
    const bool interrupt = wake.waker.tid == NamedThread::unknown;
    Bytes event;
    event.add(thread_name(wake.thread, names_)).add(id_of(wake.thread)).add(usual_priority);
    event.add(int32_t{-1});  // the target is not known
    event.add(id_of(wake.waker)).add(static_cast<uint8_t>(interrupt));
    put(wake.cpu, id_waking, wake.time, event);
  }

  void add(const UserHook& hook) override {
    const uint16_t count = static_cast<uint16_t>(hook.record.int_count());
    Bytes event;
    event.add(hook_name(hook.record)).add(id_of(hook.thread));
    event.add(hook.record.major()).add(hook.record.minor()).add(count);
    for (uint32_t i = 0; i < count; ++i) event.add(hook.record.int_at(i));
    put(hook.cpu, id_hook, hook.time, event);
  }

  void finish(const RecordsByTime& records, const std::vector<std::string>& remarks) override {
    std::vector<std::string> files;
    streams_.for_each([&](uint32_t cpu, Stream& stream) {
      if (!stream.events.empty()) end_packet(cpu, stream);
      if (stream.packets.empty()) return;
      files.push_back(fmt::format("cpu_{}", cpu));
      metadata_.write_beside(files.back(), [&](Sink& sink) {
        for (const Packet& packet : stream.packets) copy(packet, sink);
      });
    });
    if (error_ != 0) metadata_.fail(error_);
    metadata_.remove_beside("cpu_", files);
    put_metadata(records, remarks);
  }

 private:
  struct Packet {
    uint64_t offset = 0;  // in the unnamed file
    size_t size = 0;
  };
  struct Stream {
    std::string events;  // of the open packet
    uint64_t first = 0;  // its times
    uint64_t last = 0;
    std::vector<Packet> packets;
  };

  static int32_t id_of(const NamedThread& thread) {
    return thread.tid == NamedThread::unknown ? no_tid : static_cast<int32_t>(thread.tid);
  }

  // Most stacks occur often.
  const std::string& fields_of_stack(uint32_t stack, const RecordsByTime& records) {
    if (stacks_.size() <= stack) stacks_.resize(stack + 1);
    std::string& fields = stacks_[stack];
    if (!fields.empty()) return fields;
    const Frame& frame = records.innermost(stack);
    const bool in_module = !frame.marker && frame.found != Found::no_module;
    Bytes event;
    event.add(in_module ? names_.text(frame.module) : std::string());
    event.add(records.frames_of(stack).folded_name(records.function(stack)));
    event.add(folded(stack, records));
    return fields = std::move(event.text());
  }

  // The outermost function first, as in tprof.folded.
  static std::string folded(uint32_t stack, const RecordsByTime& records) {
    const Frames& frames = records.frames_of(stack);
    const std::vector<FrameId> ids = records.stack(stack);
    std::string text;
    for (size_t i = ids.size(); i-- > 0;)
      text += (text.empty() ? "" : ";") + frames.folded_name(ids[i]);
    return text;
  }

  // The times of a stream must not run back: a wake-up can be known later than it was.
  void put(uint32_t cpu, EventId id, uint64_t time, Bytes& event) {
    Stream& stream = streams_[cpu];
    stream.last = std::max(stream.last, time);
    if (stream.events.empty()) stream.first = stream.last;
    Bytes head;
    head.add(static_cast<uint16_t>(id)).add(stream.last);
    stream.events += head.text();
    stream.events += event.text();
    if (stream.events.size() >= full_packet) end_packet(cpu, stream);
  }

  void end_packet(uint32_t cpu, Stream& stream) {
    constexpr uint64_t bits = 8;
    const uint64_t size = bits * (packet_head + stream.events.size());
    Bytes packet;
    packet.add(packet_magic);
    for (const uint8_t byte : uuid_) packet.add(byte);
    packet.add(uint32_t{0});  // the only kind of stream
    packet.add(stream.first).add(stream.last).add(size).add(size).add(cpu);
    packet.text() += stream.events;
    if (!file_ && error_ == 0) {
      file_ = pi::unnamed_file(facts_.scratch);
      if (!file_) error_ = errno;
    }
    if (error_ == 0) error_ = pi::write_all_at(file_.get(), size_, pi::text_bytes(packet.text()));
    stream.packets.push_back({size_, packet.text().size()});
    size_ += packet.text().size();
    stream.events.clear();
  }

  void copy(const Packet& packet, Sink& sink) {
    std::string bytes(packet.size, '\0');
    const auto got =
        pi::read_at(file_.get(), packet.offset, std::as_writable_bytes(std::span(bytes)));
    if (got.bytes != bytes.size() && error_ == 0) error_ = got.error != 0 ? got.error : EIO;
    sink.write(bytes);
  }

  void put_metadata(const RecordsByTime& records, const std::vector<std::string>& remarks) {
    std::string uuid;
    for (size_t i = 0; i < uuid_.size(); ++i) {
      if (i == 4 || i == 6 || i == 8 || i == 10) uuid += '-';
      uuid += fmt::format("{:02x}", uuid_[i]);
    }
    metadata_.write(types);
    metadata_.write(fmt::format(
        "trace {{\n  major = 1; minor = 8; uuid = \"{}\"; byte_order = le;\n"
        "  packet.header := struct {{ uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; }};\n"
        "}};\n"
        "env {{\n  domain = \"kernel\";\n  tracer_name = \"pitrace\";\n  sysname = \"Linux\";\n"
        "  hostname = {};\n  kernel_release = {};\n  architecture = {};\n",
        uuid, quoted_for_ctf(facts_.host), quoted_for_ctf(facts_.kernel),
        quoted_for_ctf(facts_.machine)));
    for (size_t i = 0; i < remarks.size(); ++i)
      metadata_.write(fmt::format("  remark_{} = {};\n", i + 1, quoted_for_ctf(remarks[i])));
    metadata_.write(
        fmt::format("}};\nclock {{\n  name = trace;\n  description = \"CLOCK_MONOTONIC\";\n"
                    "  freq = 1000000000;\n  offset = {};\n}};",
                    records.epoch()));
    metadata_.write(streams);
  }

  // From the beginning of the trace: the same trace has the same one.
  static std::array<uint8_t, 16> uuid_of(uint64_t begin) {
    std::array<uint8_t, 16> uuid{'p', 'i', 't', 'r', 'a', 'c', 0x40, 'e', 0x80};
    for (size_t i = 0; i < 7; ++i) uuid[9 + i] = static_cast<uint8_t>(begin >> 8 * i);
    return uuid;
  }

  const TimedFacts facts_;
  const StringTable& names_;
  Sink& metadata_;
  const std::array<uint8_t, 16> uuid_;
  PerCpu<Stream> streams_;
  Bytes tick_;
  std::vector<std::string> stacks_;  // the fields of a tick that depend on its stack
  pi::UniqueFd file_;
  uint64_t size_ = 0;
  int error_ = 0;
};

}  // namespace

std::unique_ptr<TimedWriter> make_ctf_writer(const TimedFacts& facts, Sink& metadata) {
  return std::make_unique<CtfWriter>(facts, metadata);
}

}  // namespace post
