// SPDX-License-Identifier: MIT
// Names as they may leave the host: what --omit and --hash do to those of frames and processes.
#ifndef POST_SHOWN_NAMES_H
#define POST_SHOWN_NAMES_H

#include <string>
#include <string_view>
#include <unordered_map>

#include "state/frames.h"
#include "text/labels.h"
#include "text/private_names.h"

namespace post {

// The module of a frame; no_name: not known.
NameId traced_module(const Frame& frame);

class ShownNames {
 public:
  // Both must outlive this.
  ShownNames(StringTable& names, const Privacy& privacy) : names_(names), hidden_(names, privacy) {}

  std::string host(std::string_view host) const { return hidden_.shown(PrivateKind::host, host); }
  // Of a process or a thread.
  NameId command(NameId name) const { return hidden_.shown(PrivateKind::command, name); }
  NameId cgroup(NameId cgroup) const { return hidden_.shown(PrivateKind::cgroup, cgroup); }
  NameId service(NameId cgroup) const;
  // Of a source file.
  NameId source(NameId file) const { return hidden_.shown(PrivateKind::path, file); }
  // no_name: not known, or it has no symbol.
  NameId function(const Frame& frame) const;
  NameId module(const Frame& frame) const { return module(traced_module(frame)); }
  NameId module(NameId module) const;
  // As Frames::folded_name(); a function that is left out is named as one without a symbol.
  std::string folded(Frame frame) const;
  // Labels of process_label() and thread_label() made with these options; without the ids if names
  // are hidden.
  std::string process_label(const std::string& label, const LabelOptions& options) const;
  std::string thread_label(const std::string& label, const LabelOptions& options) const;

 private:
  std::string shown_command(const std::string& name) const {
    return hidden_.shown(PrivateKind::command, name);
  }

  StringTable& names_;
  const PrivateNames hidden_;
  mutable std::unordered_map<NameId, NameId> service_of_;
};

// The innermost systemd service in the path of a control group; without one the innermost group: a
// scope, or a container. Empty for the root.
std::string service_of(const std::string& cgroup);

}  // namespace post

#endif  // POST_SHOWN_NAMES_H
