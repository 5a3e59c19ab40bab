// SPDX-License-Identifier: MIT
// Where ptt dump writes: the standard output, or a file that has only whole dumps.
#ifndef PI_PTT_DUMP_FILE_H
#define PI_PTT_DUMP_FILE_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <pi/new_file.h>
#include <pi/result.h>

namespace pi::ptt {

class DumpFile {
 public:
  // path: of the file, or "" for the standard output. The error's message is only the reason.
  static Result<DumpFile> create(const std::string& path);

  // Appends the text of a dump. With the first one the file gets its name; an existing file is
  // replaced. Returns 0 or an error number; after an error the file has the dumps before.
  int add(std::string_view dump);
  // Syncs the file to the disk. Returns 0 or an error number.
  int finish();

 private:
  std::optional<NewFile> file_;
  uint64_t size_ = 0;
};

}  // namespace pi::ptt

#endif  // PI_PTT_DUMP_FILE_H
