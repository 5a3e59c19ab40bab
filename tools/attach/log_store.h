// SPDX-License-Identifier: MIT
// Writes fetched logs next to the trace. Their contents are untrusted.
#ifndef PI_ATTACH_LOG_STORE_H
#define PI_ATTACH_LOG_STORE_H

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <pi/new_file.h>
#include <pi/result.h>

namespace pi::attach {

// A log's whole size; JProf's logs of large applications have some hundred megabytes.
constexpr uint64_t max_log_bytes = uint64_t{1} << 30;

// The process whose logs are expected, as named in the line "# head" of a log.
struct LogOwner {
  pid_t pid = 0;        // in the trace: what the fetched log is named for
  pid_t inner_pid = 0;  // as the process itself sees it
  uint64_t pid_namespace = 0;
};

// A log has no zero bytes.
bool is_text(std::string_view bytes);

// Whether a log's beginning names this process in its first line "# head".
bool is_log_of(std::string_view beginning, const LogOwner& owner);

// Stores one log after the other; a log gets its name when it is complete and belongs to the
// process.
class LogStore {
 public:
  LogStore(int directory, LogOwner owner) : directory_(directory), owner_(owner) {}
  LogStore(const LogStore&) = delete;
  LogStore& operator=(const LogStore&) = delete;

  Status begin(int kind);
  Status add(std::string_view bytes);
  Status finish();
  void abandon();
  int stored() const { return stored_; }

 private:
  int directory_;
  LogOwner owner_;
  std::optional<NewFile> file_;
  std::string name_, beginning_;
  uint64_t size_ = 0;
  int stored_ = 0;
};

}  // namespace pi::attach

#endif  // PI_ATTACH_LOG_STORE_H
