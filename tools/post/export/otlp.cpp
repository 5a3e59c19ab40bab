// SPDX-License-Identifier: MIT
// Writes the protocol buffers of OTLP. The numbers of fields are those of profiles.proto and
// profiles_service.proto, version 1 of their development.
#include "otlp.h"

#include <array>
#include <protozero/pbf_writer.hpp>
#include <tuple>
#include <unordered_map>

#include "text/deflate.h"

namespace post {
namespace {

namespace field {
enum Request : protozero::pbf_tag_type { resource_profiles = 1, dictionary = 2 };
enum ResourceProfiles : protozero::pbf_tag_type { resource = 1, scope_profiles = 2 };
enum Resource : protozero::pbf_tag_type { resource_attributes = 1 };
enum ScopeProfiles : protozero::pbf_tag_type { scope = 1, profiles = 2 };
enum Scope : protozero::pbf_tag_type { scope_name = 1, scope_version = 2 };
enum KeyValue : protozero::pbf_tag_type { key = 1, value = 2 };
enum AnyValue : protozero::pbf_tag_type { string_value = 1 };
enum Profile : protozero::pbf_tag_type {
  sample_type = 1,
  samples = 2,
  time_unix_nano = 3,
  duration_nano = 4,
  period_type = 5,
  period = 6,
  profile_id = 7,
  profile_attributes = 11,
};
enum ValueType : protozero::pbf_tag_type { type = 1, unit = 2 };
enum Sample : protozero::pbf_tag_type { stack_index = 1, sample_attributes = 2, values = 4 };
enum Dictionary : protozero::pbf_tag_type {
  mapping_table = 1,
  location_table = 2,
  function_table = 3,
  link_table = 4,
  string_table = 5,
  attribute_table = 6,
  stack_table = 7,
};
enum Mapping : protozero::pbf_tag_type { filename = 4, mapping_attributes = 5 };
enum Location : protozero::pbf_tag_type { mapping_index = 1, lines = 3, location_attributes = 4 };
enum Line : protozero::pbf_tag_type { function_index = 1 };
enum Function : protozero::pbf_tag_type { name = 1, system_name = 2 };
enum Stack : protozero::pbf_tag_type { location_indices = 1 };
enum Link : protozero::pbf_tag_type { trace_id = 1, span_id = 2 };
enum Attribute : protozero::pbf_tag_type { key_index = 1, attribute_value = 2 };
}  // namespace field

using Message = protozero::pbf_writer;
using Indices = std::vector<int32_t>;

// Numbers of texts or pairs of them, in the order in which they were first asked for; the zero
// value of the table has number 0.
template <class Key>
class Numbers {
 public:
  Numbers() { (*this)(Key()); }
  int32_t operator()(const Key& key) {
    const auto [at, added] = numbers_.try_emplace(key, static_cast<int32_t>(keys_.size()));
    if (added) keys_.push_back(&at->first);
    return at->second;
  }
  const std::vector<const Key*>& keys() const { return keys_; }

 private:
  std::map<Key, int32_t> numbers_;
  std::vector<const Key*> keys_;
};

using Pair = std::pair<std::string, std::string>;

// Equal texts give equal bytes, others almost certainly others: 64-bit FNV-1a, twice.
std::string id_of(const std::string& text) {
  std::string id;
  for (uint64_t hash : {0xcbf29ce484222325ull, 0x84222325cbf29ce4ull}) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
    for (int shift = 0; shift < 64; shift += 8) id += static_cast<char>(hash >> shift);
  }
  return id;
}

std::string any_text(const std::string& text) {
  std::string bytes;
  Message(bytes).add_string(field::string_value, text);
  return bytes;
}

void add_indices(Message& message, protozero::pbf_tag_type tag, const Indices& indices) {
  message.add_packed_int32(tag, indices.begin(), indices.end());
}

class OtlpWriter {
 public:
  OtlpWriter(const OtlpProfile& profile, Sink& sink)
      : profile_(profile), output_(sink, Container::gzip) {}

  bool write() {
    for (const auto& [service, samples] : profile_.samples) {
      put(field::resource_profiles, resource_profiles(service, samples));
      if (!flush()) return false;
    }
    put(field::dictionary, dictionary());
    return flush() && output_.finish();
  }

 private:
  void put(protozero::pbf_tag_type tag, const std::string& message) {
    Message(bytes_).add_message(tag, message);
  }

  bool flush() {
    const bool good = output_.write(bytes_);
    bytes_.clear();
    return good;
  }

  static void add_pair(Message& message, const std::string& key, const std::string& text) {
    if (text.empty()) return;
    std::string bytes;
    Message pair(bytes);
    pair.add_string(field::key, key);
    pair.add_message(field::value, any_text(text));
    message.add_message(field::resource_attributes, bytes);
  }

  std::string resource_profiles(const std::string& service,
                                const std::vector<OtlpProfile::Sample>& samples) {
    std::string bytes, resource, scope, scoped;
    Message of_resource(resource);
    // As the semantic conventions name a service without a name.
    add_pair(of_resource, "service.name", service.empty() ? "unknown_service" : service);
    add_pair(of_resource, "host.name", profile_.host);
    add_pair(of_resource, "os.type", "linux");
    add_pair(of_resource, "os.version", profile_.kernel);
    Message of_scope(scope);
    of_scope.add_string(field::scope_name, "pitrace");
    of_scope.add_string(field::scope_version, profile_.version);
    Message of_scoped(scoped);
    of_scoped.add_message(field::scope, scope);
    of_scoped.add_message(field::profiles, profile_of(service, samples));
    Message message(bytes);
    message.add_message(field::resource, resource);
    message.add_message(field::scope_profiles, scoped);
    return bytes;
  }

