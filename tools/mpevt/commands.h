// SPDX-License-Identifier: MIT
// What mpevt does, with the words and options of its command line; each returns an exit status.
#ifndef PI_MPEVT_COMMANDS_H
#define PI_MPEVT_COMMANDS_H

#include <string>
#include <vector>

namespace pi::mpevt {

struct Wanted {
  std::string command;
  std::vector<std::string> events;
  std::vector<std::string> files;  // of definitions, named by the user
  std::string privilege = "both";
  bool json = false;
};

// start, stop, reset, read, term
bool is_counting_command(const std::string& name);
int run_counting(const Wanted& wanted);

enum class Listing { names, descriptions, sampling };
int list_events(Listing listing, bool json);

// Makes the events known that the user and the system have defined; those of files that the user
// did not name himself are left out with a warning where they are wrong. False, with a message: a
// file that he named is wrong. loaded becomes the absolute names of those read.
bool load_definitions(const std::vector<std::string>& files, std::vector<std::string>& loaded);

}  // namespace pi::mpevt

#endif  // PI_MPEVT_COMMANDS_H
