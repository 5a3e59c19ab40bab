// SPDX-License-Identifier: MIT
// Prints every tick of a process with its name from post: TIME ADDRESS MODULE SYMBOL, the address
// in hexadecimal. Usage: tick_names TRACE PID [POST-OPTION]...
#include <a2n_symbolizer.h>
#include <options/options.h>
#include <read/file_source.h>
#include <read/merge.h>
#include <state/processes.h>
#include <state/resolver.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <variant>
#include <vector>

namespace {

int fail(const std::string& problem) {
  std::fprintf(stderr, "tick_names: %s\n", problem.c_str());
  return 1;
}

int print_ticks(const post::Options& options, uint32_t pid) {
  auto source = post::FileSource::open(options.trace_file);
  if (!source) return fail(source.error().message);
  post::DamageLog damage;
  auto file = read_layout(**source, damage);
  if (!file) return fail(file.error().message);
  post::A2nSymbolizer symbolizer;
  const auto status = symbolizer.configure(*file, options.trace_file, options.symbols);
  if (!status) return fail(status.error().message);
  post::StringTable names;
  post::Processes processes(symbolizer, names);
  post::Resolver resolver(symbolizer, names, {}, 1 << 12);
  post::Merge merge(**source, *file, damage, post::Merge::Select::all);
  while (merge.next()) {
    const post::Stream& stream = merge.current();
    const pi::RecordView& record = stream.record();
    if (record.major() == PITRACE_MAJOR_MTE) processes.apply(record, stream.time());
    pi::TprofTick tick;
    if (!pi::decode_tprof(record, tick) || tick.pid != pid) continue;
    const post::Process& process = processes.at(pid, stream.time());
    const post::Place& place =
        resolver.find(process, *process.maps_version, tick.address, tick.user, stream.time());
    std::printf("%llu %llx %s %s\n", static_cast<unsigned long long>(stream.time()),
                static_cast<unsigned long long>(tick.address), names.text(place.module).c_str(),
                names.text(place.symbol).c_str());
  }
  return damage.any() ? fail("the trace is damaged") : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return fail("usage: tick_names TRACE PID [POST-OPTION]...");
  std::vector<std::string> words{"-r", argv[1]};
  words.insert(words.end(), argv + 3, argv + argc);
  auto options = post::parse_options(words);
  if (!std::holds_alternative<post::Options>(options)) return 1;
  return print_ticks(std::get<post::Options>(options),
                     static_cast<uint32_t>(std::strtoul(argv[2], nullptr, 10)));
}
