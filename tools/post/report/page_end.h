// SPDX-License-Identifier: MIT
// The end of a page that is printed: the files of the run and the command to type next.
#ifndef POST_PAGE_END_H
#define POST_PAGE_END_H

#include <string>
#include <vector>

namespace post {

// What a page at the end of a run also says.
struct PageEnd {
  std::string trace;               // paths
  std::vector<std::string> files;  // the reports
  std::string directory;           // of the reports
  std::string post = "post";       // how the user calls this program
};

// "Files in DIRECTORY: ..."
std::string files_text(const PageEnd& end);

// A line for a shell: post on that trace with an option.
std::string next_command(const PageEnd& end, const char* option);

}  // namespace post

#endif  // POST_PAGE_END_H
