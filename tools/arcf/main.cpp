// SPDX-License-Identifier: MIT
// arcf: reduces an arc, the report of an instruction trace, to call trees with instruction counts.
#include <cli.h>
#include <fcntl.h>
#include <pi/files.h>
#include <pi/unique_fd.h>
#include <text/text.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

#include "arc_line.h"
#include "report.h"

namespace {

namespace cli = pi::cli;

constexpr size_t longest_line = 1 << 20;  // bytes; names are far shorter

cli::OptionTable option_table() {
  cli::OptionTable table(
      {"arcf [OPTION]...",
       "Reduces an arc, as post -arc writes it of an instruction trace, to the call tree of each "
       "thread, with numbers of calls and of instructions.",
       {"arcf", "arcf -F run1/arc -r 2", "arcf --folded | flamegraph.pl > flow.svg"},
       "Exit status: 0 good; 1 the arc cannot be read or contains no lines; 3 malformed lines were "
       "left out; 255 wrong usage."});
  using cli::text;
  table.group("Options")(",F", text("FILE", "arc"), "the arc; - is standard input")(
      ",t", text("TYPE", "itrace"), "the kind of trace: only itrace is supported")(
      ",r", text("REPORT", "1"), "1 the call tree, 2 the functions by instructions")(
      "clip", text("PERCENT", "0"), "hide rows below PERCENT of their thread's instructions")(
      "json", "the call tree as JSON")("folded",
                                       "the call tree as folded stacks, for flame graphs");
  return table;
}

int wrong(const std::string& text) {
  cli::error(text);
  cli::hint("arcf --help lists the options.");
  return cli::exit_usage;
}

class Reader {
 public:
  Reader(arcf::ArcCalls& flow, arcf::Source& source) : flow_(flow), source_(source) {}

  // False with errno when it cannot be read.
  bool read(int fd) {
    std::string pending;
    std::string buffer(longest_line, '\0');
    for (;;) {
      const auto got = pi::read_on(fd, std::as_writable_bytes(std::span(buffer)));
      errno = got.error;
      if (got.error != 0) return false;
      if (got.bytes == 0) break;
      source_.bytes += got.bytes;
      take(std::string_view(buffer).substr(0, got.bytes), pending);
    }
    if (!pending.empty()) take_line(pending);
    return true;
  }

 private:
  // pending: the beginning of a line whose end has not been read.
  void take(std::string_view text, std::string& pending) {
    for (size_t end; (end = text.find('\n')) != std::string_view::npos;
         text.remove_prefix(end + 1)) {
      if (pending.empty()) {
        take_line(text.substr(0, end));
        continue;
      }
      pending += text.substr(0, end);
      take_line(pending);
      pending.clear();
    }
    // Text longer than any line is malformed, wherever it ends.
    if (pending.size() < longest_line) pending += text;
  }

  void take_line(std::string_view text) {
    post::ArcLine line;
    switch (arcf::parse_line(text, line)) {
      case arcf::Parsed::line:
        ++source_.lines;
        flow_.add(line);
        break;
      case arcf::Parsed::malformed:
        ++source_.malformed;
        break;
      case arcf::Parsed::nothing:
        break;
    }
  }

  arcf::ArcCalls& flow_;
  arcf::Source& source_;
};

int print(const std::string& text, const arcf::Source& source) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (source.malformed != 0)
    cli::warning(fmt::format("{}: {} lines are malformed; the report covers the other {}.",
                             source.file, source.malformed, source.lines));
  return cli::printed(source.malformed == 0 ? cli::exit_good : cli::exit_damaged);
}

int run(const std::vector<std::string>& arguments) {
  const auto outcome = option_table().parse(arguments);
  if (outcome.exit) return *outcome.exit;
  const cli::Values& given = outcome.values;
  const auto text = [&](const char* name) { return given.text(name); };
  if (text("-t") != "itrace") return wrong("-t takes itrace, not '" + text("-t") + "'.");
  if (text("-r") != "1" && text("-r") != "2")
    return wrong("-r takes 1 or 2, not '" + text("-r") + "'.");
  const auto percent = post::percent_from(text("clip"));
  if (!percent) return wrong("-clip takes a percentage from 0 to 100, not '" + text("clip") + "'.");
  const bool json = given.has("json");
  const bool folded = given.has("folded");
  if (json && folded) return wrong("--json and --folded do not go together.");
  arcf::Source source;
  source.file = text("-F");
  const pi::UniqueFd fd(source.file == "-" ? ::dup(STDIN_FILENO)
                                           : ::open(source.file.c_str(), O_RDONLY | O_CLOEXEC));
  arcf::ArcCalls flow;
  if (!fd || !Reader(flow, source).read(fd.get())) {
    cli::error(fmt::format("cannot read {}: {}.", source.file, std::strerror(errno)));
    if (errno == ENOENT) cli::hint("post -arc writes an arc; -F names its file.");
    return cli::exit_failure;
  }
  if (source.lines == 0) {
    cli::error(fmt::format("{} contains no lines of an arc.", source.file));
    cli::hint("post -arc writes an arc of an instruction trace.");
    return cli::exit_failure;
  }
  if (json) return print(json_text(flow, source), source);
  if (folded) return print(folded_text(flow, source), source);
  return print(
      text("-r") == "1" ? tree_text(flow, source, *percent) : function_text(flow, source, *percent),
      source);
}

int run_within_memory(const std::vector<std::string>& arguments) {
  try {
    return run(arguments);
  } catch (const std::bad_alloc&) {
    cli::error("out of memory: the arc has too many different ways through its functions.");
    return cli::exit_failure;
  } catch (const arcf::TooLarge& problem) {
    cli::error(fmt::format(
        "the report would take more than {} MB, since the calls are deep and their names long.",
        problem.most >> 20));
    cli::hint("arcf --json lists the same tree without repeating the callers of each call.");
    return cli::exit_failure;
  }
}

}  // namespace

int main(int count, char** words) {
  return cli::run_tool("arcf", count, words, run_within_memory);
}
