// SPDX-License-Identifier: MIT
// A table of AboveIdle, which needs no trace: how busy each CPU was, over time.
#ifndef POST_HTML_AI_TABLE_H
#define POST_HTML_AI_TABLE_H

#include <optional>
#include <string_view>

#include "html_tables.h"

namespace post {

// Of what swtrace ai -json has printed; nothing if the text is something else. What is wrong in it
// becomes a std::runtime_error.
std::optional<HtmlTable> ai_table(std::string_view text);

}  // namespace post

#endif  // POST_HTML_AI_TABLE_H
