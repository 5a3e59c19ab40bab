// SPDX-License-Identifier: MIT
// What finds the callers of user code from the copies of stacks in a recording of perf.
#ifndef PI_PERFUTIL_RECORDED_CODE_H
#define PI_PERFUTIL_RECORDED_CODE_H

#include <map>
#include <string>

#include "perfutil.h"

namespace pi::perfutil {

// A file that a recorded process has mapped.
struct RecordedFile {
  std::string path;
  std::string build_id;  // lower-case hex; "": not known; "?": several files had this path
  // Recorded on this host, or it is not known; of the vdso on this host with this kernel.
  bool of_this_host = false;
};

class RecordedCode {
 public:
  virtual ~RecordedCode() = default;
  // Valid as long as this.
  virtual pi_stack_resolver resolver() = 0;
  // Called before the resolver gets a mapping of this file.
  virtual void add(const RecordedFile& file) = 0;
  // Of used files whose build-id is not in the recording, by path.
  virtual std::map<std::string, std::string> found_build_ids() const = 0;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_RECORDED_CODE_H