  std::string profile_of(const std::string& service,
                         const std::vector<OtlpProfile::Sample>& samples) {
    std::string bytes;
    Message message(bytes);
    message.add_message(field::sample_type, value_type("samples", "count"));
    for (const auto& [identity, ticks] : united(samples))
      message.add_message(field::samples, sample(identity, ticks));
    message.add_fixed64(field::time_unix_nano, profile_.begin_ns);
    message.add_uint64(field::duration_nano, profile_.duration_ns);
    if (profile_.period != 0) {
      message.add_message(field::period_type, profile_.event.empty()
                                                  ? value_type("cpu", "nanoseconds")
                                                  : value_type(profile_.event, "count"));
      message.add_int64(field::period, static_cast<int64_t>(profile_.period));
    }
    message.add_bytes(field::profile_id, id_of(profile_.host + '\n' + service + '\n' +
                                               std::to_string(profile_.begin_ns)));
    Indices attributes;
    for (const auto& [key, text] : profile_.attributes) attributes.push_back(attribute(key, text));
    add_indices(message, field::profile_attributes, attributes);
    return bytes;
  }

  // Process, thread and stack are the identity of a sample, which a profile has once.
  using Identity = std::tuple<std::string_view, std::string_view, size_t>;
  static std::map<Identity, uint64_t> united(const std::vector<OtlpProfile::Sample>& samples) {
    std::map<Identity, uint64_t> ticks;
    for (const auto& each : samples) ticks[{each.process, each.thread, each.stack}] += each.ticks;
    return ticks;
  }

  std::string sample(const Identity& identity, uint64_t ticks) {
    const auto& [process, thread, stack] = identity;
    std::string bytes;
    Message message(bytes);
    message.add_int32(field::stack_index, static_cast<int32_t>(stack + 1));
    Indices attributes;
    if (!process.empty()) attributes.push_back(attribute("process.executable.name", process));
    if (!thread.empty()) attributes.push_back(attribute("thread.name", thread));
    add_indices(message, field::sample_attributes, attributes);
    const std::array<int64_t, 1> value{static_cast<int64_t>(ticks)};
    message.add_packed_int64(field::values, value.begin(), value.end());
    return bytes;
  }

  std::string value_type(const std::string& type, const std::string& unit) {
    std::string bytes;
    Message message(bytes);
    message.add_int32(field::type, strings_(type));
    message.add_int32(field::unit, strings_(unit));
    return bytes;
  }

  int32_t attribute(const std::string& key, std::string_view text) {
    return attributes_(Pair(key, text));
  }

  // The tables refer to each other, so that the texts come last.
  std::string dictionary() {
    std::string bytes;
    Message message(bytes);
    add_locations(message);
    for (const Pair* mapping : mappings_.keys())
      message.add_message(field::mapping_table, mapping_of(*mapping));
    for (const std::string* function : functions_.keys()) {
      std::string text;
      Message named(text);
      if (!function->empty()) {
        named.add_int32(field::name, strings_(*function));
        named.add_int32(field::system_name, strings_(*function));
      }
      message.add_message(field::function_table, text);
    }
    std::string link;
    Message none(link);
    none.add_bytes(field::trace_id, std::string(16, '\0'));
    none.add_bytes(field::span_id, std::string(8, '\0'));
    message.add_message(field::link_table, link);
    for (const Pair* pair : attributes_.keys())
      message.add_message(field::attribute_table, attribute_of(*pair));
    for (const std::string* text : strings_.keys()) message.add_string(field::string_table, *text);
    return bytes;
  }

  void add_locations(Message& message) {
    message.add_message(field::location_table, std::string());
    for (const OtlpProfile::Frame& frame : profile_.frames)
      message.add_message(field::location_table, location(frame));
    message.add_message(field::stack_table, std::string());
    for (const std::vector<uint32_t>& frames : profile_.stacks) {
      Indices locations;
      for (const uint32_t frame : frames) locations.push_back(static_cast<int32_t>(frame + 1));
      std::string stack;
      Message of_stack(stack);
      add_indices(of_stack, field::location_indices, locations);
      message.add_message(field::stack_table, stack);
    }
  }

  std::string location(const OtlpProfile::Frame& frame) {
    std::string bytes, line;
    Message message(bytes);
    if (!frame.module.empty() || !frame.build_id.empty())
      message.add_int32(field::mapping_index, mappings_(Pair(frame.module, frame.build_id)));
    Message(line).add_int32(field::function_index, functions_(frame.name));
    message.add_message(field::lines, line);
    if (frame.kernel)
      add_indices(message, field::location_attributes, {attribute("profile.frame.type", "kernel")});
    return bytes;
  }

  std::string mapping_of(const Pair& mapping) {
    std::string bytes;
    Message message(bytes);
    if (!mapping.first.empty()) message.add_int32(field::filename, strings_(mapping.first));
    if (!mapping.second.empty())
      add_indices(message, field::mapping_attributes,
                  {attribute("process.executable.build_id.gnu", mapping.second)});
    return bytes;
  }

  std::string attribute_of(const Pair& pair) {
    std::string bytes;
    Message message(bytes);
    if (pair.first.empty()) return bytes;
    message.add_int32(field::key_index, strings_(pair.first));
    message.add_message(field::attribute_value, any_text(pair.second));
    return bytes;
  }

  const OtlpProfile& profile_;
  DeflateWriter output_;
  std::string bytes_;
  Numbers<std::string> strings_;
  Numbers<std::string> functions_;
  Numbers<Pair> mappings_;
  Numbers<Pair> attributes_;
};

}  // namespace

bool write_otlp(const OtlpProfile& profile, Sink& sink) {
  return OtlpWriter(profile, sink).write();
}

}  // namespace post
