// SPDX-License-Identifier: MIT
// log-rt: the call tree as text.
#include <cstdio>

#include "method_names.h"
#include "report.h"

namespace pi::callflow {
namespace {

constexpr size_t level_width = 4;
constexpr size_t number_width = 10;
constexpr size_t metric_width = 11;

struct Label {
  const char* column;
  const char* meaning;
};

constexpr Label level_label = {"LV", "Level of nesting (call depth); 0: the thread"};
constexpr Label call_labels[] = {
    {"CALLS", "Calls to this method (callers)"},
    {"CEE", "Calls from this method (callees)"},
};
constexpr Label metric_labels[] = {
    {"BASE", "Metric observed, callees excluded"},
    {"DELTA", "What calibration has subtracted from BASE"},
    {"DS", "Dispatches observed"},
    {"IN", "Interrupts observed"},
};
constexpr Label name_label = {"NAME", "Name of method or thread"};

constexpr const char* legend[] = {
    "I = interpreted", "J = jitted", "N = native",     "i j n = static method",
    "C = compiling",   "O = other",  "F = C function",
};

std::string padded(std::string_view text, size_t width) {
  return std::string(text.size() < width ? width - text.size() : 0, ' ') + std::string(text);
}

class LogRt {
 public:
  LogRt(const Snapshot& snapshot, const ReportSettings& settings, const NameOf& name_of,
        const Sink& sink)
      : snapshot_(snapshot),
        settings_(settings),
        names_(name_of),
        sink_(sink),
        columns_(settings.columns) {
    if (columns_.empty())
      for (size_t i = 0; i < snapshot.metrics.size(); ++i)
        columns_.push_back({snapshot.metrics[i].name, Column::Kind::sum, i, 0, 0});
  }

  int write() {
    text_ = settings_.heading;
    write_labels();
    if (snapshot_.sampling)
      write_sampling(*snapshot_.sampling);
    else
      write_calibration();
    write_losses();
    write_heads();
    for (const auto& thread : snapshot_.threads)
      for (size_t i = 0; i < thread.nodes.size(); ++i) {
        write_node(thread, i);
        if (text_.size() < part_bytes) continue;
        if (const int error = sink_(text_)) return error;
        text_.clear();
      }
    write_sequences();
    return sink_(text_);
  }

 private:
  bool has_one_metric() const {
    return columns_.size() == 1 && columns_[0].kind == Column::Kind::sum && !snapshot_.sampling;
  }

  void write_label(const Label& label) {
    text_ += " : " + std::string(label.column) +
             std::string(6 - std::string_view(label.column).size(), ' ') + "= " + label.meaning +
             '\n';
  }

  void write_labels() {
    text_ += " Column Labels:\n";
    write_label(level_label);
    if (!snapshot_.sampling)
      for (const auto& label : call_labels) write_label(label);
    if (has_one_metric()) {
      for (const auto& label : metric_labels) write_label(label);
      text_ += " BASE and DELTA :: " + snapshot_.metrics[columns_[0].metric].name + ", " +
               snapshot_.metrics[columns_[0].metric].unit + '\n';
      if (!snapshot_.has_dispatches) text_ += " DS and IN :: not observed\n";
    } else {
      for (const auto& column : columns_) write_meaning(column);
    }
    write_label(name_label);
    if (settings_.legend && snapshot_.sampling) {
      text_ += " Method types :: M = sampled Java method";
      text_ += snapshot_.sampling->has_native ? ", U = function of native code\n" : "\n";
    } else if (settings_.legend) {
      text_ += " Method types ::";
      for (const char* line : legend) text_ += std::string(line == legend[0] ? " " : ", ") + line;
      text_ += '\n';
    }
  }

  void write_meaning(const Column& column) {
    text_ += ' ' + column.name + " :: ";
    const Metric& metric = snapshot_.metrics[column.metric];
    if (column.kind == Column::Kind::ratio)
      text_ += metric.name + " / " + snapshot_.metrics[column.other].name;
    else if (column.kind == Column::Kind::difference)
      text_ += metric.name + " - " + snapshot_.metrics[column.other].name;
    else
      text_ += metric.unit + ", callees excluded";
    if (column.digits) text_ += ", " + std::to_string(column.digits) + " digits dropped";
    text_ += '\n';
  }

  void write_sampling(const Sampling& sampling) {
    text_ += " Sampled :: " + sampling.source + '\n';
    text_ += " Walked :: " + std::to_string(sampling.walked) + " samples\n";
    for (const auto& [reason, samples] : sampling.unwalked)
      text_ +=
          " Not walked :: " + std::to_string(samples) + " samples: " + reason +
          (sampling.has_native ? "; in the line of the thread, or of functions of native code\n"
                               : "; in the line of the thread\n");
  }

  void write_calibration() {
    for (size_t i = 0; i < snapshot_.metrics.size(); ++i) {
      if (snapshot_.metrics[i].is_exact) continue;
      text_ += " Calibration :: " + snapshot_.metrics[i].name + ": ";
      if (!snapshot_.calibrated) {
        text_ += "off; BASE contains a part of the cost of the probes of each call\n";
        continue;
      }
      char line[200];
      std::snprintf(line, sizeof line,
                    "error bound %.2f %s a call or return; %.3f %% of them in untrained "
                    "sequences, of fewer than %llu observations\n",
                    snapshot_.bounds[i].spread, snapshot_.metrics[i].unit.c_str(),
                    100 * snapshot_.bounds[i].untrained_share,
                    static_cast<unsigned long long>(settled_after));
      text_ += line;
    }
    write_impossible();
  }

