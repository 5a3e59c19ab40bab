// SPDX-License-Identifier: MIT
// The commands of mpevt; each returns an exit status.
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

// Loads definitions of events. If one of the usual files is wrong, it is ignored with a warning. If
// one of `files`, which the user named, is wrong, this prints a message and returns false. loaded
// gets the absolute names of the files read.
bool load_definitions(const std::vector<std::string>& files, std::vector<std::string>& loaded);

}  // namespace pi::mpevt

#endif  // PI_MPEVT_COMMANDS_H
