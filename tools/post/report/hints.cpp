// SPDX-License-Identifier: MIT
// Advice on programs with many ticks that have no name.
#include "hints.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pitrace/abi.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <set>
#include <string_view>

#include "text/labels.h"
#include "text/text.h"

namespace post {
namespace {

constexpr uint64_t percent_without_hint = 5;
constexpr uint64_t few_ticks = 5;  // no hint for fewer ticks without a name
constexpr size_t max_hints = 5;
constexpr size_t max_files = 3;  // maximum number of files that a hint names

// ---- kinds of programs -------------------------------------------------------------------------

// A runtime: the name of its file, and the option that makes it log the names of compiled code.
struct Runtime {
  std::string_view file;       // the beginning of its file's name
  unsigned minor_version = 0;  // that follows ".", at least this
  std::string_view advice;
  std::string_view brief;
};

constexpr Runtime runtimes[] = {
    {"node", 0,
     "start node with --perf-basic-prof (or --perf-prof) for the names of JavaScript functions",
     "start node with --perf-basic-prof"},
    {"libnode.so", 0,
     "start node with --perf-basic-prof (or --perf-prof) for the names of JavaScript functions",
     "start node with --perf-basic-prof"},
    {"libjvm.so", 0,
     "load JProf into Java for the names of its methods: 'run.tprof -- java ...' does, as does "
     "java -agentpath:.../libjprof.so=tprof (see jprof(7))",
     "load JProf, as 'run.tprof -- java ...' does"},
    {"libcoreclr.so", 0,
     "set DOTNET_PerfMapEnabled=1 in the environment of .NET for the names of its methods",
     "set DOTNET_PerfMapEnabled=1"},
    {"python3", 12, "start it as 'python3 -X perf' for the names of Python functions",
     "start it as 'python3 -X perf'"},
    {"libpython3", 12, "start it as 'python3 -X perf' for the names of Python functions",
     "start it as 'python3 -X perf'"},
};

constexpr Runtime unknown_runtime = {
    "", 0,
    "it executes code that is in no file; if its runtime can write /tmp/perf-PID.map or a jitdump "
    "file, let it do so",
    "let its runtime write /tmp/perf-PID.map"};

// Packages whose debug symbols are not in PACKAGE-dbgsym.
struct DebugPackage {
  std::string_view package;  // its beginning
  bool whole;                // ... is its whole name
  std::string_view debug;    // "": the name up to the first "-", without "lib", and "-dbg"
};
constexpr DebugPackage debug_packages[] = {
    {"libc6", true, "libc6-dbg"},
    {"libc-bin", true, "libc6-dbg"},
    {"python3.", false, ""},
    {"libpython3.", false, ""},
};

std::string debug_package(std::string_view package) {
  for (const DebugPackage& known : debug_packages) {
    if (known.whole ? package != known.package : !package.starts_with(known.package)) continue;
    if (!known.debug.empty()) return std::string(known.debug);
    if (package.starts_with("lib")) package.remove_prefix(3);
    return fmt::format("{}-dbg", package.substr(0, package.find('-')));
  }
  return fmt::format("{}-dbgsym", package);
}

// Distributions have these packages in an archive of their own.
bool is_in_debug_archive(const std::string& package) {
  return package.ends_with("-dbgsym");
}

// ---- ticks of a program without a name ---------------------------------------------------------

struct Program {
  uint64_t ticks = 0;
  uint64_t generated = 0;                 // without a name, outside of files
  uint64_t kernel = 0;                    // without a name, in the kernel, but not in its modules
  std::map<std::string, uint64_t> files;  // ticks without a name, by path
  // The same in files that a note reports as not used.
  std::map<std::string, uint64_t> refused;
  std::set<std::string> modules;  // all

  uint64_t refused_ticks() const { return sum(refused); }
  uint64_t unnamed() const { return generated + kernel + sum(files) + sum(refused); }

