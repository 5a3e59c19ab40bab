// SPDX-License-Identifier: MIT
// Finds the Debian packages that own files, in dpkg's lists.
#ifndef POST_DEBIAN_PACKAGES_H
#define POST_DEBIAN_PACKAGES_H

#include <map>
#include <string>
#include <vector>

namespace post {

// Packages by the paths of their files.
using Packages = std::map<std::string, std::string>;

constexpr char dpkg_lists[] = "/var/lib/dpkg/info";

// Returns the packages that own these files, from dpkg's lists in directory. A file that no package
// owns is omitted; without dpkg the result is empty. No program is executed.
Packages find_packages(const std::vector<std::string>& paths,
                       const std::string& directory = dpkg_lists);

// Convert packages to lines "PACKAGE PATH", as archives contain them, and back. Other lines are
// ignored.
std::string packages_text(const Packages& packages);
Packages parse_packages(const std::string& text);

}  // namespace post

#endif  // POST_DEBIAN_PACKAGES_H
