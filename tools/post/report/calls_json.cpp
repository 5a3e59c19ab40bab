// SPDX-License-Identifier: MIT
// Writes parts of tprof.json: calls, and the time off the CPU.
#include "calls_json.h"

#include <algorithm>

#include "call_rows.h"
#include "off_cpu_rows.h"
#include "report_off_cpu.h"

namespace post {
namespace {

using Json = pi::Json;

Json stacks_json(const StackCounts& stacks) {
  return {{"with", stacks.with()},
          {"without", stacks.without},
          {"unreadable", stacks.unreadable},
          {"whole", stacks.whole},
          {"broken", stacks.broken},
          {"guessed", stacks.guessed},
          {"cut", stacks.cut},
          {"kernel_broken", stacks.kernel_broken},
          {"user_broken", stacks.user_broken},
          {"kernel_cut", stacks.kernel_cut},
          {"user_cut", stacks.user_cut}};
}

// A flat list with depths: many programs cannot read JSON that is nested as deep as stacks are.
Json rows_json(const std::vector<CallRow>& rows) {
  Json list = Json::array();
  for (const CallRow& row : rows)
    list.push_back({{"depth", row.depth},
                    {"kind", kind_word(row.kind)},
                    {"name", row.name},
                    {"inclusive", row.inclusive},
                    {"exclusive", row.exclusive},
                    {"guessed", row.guessed}});
  return list;
}

Json edges_json(const std::vector<CallEdge>& edges) {
  Json list = Json::array();
  for (const CallEdge& edge : edges) list.push_back({{"name", edge.name}, {"ticks", edge.ticks}});
  return list;
}

Json function_json(const FunctionRow& row) {
  return {{"name", row.name},
          {"inclusive", row.inclusive},
          {"exclusive", row.exclusive},
          {"guessed", row.guessed},
          {"outermost", row.outermost},
          {"callers", edges_json(row.callers)},
          {"callees", edges_json(row.callees)}};
}

Json wait_json(const WaitRow& row) {
  Json json = {{"reason", reason_word(row.reason)},
               {"count", row.times.count},
               {"blocked_ns", row.times.blocked},
               {"runnable_ns", row.times.runnable},
               {"cut_ns", row.times.cut},
               {"frames", row.frames},
               {"guessed", std::ranges::count(row.guessed, true)}};
  json["wakers"] = Json::array();
  for (const WakerRow& waker : row.wakers)
    json["wakers"].push_back(
        {{"chain", waker.chain}, {"count", waker.count}, {"blocked_ns", waker.blocked}});
  return json;
}

Json thread_json(const ThreadRow& row) {
  const ThreadTimes& times = row.times;
  Json json = {{"process", row.process},      {"thread", row.thread},
               {"running_ns", times.running}, {"runnable_ns", times.runnable},
               {"blocked_ns", times.blocked}, {"cut_ns", times.cut},
               {"unknown_ns", times.unknown}, {"dispatches", times.dispatches},
               {"wakeups", times.wakeups},    {"migrations", times.migrations}};
  json["waits"] = Json::array();
  for (const WaitRow& wait : row.waits) json["waits"].push_back(wait_json(wait));
  return json;
}

}  // namespace

Json tree_json(const CallTree& calls, const Summary& summary) {
  const uint64_t clip = clip_ticks(summary);
  Json json = {{"ticks", calls.ticks()}, {"stacks", stacks_json(calls.stacks())}};
  json["rows"] = rows_json(make_call_rows(calls, clip));
  json["functions"] = Json::array();
  for (const FunctionRow& row : make_function_rows(calls, clip))
    json["functions"].push_back(function_json(row));
  return json;
}

Json off_cpu_json(const OffCpu& off_cpu, const Summary& summary) {
  Json json = {{"time_ns", off_cpu.end_time() - off_cpu.begin_time()},
               {"clip_ns", clip_time(summary)},
               {"dispatches", off_cpu.dispatches()},
               {"wakeups", off_cpu.wakeups()},
               {"wakeups_missing", off_cpu.missing_wakeups()},
               {"gaps", off_cpu.gaps()},
               {"contradictions", off_cpu.contradicted()},
               {"stacks", stacks_json(off_cpu.stacks())}};
  if (off_cpu.unreported() != 0) json["unreported"] = off_cpu.unreported();
  json["threads"] = Json::array();
  for (const ThreadRow& row : make_thread_rows(off_cpu, summary.names, clip_time(summary)))
    json["threads"].push_back(thread_json(row));
  return json;
}

}  // namespace post
