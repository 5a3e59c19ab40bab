// SPDX-License-Identifier: MIT
// The end of the page on standard output: the files of the run, and a suggested next command.
#ifndef POST_PAGE_END_H
#define POST_PAGE_END_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace post {

// Data for the end of the page after a run.
struct PageEnd {
  std::string trace;                        // paths
  std::vector<std::string> files;           // the reports
  std::string directory;                    // of the reports
  std::string post = "post";                // how the user calls this program
  std::vector<std::string> selection = {};  // the options that select ticks, as they were typed
};

// "Files in DIRECTORY: ..."
std::string files_text(const PageEnd& end);

// Shell commands for the same trace: post with an option; post top, where 100 % are the same ticks
// as on the page.
std::string next_command(const PageEnd& end, const char* option);
std::string top_command(const PageEnd& end, const std::optional<uint32_t>& subject);

}  // namespace post

#endif  // POST_PAGE_END_H
