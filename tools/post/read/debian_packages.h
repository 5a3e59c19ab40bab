// SPDX-License-Identifier: MIT
// The Debian packages that files belong to.
#ifndef POST_DEBIAN_PACKAGES_H
#define POST_DEBIAN_PACKAGES_H

#include <map>
#include <string>
#include <vector>

namespace post {

// Packages by the paths of their files.
using Packages = std::map<std::string, std::string>;

constexpr char dpkg_lists[] = "/var/lib/dpkg/info";

// The packages that own these files, from the lists that dpkg keeps in directory. A file that no
// package owns is left out; so are all where there is no dpkg. Nothing is executed.
Packages find_packages(const std::vector<std::string>& paths,
                       const std::string& directory = dpkg_lists);

// Lines "PACKAGE PATH", as archives contain them, and back. Lines of another form are left out.
std::string packages_text(const Packages& packages);
Packages parse_packages(const std::string& text);

}  // namespace post

#endif  // POST_DEBIAN_PACKAGES_H
