// SPDX-License-Identifier: MIT
// How the user names a file and this program in the next command.
#ifndef POST_OWN_NAME_H
#define POST_OWN_NAME_H

#include <string>

namespace post {

// The shortest path that works here: relative if the file is below the current directory.
std::string short_path(const std::string& path);

// "post" if a shell finds this program by that name, else its path.
std::string own_name();

}  // namespace post

#endif  // POST_OWN_NAME_H
