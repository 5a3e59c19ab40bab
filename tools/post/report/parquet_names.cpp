// SPDX-License-Identifier: MIT
// What the tables of --export parquet and of --fleet have in common.
#include "parquet_names.h"

#include <fmt/format.h>

#include "completeness.h"
#include "off_cpu_rows.h"
#include "read/merge.h"
#include "report_export.h"
#include "text/text.h"

namespace post {
namespace {

constexpr std::array<const char*, 4> table_kinds = {"tick", "running", "runnable", "blocked"};
constexpr std::array<const char*, PITRACE_LOST_REASONS> loss_reasons = {"full", "stopped",
                                                                        "too_long", "source"};

}  // namespace

ParquetNames::ParquetNames(const ReportContext& context)
    : file_(context.file),
      names_(context.names),
      bucket_(context.options.bucket_ns),
      begin_(begin_of(context.source, context.file)),
      build_ids_(ids_by_path(context.file.build_ids)),
      shown_(context.names, context.options.report.privacy),
      host_(name(shown_.host(context.file.info.host))),
      kernel_(name(context.file.info.kernel)),
      ns_(name("ns")),
      mode_{name("user"), name("kernel")} {
  const TraceInfo& info = context.file.info;
  per_tick_ = amount_per_tick(info);
  tick_unit_ = per_tick_ == 0 ? no_name : info.tick == "event" ? name(tick_event(info)) : ns_;
  for (size_t i = 0; i < kinds_.size(); ++i) kinds_[i] = name(table_kinds[i]);
  for (LeaveReason i = 0; i < leave_reasons; ++i) reasons_[i] = name(reason_word(i));
}

NameId ParquetNames::trace(uint64_t epoch) const {
  if (!trace_ || trace_->first != epoch)
    trace_ = {epoch, name(fmt::format("{} {}", host_ == no_name ? "trace" : names_.text(host_),
                                      begin_ + epoch))};
  return trace_->second;
}

NameId ParquetNames::build_id(const Frame& frame) const {
  const NameId module = traced_module(frame);
  const auto [known, added] = id_of_module_.try_emplace(module, no_name);
  if (added)
    if (const auto id = build_ids_.find(names_.text(module)); id != build_ids_.end())
      known->second = name(id->second);
  return known->second;
}

std::optional<int64_t> ParquetNames::amount(Kind kind, uint64_t count, uint64_t amount) const {
  if (unit(kind) == no_name) return std::nullopt;
  return static_cast<int64_t>(kind == Kind::tick ? count * per_tick_ : amount);
}

NameId ParquetNames::unit(Kind kind) const {
  return kind == Kind::tick ? tick_unit_ : ns_;
}

std::vector<ParquetNames::Loss> ParquetNames::losses(const Summary& summary) const {
  std::vector<Loss> all;
  for (const auto& [key, counts] : summary.losses.lossy)
    for (size_t reason = 0; reason < loss_reasons.size(); ++reason)
      if (counts.lost[reason] != 0)
        all.push_back({key.cpu, name(loss_reasons[reason]), counts.lost[reason]});
  return all;
}

ParquetWriter::Metadata ParquetNames::metadata(const Summary& summary, const char* table,
                                               const char* version) const {
  ParquetWriter::Metadata all{{"pitrace.schema", fmt::format("{} {}", table, version)},
                              {"pitrace.bucket_ns", std::to_string(bucket_)},
                              {"pitrace.source", printable(file_.info.source)},
                              {"pitrace.scope", printable(file_.info.scope)}};
  for (const std::string& text : file_.info.cannot_see)
    all.emplace_back(fmt::format("pitrace.cannot_see.{}", all.size()), printable(text));
  if (const std::string missing = what_is_missing(summary.file, summary.losses); !missing.empty())
    all.emplace_back("pitrace.missing", missing);
  if (is_damaged(summary.file, summary.damage)) all.emplace_back("pitrace.damaged", "true");
  return all;
}

RecordsByTime::Options records_options(const ReportContext& context, bool ids) {
  Resolver::Options frames = context.frames();
  frames.addresses = context.options.fleet.has_value();
  return {.frames = frames,
          .source = stack_source(context.file.info),
          .cache_entries = context.cache_entries(1 << 16),
          .filter = context.filter,
          .threads = context.options.report.selection.follows_threads(),
          .ids = ids,
          .lines = context.options.report.offsets,
          .bucket = context.options.bucket_ns};
}

StackNumbers number_stacks(const std::function<uint32_t(uint32_t)>& caller_of,
                           std::vector<bool> used, bool in_place) {
  const auto count = static_cast<uint32_t>(used.size());
  // A caller has a lower number.
  std::vector<uint32_t> size(count);  // of the stack and those that it calls
  for (uint32_t i = count; i-- > 0;) {
    if (!used[i]) continue;
    ++size[i];
    const uint32_t caller = caller_of(i);
    if (caller == RecordSum::no_stack) continue;
    used[caller] = true;
    size[caller] += size[i];
  }
  StackNumbers numbers;
  numbers.shown.resize(count);
  std::vector<uint32_t> next(count);  // the place of the next one that it calls
  uint32_t outermost = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (!used[i]) continue;
    const uint32_t caller = caller_of(i);
    uint32_t& place = caller == RecordSum::no_stack ? outermost : next[caller];
    numbers.shown[i] = place;
    place += size[i];
    next[i] = numbers.shown[i] + 1;
  }
  numbers.order.resize(outermost);
  uint32_t row = 0;
  for (uint32_t i = 0; i < count; ++i)
    if (used[i]) numbers.order[in_place ? row++ : numbers.shown[i]] = i;
  if (in_place)
    for (const uint32_t stack : numbers.order) numbers.shown[stack] = stack;
  return numbers;
}

std::map<std::string, std::string> ids_by_path(const std::vector<BuildId>& build_ids) {
  std::map<std::string, std::string> ids;
  for (const BuildId& each : build_ids) {
    const bool known = !each.id.empty() && each.id != "?" && each.id != "!";
    const auto [at, added] =
        ids.try_emplace(printable(each.path), known ? printable(each.id) : std::string());
    if (!added && at->second != each.id) at->second.clear();
  }
  return ids;
}

}  // namespace post
