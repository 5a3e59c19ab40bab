// SPDX-License-Identifier: MIT
// genmap: writes the symbol map of an image, in the form of nm -a.
#include <cli.h>
#include <pi/files.h>
#include <pi/new_file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "symbol_map.h"

namespace {

namespace cli = pi::cli;

cli::OptionTable option_table() {
  cli::OptionTable table(
      {"genmap [OPTION]... IMAGE",
       "Writes the symbol map of a program, a library or a kernel image "
       "(vmlinux): a line \"ADDRESS TYPE NAME\" for each symbol, as nm -a does. "
       "post -kmap reads such maps.",
       {"genmap vmlinux -o kernel.map", "genmap -n -D /bin/bash | less"},
       "Exit status: 0 done; 1 the image has no symbols or cannot be read, or the "
       "map cannot be written; 255 wrong usage."});
  table.group("Options")(",o", cli::text("FILE"), "write to FILE, not to the standard output")(
      ",n", "sort by address, not by name")(",D", "write the exported symbols (.dynsym)")(
      "defined-only", "leave undefined symbols out");
  table.positional("image", 1);
  return table;
}

int fail(const std::string& text) {
  cli::error(text);
  return cli::exit_failure;
}

std::string map_text(genmap::SymbolMap map, bool by_address) {
  if (by_address)
    std::stable_sort(map.symbols.begin(), map.symbols.end(),
                     [](const auto& a, const auto& b) { return a.value < b.value; });
  std::string text;
  for (const genmap::MapSymbol& symbol : map.symbols) text += genmap::map_line(symbol, map.is_64);
  return text;
}

// The file gets its name when it is complete.
int write_file(const std::string& path, const std::string& text) {
  auto file = pi::NewFile::create(path, ".genmap-", 0666, pi::Umask::applied);
  if (!file) return fail(fmt::format("cannot write {}: {}.", path, file.error().message));
  int reason = pi::write_all(file->fd(), pi::text_bytes(text));
  if (reason == 0) reason = file->commit();
  if (reason == 0) return cli::exit_good;
  return fail(fmt::format("cannot write {}: {}.", path, std::strerror(reason)));
}

int run(const std::vector<std::string>& arguments) {
  const auto outcome = option_table().parse(arguments);
  if (outcome.exit) return *outcome.exit;
  const cli::Values& given = outcome.values;
  if (!given.has("image")) {
    cli::error("no image is given.");
    cli::hint("genmap --help lists the options.");
    return cli::exit_usage;
  }
  const auto map =
      genmap::read_map(given.words("image").front(), given.has("-D"), given.has("defined-only"));
  if (!map) return fail(map.error().message);
  const std::string text = map_text(*map, given.has("-n"));
  if (given.has("-o")) return write_file(given.text("-o"), text);
  const int reason = pi::write_all(STDOUT_FILENO, pi::text_bytes(text));
  if (reason == 0 || reason == EPIPE) return cli::exit_good;
  return fail(fmt::format("cannot write to the standard output: {}.", std::strerror(reason)));
}

}  // namespace

int main(int count, char** words) {
  return cli::run_tool("genmap", count, words, run);
}
