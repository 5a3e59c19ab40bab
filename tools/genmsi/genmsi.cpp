// SPDX-License-Identifier: MIT
// genmsi: writes the symbols of images, and of the modules that a trace names, to an MSI file.
#include <a2n.h>
#include <a2n_symbolizer.h>
#include <cli.h>
#include <read/file_source.h>
#include <read/merge.h>
#include <state/processes.h>
#include <text/text.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <variant>
#include <vector>

namespace {

namespace cli = pi::cli;

struct Options {
  std::vector<std::string> images;
  std::string trace;  // empty: none
  std::string output;
  post::SymbolOptions symbols;
};

cli::OptionTable option_table() {
  cli::OptionTable table(
      {"genmsi [OPTION]... [IMAGE]...",
       "Saves the symbols of each IMAGE (a program or library) and of each module of a trace in a "
       "file. 'post -lmrg' reads this file on a machine where the programs and libraries are not "
       "installed.",
       {"genmsi -r swtrace.nrm2 -o run1.msi", "genmsi -o release.msi bin/server lib/*.so",
        "genmsi -k vmlinux -o kernel.msi"},
       "Exit status: 0 done; 1 nothing was written; 3 the file was written, but the symbols of an "
       "IMAGE are missing or the trace is damaged; 255 wrong usage."});
  using cli::text;
  table.group("Options")(",o", text("FILE", "a2n.msi"), "write to FILE")(
      ",r", text("TRACE"), "save the modules of this trace")(
      ",k", text("KERNEL"), "save the symbols of this uncompressed kernel image (vmlinux)")(
      "kmap", text("MAP"), "save the kernel's symbols from this map (nm -a, genmap, System.map)")(
      "sympath", text("PATH"), "directories with files that have symbols, separated by ':'")(
      "verbose", "print the source of each module's symbols");
  table.positional("image", -1);
  return table;
}

int wrong(const std::string& text) {
  cli::error(text);
  cli::hint("genmsi --help lists the options.");
  return cli::exit_usage;
}

std::variant<Options, int> parse(const std::vector<std::string>& arguments) {
  const auto outcome = option_table().parse(arguments);
  if (outcome.exit) return *outcome.exit;
  const cli::Values& given = outcome.values;
  const auto text = [&](const char* name) {
    return given.has(name) ? given.text(name) : std::string();
  };
  Options options;
  if (given.has("image")) options.images = given.words("image");
  options.trace = text("-r");
  options.output = text("-o");
  options.symbols.kernel_image = text("-k");
  options.symbols.kernel_map = text("kmap");
  options.symbols.search_path = text("sympath");
  options.symbols.report_sources = given.has("verbose");
  if (options.images.empty() && options.trace.empty() && options.symbols.kernel_image.empty() &&
      options.symbols.kernel_map.empty())
    return wrong(
        "nothing to save is given. Give images, a trace with -r, or a kernel with -k or -kmap.");
  if (!options.symbols.kernel_image.empty() && !options.symbols.kernel_map.empty())
    return wrong("-k and -kmap cannot be used together: a file has the symbols of one kernel.");
  if (options.output.empty()) return wrong("-o: the file name is empty.");
  return options;
}

int fail(const std::string& text) {
  cli::error(text);
  return cli::exit_failure;
}

// Adds every module that the trace's records contain.
void read_modules(post::ByteSource& source, const post::TraceFile& file, post::DamageLog& damage,
                  post::A2nSymbolizer& symbolizer) {
  post::StringTable names;
  post::Processes processes(symbolizer, names);
  post::Merge merge(source, file, damage, post::Merge::Select::mte);
  while (merge.next()) {
    const post::Stream& stream = merge.current();
    if (stream.record().major() == PITRACE_MAJOR_MTE)
      processes.apply(stream.record(), stream.time());
  }
}

// Adds an image as if it were mapped; returns whether its symbols can be read.
bool add_image(const std::string& name) {
  // The address does not matter; each image only has to be a module.
  constexpr uint32_t pid = UINT32_MAX;
  constexpr uint64_t address = 0x10000;
  std::error_code problem;
  const std::string path = std::filesystem::canonical(name, problem).string();
  if (problem) {
    cli::warning(name + ": " + problem.message() + ".");
    return false;
  }
  SYMDATA data{};
  if (A2nAddModule(pid, address, 0x1000, path.c_str(), 0, 0) != A2N_SUCCESS) return false;
  if (A2nGetSymbol(pid, address, &data) != A2N_NO_SYMBOLS) return true;
  cli::warning(name + ": it has no symbols that can be saved.");
  return false;
}

void print_notes() {
  for (size_t i = 0; const char* note = A2nGetNote(i); ++i) {
    const std::string text = post::printable(note) + ".";
    if (A2nGetNoteLevel(i) == A2N_MESSAGES_INFO)
      pi::cli::to_stderr(fmt::format("genmsi: {}\n", text));
    else
      cli::warning(text);
  }
}

int run(const std::vector<std::string>& arguments) {
  auto parsed = parse(arguments);
  if (const int* status = std::get_if<int>(&parsed)) return *status;
  const Options& options = std::get<Options>(parsed);
  post::A2nSymbolizer symbolizer;
  post::DamageLog damage;
  post::TraceFile file;
  std::unique_ptr<post::FileSource> source;
  if (!options.trace.empty()) {
    auto opened = post::FileSource::open(options.trace);
    if (!opened) return fail(opened.error().message);
    source = std::move(*opened);
    auto layout = post::read_layout(*source, damage);
    if (!layout) return fail(options.trace + ": " + layout.error().message);
    file = std::move(*layout);
  }
  if (const auto status = symbolizer.configure(file, options.trace, options.symbols); !status)
    return fail(status.error().message);
  if (source) read_modules(*source, file, damage, symbolizer);
  size_t missing = 0;
  for (const std::string& image : options.images) missing += add_image(image) ? 0 : 1;
  if (missing != 0 && missing == options.images.size() && !source &&
      options.symbols.kernel_image.empty() && options.symbols.kernel_map.empty()) {
    print_notes();
    return fail("nothing is saved: no image has symbols.");
  }
  const int rc = A2nCreateMsiFile(options.output.c_str());
  print_notes();
  if (rc != A2N_SUCCESS)
    return fail(fmt::format("cannot write {}: {}.", options.output,
                            *A2nGetErrorText() ? A2nGetErrorText() : A2nRcToString(rc)));
  for (const std::string& message : damage.messages())
    cli::warning(options.trace + ": " + message + ".");
  return missing != 0 || damage.any() ? cli::exit_damaged : cli::exit_good;
}

int run_within_memory(const std::vector<std::string>& arguments) {
  try {
    return run(arguments);
  } catch (const std::bad_alloc&) {
    return fail("out of memory; save fewer modules at a time.");
  }
}

}  // namespace

int main(int count, char** words) {
  return cli::run_tool("genmsi", count, words, run_within_memory);
}
