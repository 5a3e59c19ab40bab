// SPDX-License-Identifier: MIT
// The template of the HTML page, which is part of the program.
#ifndef POST_EMBEDDED_H
#define POST_EMBEDDED_H

#include <string_view>

namespace post {

// The contents of template.html.
std::string_view html_template();

}  // namespace post

#endif  // POST_EMBEDDED_H
