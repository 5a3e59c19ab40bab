// SPDX-License-Identifier: MIT
// The end of the page on standard output: the files of the run, and a suggested next command.
#include "page_end.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "text/text.h"

namespace post {
namespace {

// The text as one word of a shell's command line, without control characters.
std::string shell_word(const std::string& text) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,:+@%=-";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  const bool escaped = printable(text) != text;
  std::string word = escaped ? "$'" : "'";
  for (const char c : text) {
    if (escaped && (c == '\'' || c == '\\'))
      word += std::string("\\") + c;
    else if (escaped && (c < ' ' || c > '~'))
      word += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      word += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return word + "'";
}

std::string selection_words(const PageEnd& end) {
  std::string words;
  for (const std::string& word : end.selection) words += " " + shell_word(word);
  return words;
}

}  // namespace

std::string files_text(const PageEnd& end) {
  const std::string prefix = end.directory == "." ? "" : end.directory + "/";
  std::vector<std::string> names;
  for (const std::string& file : end.files)
    names.push_back(file.starts_with(prefix) ? file.substr(prefix.size()) : file);
  const bool there = end.trace.starts_with(prefix);
  if (there) names.push_back(end.trace.substr(prefix.size()));
  return printable(fmt::format("Files{}: {}{}", prefix.empty() ? "" : " in " + end.directory,
                               fmt::join(names, ", "), there ? "" : "; trace: " + end.trace));
}

std::string next_command(const PageEnd& end, const char* option) {
  std::string command = shell_word(end.post);
  if (end.trace != "swtrace.nrm2") command += " -r " + shell_word(end.trace);
  if (end.directory != ".") command += " -o " + shell_word(end.directory);
  return command + " " + option + selection_words(end);
}

std::string top_command(const PageEnd& end, const std::optional<uint32_t>& subject) {
  std::string command = shell_word(end.post) + " top";
  if (end.trace != "swtrace.nrm2") command += " -r " + shell_word(end.trace);
  // A second --command would select more, not less.
  const bool chosen = std::ranges::any_of(
      end.selection, [](const std::string& word) { return word.starts_with("--command="); });
  if (subject && !chosen) command += fmt::format(" --command {}", *subject);
  return command + selection_words(end);
}

}  // namespace post
