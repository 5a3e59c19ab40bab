// SPDX-License-Identifier: MIT
// The template of the HTML page, which is part of the program.
#include "page/embedded.h"

// In template.S.
extern "C" __attribute__((visibility("hidden"))) const char page_template_begin[],
    page_template_end[];

namespace post {

std::string_view html_template() {
  return {page_template_begin, page_template_end};
}

}  // namespace post
