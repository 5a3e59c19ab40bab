// SPDX-License-Identifier: MIT
// The processes and threads of the HTML page, as numbers.
#ifndef POST_HTML_OWNERS_H
#define POST_HTML_OWNERS_H

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "analysis/paths_by_time.h"
#include "analysis/states_by_time.h"

namespace post {

class HtmlOwners {
 public:
  struct Process {
    NameId label = no_name;
    Origin origin;  // without thread
  };
  struct Thread {
    uint32_t process = 0;
    NameId label = no_name;
    uint32_t tid = 0;
  };

  // The thread at a place of PathsByTime's tree; the same one for a thread of StatesByTime that has
  // the same names.
  uint32_t thread_of(const PathsByTime& paths, uint32_t place);
  uint32_t thread_of(const OffCpu::Thread& thread);

  const std::vector<Process>& processes() const { return processes_; }
  const std::vector<Thread>& threads() const { return threads_; }

 private:
  uint32_t find(NameId process_label, const Origin& process, NameId label, uint32_t tid);

  std::vector<Process> processes_;
  std::vector<Thread> threads_;
  std::map<std::pair<NameId, const ProcessLifetime*>, uint32_t> known_processes_;
  std::map<std::pair<uint32_t, NameId>, uint32_t> known_threads_;
};

}  // namespace post

#endif  // POST_HTML_OWNERS_H