 private:
  static uint64_t sum(const std::map<std::string, uint64_t>& ticks_by_path) {
    uint64_t all = 0;
    for (const auto& [path, some] : ticks_by_path) all += some;
    return all;
  }
};

bool is_file(std::string_view module) {
  return module.starts_with('/') && !module.starts_with("//") && !module.starts_with("/memfd:") &&
         !module.starts_with("/dev/zero") && !module.starts_with("/SYSV");
}

// Memory in which runtimes put code; not the kernel, whose modules have plain names.
bool may_be_generated(const Leaf& leaf, std::string_view module) {
  return leaf.found == Found::no_module || module.starts_with('/') || module.starts_with('[') ||
         module.starts_with("anon_inode:");
}

std::map<std::string, Program> count(const SampleTree& tree, const StringTable& names,
                                     const LabelOptions& labels,
                                     const std::vector<std::string>& notes) {
  // Other notes are about files that are used in part.
  const auto is_refused = [&notes](const std::string& module) {
    return std::ranges::any_of(notes, [begin = module + ":"](const std::string& note) {
      return note.starts_with(begin) && (note.find("symbols not used") != note.npos ||
                                         note.find("no symbols for it") != note.npos);
    });
  };
  std::map<std::string, Program> programs;
  for (const Leaf& leaf : tree.leaves()) {
    if (leaf.ticks == 0) continue;
    const auto text = [&](Level level) -> const std::string& {
      return names.text(static_cast<NameId>(leaf.path[static_cast<size_t>(level)]));
    };
    const std::string& module = text(Level::module);
    Program& program = programs[process_base_name(text(Level::process), labels)];
    program.ticks += leaf.ticks;
    program.modules.insert(module);
    if (leaf.found == Found::symbol) continue;
    if (is_refused(module))
      program.refused[module] += leaf.ticks;
    else if (leaf.found != Found::no_module && is_file(module))
      program.files[module] += leaf.ticks;
    else if (module == PITRACE_KERNEL_NAME)
      program.kernel += leaf.ticks;
    else if (may_be_generated(leaf, module))
      program.generated += leaf.ticks;
  }
  return programs;
}

// ---- sentences ---------------------------------------------------------------------------------

std::string_view last_component(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool is_runtime(std::string_view file, const Runtime& runtime) {
  if (!file.starts_with(runtime.file)) return false;
  file.remove_prefix(runtime.file.size());
  if (runtime.minor_version == 0) return file.empty() || file.starts_with('.');
  unsigned minor = 0;
  return file.starts_with('.') &&
         std::from_chars(file.data() + 1, file.data() + file.size(), minor).ec == std::errc() &&
         minor >= runtime.minor_version;
}

const Runtime* runtime_of(const Program& program) {
  for (const Runtime& runtime : runtimes)
    for (const std::string& module : program.modules)
      if (is_file(module) && is_runtime(last_component(module), runtime)) return &runtime;
  return nullptr;
}

// The files with most of these ticks, at most max_files.
std::vector<std::string> hottest_files(const std::map<std::string, uint64_t>& ticks_by_path) {
  std::vector<std::pair<uint64_t, std::string>> files;
  for (const auto& [path, ticks] : ticks_by_path) files.emplace_back(ticks, path);
  std::ranges::sort(files, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  if (files.size() > max_files) files.resize(max_files);
  std::vector<std::string> paths;
  for (auto& [ticks, path] : files) paths.push_back(std::move(path));
  return paths;
}

struct Advice {
  std::string text;
  std::string brief;
};

Advice advice_on_files(const std::vector<std::string>& files, const Packages& packages) {
  std::set<std::string> wanted;
  for (const std::string& file : files)
    if (const auto found = packages.find(file); found != packages.end())
      wanted.insert(debug_package(printable(found->second)));
  std::string text =
      fmt::format("{} {} symbols: ", fmt::join(files, ", "), files.size() == 1 ? "lacks" : "lack");
  if (!wanted.empty())
    return {text + fmt::format(
                       "install {}{}, or set DEBUGINFOD_URLS for post", fmt::join(wanted, ", "),
                       std::ranges::any_of(wanted, is_in_debug_archive)
                           ? " (-dbgsym packages: from the distribution's archive of debug symbols)"
                           : ""),
            fmt::format("install {}", fmt::join(wanted, ", "))};
  return {text +
              "name the directory of files with symbols, or of debug files, with post -sympath, or "
              "set DEBUGINFOD_URLS for post",
          fmt::format("{} lacks symbols", last_component(files.front()))};
}

Advice advice_on_kernel() {
  return {
      "the trace lacks symbols of the kernel: 'swtrace check' tells why they cannot be recorded, "
      "and "
      "post -kmap takes them from the System.map of that kernel",
      "no symbols of the kernel: see 'swtrace check'"};
}

Advice advice_on_refused(const std::string& file) {
  return {
      fmt::format("the line \"Symbols\" about {} has the reason; if the file was visible only to "
                  "its process, profile it while it runs (run.tprof -p PID), or name the "
                  "directory of its files with post -nv -sympath DIR, which does not check them",
                  printable(file)),
      fmt::format("no symbols of {}", printable(last_component(file)))};
}

}  // namespace

std::vector<std::string> files_without_names(const SampleTree& tree, const StringTable& names) {
  std::set<std::string> files;
  for (const Leaf& leaf : tree.leaves()) {
    const std::string& module =
        names.text(static_cast<NameId>(leaf.path[static_cast<size_t>(Level::module)]));
    if (leaf.ticks != 0 && has_no_symbol(leaf.found) && is_file(module)) files.insert(module);
  }
  return {files.begin(), files.end()};
}

std::vector<Hint> make_hints(const SampleTree& tree, const StringTable& names,
                             const LabelOptions& labels, const std::vector<std::string>& notes,
                             const FindPackages& find_packages, const std::set<std::string>& own) {
  std::vector<Hint> hints;
  std::map<std::string, std::vector<std::string>> files;  // by program
  const auto programs = count(tree, names, labels, notes);
  for (const auto& [name, program] : programs) {
    // Records about it were lost: it is not known what it ran.
    if (name == unnamed_process) continue;
    const uint64_t unnamed = program.unnamed();
    if (unnamed < few_ticks || unnamed * 100 <= program.ticks * percent_without_hint) continue;
    hints.push_back({name, program.ticks, unnamed, "", ""});
  }
  std::ranges::sort(hints, [&own](const Hint& a, const Hint& b) {
    const bool a_is_own = own.contains(a.program), b_is_own = own.contains(b.program);
    if (a_is_own != b_is_own) return a_is_own;
    return a.unnamed != b.unnamed ? a.unnamed > b.unnamed : a.program < b.program;
  });
  if (hints.size() > max_hints) hints.resize(max_hints);
  std::set<std::string> paths;
  for (const Hint& hint : hints) {
    files[hint.program] = hottest_files(programs.at(hint.program).files);
    paths.insert(files[hint.program].begin(), files[hint.program].end());
  }
  const Packages packages =
      paths.empty() ? Packages() : find_packages({paths.begin(), paths.end()});
  for (Hint& hint : hints) {
    const Program& program = programs.at(hint.program);
    const Runtime* runtime = runtime_of(program);
    if (!runtime && program.generated * 100 > program.ticks * percent_without_hint)
      runtime = &unknown_runtime;
    std::vector<std::string> advice;
    if (runtime) {
      advice.emplace_back(runtime->advice);
      hint.brief = runtime->brief;
    }
    if (!files[hint.program].empty()) {
      Advice on_files = advice_on_files(files[hint.program], packages);
      advice.push_back(std::move(on_files.text));
      if (!runtime) hint.brief = std::move(on_files.brief);
    }
    if (program.refused_ticks() * 100 > program.ticks * percent_without_hint) {
      Advice on_refused = advice_on_refused(hottest_files(program.refused).front());
      advice.push_back(std::move(on_refused.text));
      if (hint.brief.empty()) hint.brief = std::move(on_refused.brief);
    }
    if (program.kernel * 100 > program.ticks * percent_without_hint) {
      Advice on_kernel = advice_on_kernel();
      advice.push_back(std::move(on_kernel.text));
      if (hint.brief.empty()) hint.brief = std::move(on_kernel.brief);
    }
    if (advice.empty()) continue;
    advice.front().front() = static_cast<char>(std::toupper(advice.front().front()));
    const std::string share = fmt::format(
        "{:.0f} %", 100.0 * static_cast<double>(hint.unnamed) / static_cast<double>(hint.ticks));
    hint.text = fmt::format("{} of the ticks of {} have no name. {}.", share,
                            printable(hint.program), fmt::join(advice, "; "));
    hint.brief = fmt::format("{} of {} has no name: {} (see tprof.out).", share,
                             printable(hint.program), hint.brief);
  }
  std::erase_if(hints, [](const Hint& hint) { return hint.text.empty(); });
  return hints;
}

}  // namespace post
