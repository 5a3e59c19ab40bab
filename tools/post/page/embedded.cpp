// SPDX-License-Identifier: MIT
// The template of the HTML page, which is part of the program.
#include "page/embedded.h"

// The linker's names for the file, see CMakeLists.txt.
extern "C" const char _binary_template_html_start[], _binary_template_html_end[];

namespace post {

std::string_view html_template() {
  return {_binary_template_html_start, _binary_template_html_end};
}

}  // namespace post
