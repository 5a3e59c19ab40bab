// SPDX-License-Identifier: MIT
// Names as they may leave the host: what --omit and --hash do to those of frames and processes.
#include "shown_names.h"

#include "text/text.h"

namespace post {
namespace {

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

NameId ShownNames::service(NameId cgroup) const {
  const auto [known, added] = service_of_.try_emplace(cgroup, no_name);
  if (added)
    known->second =
        hidden_.shown(PrivateKind::cgroup, names_.intern(service_of(names_.text(cgroup))));
  return known->second;
}

// A runtime's name of a function can contain the path of its source.
NameId ShownNames::function(const Frame& frame) const {
  if (frame.found != Found::symbol) return no_name;
  if (frame.marker) return frame.symbol;
  const bool has_path = names_.text(frame.symbol).find('/') != std::string::npos;
  const NameId symbol = hidden_.shown(PrivateKind::function, frame.symbol);
  return has_path ? hidden_.shown(PrivateKind::path, symbol) : symbol;
}

// Without a slash it is no path: the kernel, a module of it, JIT-compiled code.
NameId ShownNames::module(NameId module) const {
  if (names_.text(module).find('/') == std::string::npos) return module;
  return hidden_.shown(PrivateKind::path, module);
}

std::string ShownNames::folded(Frame frame) const {
  const NameId path = module(frame);
  const std::string& shown_path = names_.text(path);
  std::string symbol = names_.text(frame.symbol);
  if (frame.found == Found::symbol) {
    const NameId function_name = function(frame);
    symbol = names_.text(function_name);
    if (function_name == no_name) frame.found = Found::no_symbol;
  } else if (frame.found == Found::function && path != frame.module) {
    // "[app+0x1234]"
    const size_t offset = symbol.rfind('+');
    symbol = "[" + std::string(file_name(shown_path)) +
             (offset == symbol.npos ? "]" : symbol.substr(offset));
  }
  if (frame.found == Found::no_symbol && path == no_name) frame.found = Found::no_module;
  return Frames::folded_name(frame, symbol, shown_path);
}

std::string ShownNames::process_label(const std::string& label, const LabelOptions& options) const {
  if (!hidden_.hides(PrivateKind::command)) return shown_command(label);
  return shown_command(process_base_name(label, options));
}

std::string ShownNames::thread_label(const std::string& label, const LabelOptions& options) const {
  if (!hidden_.hides(PrivateKind::command)) return shown_command(label);
  constexpr std::string_view before = "tid_";
  const std::string name =
      process_base_name(label, {.process_names_only = options.thread_names_only});
  return name.starts_with(before) ? shown_command(name.substr(before.size())) : std::string();
}

NameId traced_module(const Frame& frame) {
  return frame.marker || frame.found == Found::no_module ? no_name : frame.module;
}

std::string service_of(const std::string& cgroup) {
  constexpr std::string_view suffix = ".service";
  std::string_view rest = cgroup;
  while (!rest.empty()) {
    const size_t slash = rest.rfind('/');
    const std::string_view group = slash == rest.npos ? rest : rest.substr(slash + 1);
    if (group.ends_with(suffix) && group != suffix)
      return std::string(group.substr(0, group.size() - suffix.size()));
    rest = rest.substr(0, slash == rest.npos ? 0 : slash);
  }
  return cgroup.substr(cgroup.rfind('/') + 1);
}

}  // namespace post
