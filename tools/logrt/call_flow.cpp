// SPDX-License-Identifier: MIT
// Reads the call trees of a log-rt in JSON. Every value of the file is checked.
#include "call_flow.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pi/printable.h>

#include <optional>
#include <stdexcept>
#include <unordered_map>

#include "json.h"
#include "text_file.h"

namespace logrt {
namespace {

using pi::Json;

constexpr size_t max_metrics = 64;  // many more than any recording has

// Members of the file; what is wrong becomes a std::runtime_error.
const Json& member(const Json& object, const char* name) {
  const Json* found = object.find(name);
  if (!found) throw std::runtime_error(fmt::format("\"{}\" is missing", name));
  return *found;
}

uint64_t number(const Json& object, const char* name) {
  const auto value = member(object, name).whole_number();
  if (!value) throw std::runtime_error(fmt::format("\"{}\" is no whole number", name));
  return *value;
}

std::string text(const Json& object, const char* name) {
  const std::string* value = member(object, name).text();
  if (!value) throw std::runtime_error(fmt::format("\"{}\" is no text", name));
  return pi::printable(*value);
}

class Reader {
 public:
  explicit Reader(CallFlow& flow) : flow_(flow) {}

  void take_node(const Json& json) {
    Node node;
    const uint64_t level = number(json, "level");
    if (level > (flow_.nodes.empty() ? 0 : flow_.nodes.back().level + uint64_t{1}))
      throw std::runtime_error("a node has no caller");
    node.level = static_cast<uint32_t>(level);
    node.calls = number(json, "calls");
    node.name = index_of(level == 0 ? "" : text(json, "name"));
    if (flow_.nodes.size() == UINT32_MAX) throw std::runtime_error("it has too many nodes");
    flow_.nodes.push_back(node);
    // Which metric counts is known at the end of the file or before, so all are kept until then.
    const Json& base = member(json, "base");
    if (!base.is_array()) throw std::runtime_error("\"base\" is no array");
    if (base.size() > max_metrics) throw std::runtime_error("a node has too many metrics");
    if (flow_.nodes.size() == 1) metrics_ = base.size();
    if (base.size() != metrics_) throw std::runtime_error("nodes have different metrics");
    for (const Json& sum : base.elements()) {
      const auto value = sum.signed_number();
      if (!value) throw std::runtime_error("\"base\" has an element that is no whole number");
      base_.push_back(*value);
    }
  }

  void finish(const Json& rest, const std::string& wanted) {
    if (!rest.is_object() || number(rest, "schema_version") != 1)
      throw std::runtime_error("its schema_version is not 1");
    const bool* calibrated = member(rest, "calibrated").boolean();
    if (!calibrated) throw std::runtime_error("\"calibrated\" is neither true nor false");
    flow_.calibrated = *calibrated;
    const Json& threads = member(rest, "threads");
    if (!threads.is_array()) throw std::runtime_error("\"threads\" is no array");
    flow_.threads = threads.size();
    take_losses(member(rest, "lost"));
    select(member(rest, "metrics").elements(), wanted);
  }

 private:
  uint32_t index_of(const std::string& name) {
    const auto [found, added] =
        indices_.try_emplace(name, static_cast<uint32_t>(flow_.names.size()));
    if (added) flow_.names.push_back(name);
    return found->second;
  }

  void take_losses(const Json& lost) {
    std::vector<std::string> parts;
    if (!lost.is_object()) throw std::runtime_error("\"lost\" is no object");
    for (const auto& [name, count] : lost.members()) {
      const auto value = count.whole_number();
      if (!value) throw std::runtime_error("\"lost\" has a member that is no whole number");
      if (*value != 0) parts.push_back(fmt::format("{} {}", *value, pi::printable(name)));
    }
    flow_.lost = fmt::format("{}", fmt::join(parts, ", "));
  }

  void select(const Json::Array& metrics, const std::string& wanted) {
    if (!flow_.nodes.empty() && metrics.size() != metrics_)
      throw std::runtime_error("its nodes do not have its metrics");
    std::vector<std::string> names;
    std::optional<size_t> selected;
    for (const Json& metric : metrics) {
      names.push_back(text(metric, "name"));
      if (!selected && (wanted.empty() || names.back() == wanted)) selected = names.size() - 1;
    }
    if (!selected && !wanted.empty())
      throw std::runtime_error(names.empty()
                                   ? "it has no metrics, only calls"
                                   : fmt::format("it has no metric \"{}\", but {}",
                                                 pi::printable(wanted), fmt::join(names, ", ")));
    if (!selected) return;
    const Json& metric = metrics[*selected];
    flow_.metric = names[*selected];
    flow_.unit = text(metric, "unit");
    const auto error_bound = member(metric, "error_bound").number();
    if (!error_bound || *error_bound < 0)
      throw std::runtime_error("\"error_bound\" is no number from 0");
    flow_.error_bound = *error_bound;
    for (size_t i = 0; i < flow_.nodes.size(); ++i)
      flow_.nodes[i].base = base_[i * metrics_ + *selected];
  }

  CallFlow& flow_;
  std::unordered_map<std::string, uint32_t> indices_;
  size_t metrics_ = 0;         // of each node
  std::vector<int64_t> base_;  // metrics_ values for each node
};

}  // namespace

pi::Result<CallFlow> parse_call_flow(std::string_view text, const std::string& path,
                                     const std::string& metric) {
  CallFlow flow;
  flow.path = path;
  try {
    Reader reader(flow);
    const auto rest =
        Json::parse_each(text, "nodes", [&](const Json& node) { reader.take_node(node); });
    if (!rest) throw std::runtime_error("it is not JSON; the option JSON of JProf writes it");
    reader.finish(*rest, metric);
  } catch (const std::runtime_error& problem) {
    return pi::Error{-1, fmt::format("{} is no log-rt in JSON that can be read: {}.",
                                     pi::printable(path), problem.what())};
  }
  return flow;
}

pi::Result<CallFlow> read_call_flow(const std::string& path, const std::string& metric) {
  const auto text = pi::read_text_file(path, max_file_bytes);
  if (!text) return text.error();
  return parse_call_flow(*text, path, metric);
}

}  // namespace logrt
