// SPDX-License-Identifier: MIT
// The end of the page on standard output: the files of the run, and a suggested next command.
#ifndef POST_PAGE_END_H
#define POST_PAGE_END_H

#include <string>
#include <vector>

namespace post {

// Data for the end of the page after a run.
struct PageEnd {
  std::string trace;               // paths
  std::vector<std::string> files;  // the reports
  std::string directory;           // of the reports
  std::string post = "post";       // how the user calls this program
};

// "Files in DIRECTORY: ..."
std::string files_text(const PageEnd& end);

// A shell command: post with an option, for the same trace.
std::string next_command(const PageEnd& end, const char* option);

}  // namespace post

#endif  // POST_PAGE_END_H
