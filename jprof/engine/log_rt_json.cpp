// SPDX-License-Identifier: MIT
// log-rt as JSON.
#include "json_writer.h"
#include "method_names.h"
#include "report.h"

namespace pi::callflow {
namespace {

void write_sequence(JsonWriter& json, const SequenceReport& s, const Snapshot& snapshot) {
  json.open('{');
  json.key("metric");
  json.string(snapshot.metrics[s.metric].name);
  json.key("sequence");
  json.open('[');
  json.string(std::string(1, letter_of(s.sequence.before)));
  json.string(word_of(s.sequence.first));
  json.string(std::string(1, letter_of(s.sequence.running)));
  json.string(word_of(s.sequence.second));
  json.string(std::string(1, letter_of(s.sequence.after)));
  json.close(']');
  json.count("count", s.count);
  json.count("minimum", s.observed);
  json.count("mode", s.mode);
  json.key("mode_is_exact");
  json.boolean(s.mode_is_exact);
  json.count("environment", s.environment);
  json.count("subtracted", s.adjustment);
  json.key("trained");
  json.boolean(s.trained);
  json.key("possible");
  json.boolean(s.possible);
  json.close('}');
}

void write_metrics(JsonWriter& json, const Snapshot& snapshot) {
  json.key("metrics");
  json.open('[');
  for (size_t i = 0; i < snapshot.metrics.size(); ++i) {
    json.open('{');
    json.key("name");
    json.string(snapshot.metrics[i].name);
    json.key("unit");
    json.string(snapshot.metrics[i].unit);
    json.key("error_bound");
    json.number(snapshot.bounds[i].spread);
    json.key("untrained_share");
    json.number(snapshot.bounds[i].untrained_share);
    json.count("impossible", snapshot.bounds[i].impossible);
    json.close('}');
  }
  json.close(']');
}

void write_sums(JsonWriter& json, const char* name, const std::array<int64_t, max_metrics>& sums,
                size_t metrics) {
  json.key(name);
  json.open('[');
  for (size_t i = 0; i < metrics; ++i) json.number(sums[i]);
  json.close(']');
}

void write_sampling(JsonWriter& json, const Sampling& sampling) {
  json.key("sampling");
  json.open('{');
  json.key("source");
  json.string(sampling.source);
  json.count("walked", sampling.walked);
  json.key("unwalked");
  json.open('[');
  for (const auto& [reason, samples] : sampling.unwalked) {
    json.open('{');
    json.key("reason");
    json.string(reason);
    json.count("samples", samples);
    json.close('}');
  }
  json.close(']');
  json.close('}');
}

class TreeWriter {
 public:
  TreeWriter(JsonWriter& json, const Snapshot& snapshot, MethodNames& names, const Sink& sink)
      : json_(json), snapshot_(snapshot), names_(names), sink_(sink) {}

  // Returns the sink's error number.
  int write(const TreeCopy& thread) {
    json_.line();
    json_.open('{');
    json_.count("tid", thread.tid);
    json_.key("name");
    json_.string(thread_label(thread));
    json_.key("ended");
    json_.boolean(thread.ended);
    json_.count("events", thread.events);
    json_.count("unwound", thread.unwound);
    json_.key("own_cost");
    json_.open('[');
    for (size_t i = 0; i < snapshot_.metrics.size(); ++i)
      json_.number(static_cast<int64_t>(thread.own_cost[i]));
    json_.close(']');
    json_.key("nodes");
    json_.open('[');
    for (size_t i = 0; i < thread.nodes.size(); ++i) {
      write_node(thread.nodes[i], i == 0);
      if (json_.size() < part_bytes) continue;
      if (const int error = sink_(json_.text())) return error;
      json_.forget();
    }
    json_.close(']');
    json_.close('}');
    return 0;
  }

 private:
  void write_node(const CallNode& node, bool is_thread) {
    json_.line();
    json_.open('{');
    json_.count("level", node.level);
    json_.count("calls", node.calls);
    json_.count("callees", node.callees);
    write_sums(json_, "base", node.base, snapshot_.metrics.size());
    write_sums(json_, "delta", node.delta, snapshot_.metrics.size());
    if (snapshot_.has_dispatches) {
      json_.count("dispatches", node.dispatches);
      json_.count("interrupts", node.interrupts);
    }
    if (!is_thread) {
      json_.key("type");
      json_.string(std::string(1, name_letter_in(snapshot_, node)));
      json_.key("name");
      json_.string(names_.of(node.method));
    }
    if (node.entered_before) {
      json_.key("entered_before");
      json_.boolean(true);
    }
    json_.close('}');
  }

  JsonWriter& json_;
  const Snapshot& snapshot_;
  MethodNames& names_;
  const Sink& sink_;
};

}  // namespace

int log_rt_json(const Snapshot& snapshot, const NameOf& name_of, const Sink& sink) {
  MethodNames names(name_of);
  JsonWriter json;
  json.open('{');
  json.count("schema_version", 1);
  json.key("calibrated");
  json.boolean(snapshot.calibrated);
  write_metrics(json, snapshot);
  write_losses(json, snapshot.losses);
  if (snapshot.sampling) write_sampling(json, *snapshot.sampling);
  json.key("sequences");
  json.open('[');
  for (const auto& s : snapshot.sequences) {
    json.line();
    write_sequence(json, s, snapshot);
  }
  json.close(']');
  json.key("threads");
  json.open('[');
  TreeWriter trees(json, snapshot, names, sink);
  for (const auto& thread : snapshot.threads)
    if (const int error = trees.write(thread)) return error;
  json.close(']');
  json.close('}');
  json.line();
  return sink(json.text());
}

std::string log_rt_json(const Snapshot& snapshot, const NameOf& name_of) {
  std::string text;
  log_rt_json(snapshot, name_of, [&](std::string_view part) { return text += part, 0; });
  return text;
}

}  // namespace pi::callflow