  // Of all metrics the same.
  void write_impossible() {
    size_t sequences = 0;
    for (const auto& s : snapshot_.sequences) sequences += !s.possible && s.metric == 0;
    if (sequences == 0) return;
    text_ += " Impossible :: " + std::to_string(snapshot_.bounds[0].impossible) +
             " calls or returns in " + std::to_string(sequences) +
             " sequences that cannot occur, marked below: calls have ended without an event\n";
  }

  void write_loss(uint64_t count, const char* what) {
    if (count) text_ += " Lost :: " + std::to_string(count) + ' ' + what + '\n';
  }

  void write_losses() {
    const Losses& lost = snapshot_.losses;
    write_loss(lost.nodes, snapshot_.sampling
                               ? "samples are counted in their callers: the trees were full"
                               : "calls are counted in their callers: the tree was full");
    write_loss(lost.frames, "calls are not counted: the stack was full");
    write_loss(lost.reentered, "events of signal handlers that interrupted an event");
    write_loss(lost.abandoned, "events that a signal handler left by siglongjmp()");
    write_loss(lost.unreadable, "events without a value of the metrics");
    write_loss(lost.log, "events that could not be written to the log of events");
    write_loss(lost.threads, snapshot_.sampling ? "threads got no timer, and have no samples"
                                                : "threads without a tree");
    write_loss(lost.samples, "samples that found no space");
  }

  void write_heads() {
    text_ += '\n' + padded("LV", level_width);
    if (!snapshot_.sampling)
      text_ += padded("CALLS", number_width + 1) + padded("CEE", number_width + 1);
    if (has_one_metric())
      text_ += padded("BASE", metric_width + 1) + padded("DELTA", metric_width + 1) +
               padded("DS", 7) + padded("IN", 7);
    else
      for (const auto& column : columns_) text_ += ' ' + padded(column.name, metric_width);
    text_ += "  NAME\n";
  }

  void write_node(const TreeCopy& thread, size_t index) {
    const CallNode& node = thread.nodes[index];
    append_number(text_, node.level, level_width);
    if (!snapshot_.sampling) {
      append_field(static_cast<int64_t>(node.calls), number_width);
      append_field(static_cast<int64_t>(node.callees), number_width);
    }
    if (has_one_metric()) {
      const size_t metric = columns_[0].metric;
      append_field(scaled(node.base[metric], columns_[0].digits), metric_width);
      append_field(scaled(node.delta[metric], columns_[0].digits), metric_width);
      append_field(static_cast<int64_t>(node.dispatches), 6);
      append_field(static_cast<int64_t>(node.interrupts), 6);
    } else {
      for (const auto& column : columns_) append_column(node, column);
    }
    text_ += "  ";
    if (index == 0) {
      text_ += thread_label(thread) + '\n';
      return;
    }
    if (settings_.types) {
      text_ += name_letter_in(snapshot_, node);
      text_ += ':';
    }
    text_ += names_.of(node.method);
    text_ += node.entered_before ? " [entered before the start]\n" : "\n";
  }

  void append_field(int64_t value, size_t width) {
    text_ += ' ';
    append_number(text_, value, width);
  }

  static int64_t scaled(int64_t value, unsigned digits) {
    for (; digits > 0; --digits) value /= 10;
    return value;
  }

  void append_column(const CallNode& node, const Column& column) {
    const int64_t value = node.base[column.metric];
    const size_t width = std::max(metric_width, column.name.size());
    if (column.kind == Column::Kind::sum) {
      append_field(scaled(value, column.digits), width);
    } else if (column.kind == Column::Kind::difference) {
      append_field(scaled(value - node.base[column.other], column.digits), width);
    } else {
      char ratio[32];
      const auto divisor = static_cast<double>(node.base[column.other]);
      std::snprintf(ratio, sizeof ratio, " %*.2f", static_cast<int>(width),
                    divisor == 0 ? 0 : static_cast<double>(value) / divisor);
      text_ += ratio;
    }
  }

  void write_sequences() {
    if (snapshot_.sequences.empty()) return;
    text_ +=
        "\n Calibration by sequence: the type before, the event, the type that runs, the next "
        "event, the type after it.\n"
        "  METRIC                  SEQUENCE           COUNT    MINIMUM       MODE ENVIRONMENT "
        "SUBTRACTED\n";
    for (const auto& s : snapshot_.sequences) {
      char line[200];
      std::snprintf(line, sizeof line, "  %-20s %s %14llu %10llu %10llu%c %10llu %10llu%s\n",
                    snapshot_.metrics[s.metric].name.c_str(), name_of(s.sequence).c_str(),
                    static_cast<unsigned long long>(s.count),
                    static_cast<unsigned long long>(s.observed),
                    static_cast<unsigned long long>(s.mode), s.mode_is_exact ? ' ' : '+',
                    static_cast<unsigned long long>(s.environment),
                    static_cast<unsigned long long>(s.adjustment),
                    s.trained    ? ""
                    : s.possible ? " untrained"
                                 : " impossible");
      text_ += line;
    }
  }

  const Snapshot& snapshot_;
  const ReportSettings& settings_;
  MethodNames names_;
  const Sink& sink_;
  std::vector<Column> columns_;
  std::string text_;
};

}  // namespace

int log_rt(const Snapshot& snapshot, const ReportSettings& settings, const NameOf& name_of,
           const Sink& sink) {
  return LogRt(snapshot, settings, name_of, sink).write();
}

std::string log_rt(const Snapshot& snapshot, const ReportSettings& settings,
                   const NameOf& name_of) {
  std::string text;
  log_rt(snapshot, settings, name_of, [&](std::string_view part) { return text += part, 0; });
  return text;
}

}  // namespace pi::callflow
