// SPDX-License-Identifier: MIT
// Tables of JProf's reports on the locks and the heap of a Java virtual machine.
#ifndef POST_HTML_JVM_TABLES_H
#define POST_HTML_JVM_TABLES_H

#include <optional>
#include <string_view>
#include <vector>

#include "html_tables.h"

namespace post {

// The largest file: it has some 100 bytes for each monitor or class.
constexpr size_t max_jvm_report_bytes = size_t{64} << 20;

// Of a log-jlm in JSON, or of what hdump --json has printed of one dump; nothing if the text is
// neither. What is wrong in it becomes a std::runtime_error.
std::optional<std::vector<HtmlTable>> jvm_tables(std::string_view text);

}  // namespace post

#endif  // POST_HTML_JVM_TABLES_H
