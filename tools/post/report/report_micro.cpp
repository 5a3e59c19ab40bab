// SPDX-License-Identifier: MIT
// Writes tprof.micro: ticks by instruction, with the code and its source lines.
#include "report_micro.h"

#include <disassembler.h>
#include <fmt/format.h>
#include <pi/hex.h>

#include <algorithm>
#include <span>
#include <string>

#include "analysis/micro.h"
#include "report_head.h"
#include "text/text.h"

namespace post {
namespace {

using Bytes = std::span<const std::byte>;

constexpr size_t bytes_a_line = 16;
constexpr size_t bytes_an_instruction = 8;  // those that are shown
constexpr const char* procedure_table = "<plt>";

constexpr const char* legend =
    " ### MOD  ticks  %  name\n"
    " ### SYM  ticks  %  name  start  size(hex)\n"
    " F: source file of the lines below\n"
    " T: offset(hex)  line  ticks  [function that was inlined there]\n";
constexpr const char* legend_code = " C: offset(hex)  bytes of code\n";
constexpr const char* legend_instructions =
    " I: ticks  offset(hex)  bytes of code  instruction\n"
    "    NotAligned: ticks fell on addresses inside the instruction\n";

class Writer {
 public:
  Writer(const Summary& summary, Sink& sink)
      : summary_(summary), micro_(*summary.find<Micro>()), sink_(sink) {}

  bool write() {
    put(report_head(summary_, "Tprof Micro Report"));
    put(fmt::format("\n TOTAL TICKS {:>14}\n\n{}{}", micro_.ticks(), legend,
                    summary_.options.disassembly ? legend_instructions : legend_code));
    for (const Micro::Module& module : micro_.modules()) {
      put(fmt::format("\n### MOD {:>6} {:5.2f} {}\n", module.ticks,
                      percent(module.ticks, micro_.ticks()), name(module.name)));
      for (const Micro::Function* function : module.functions)
        if (name(function->symbol) != procedure_table) put_function(*function);
    }
    put('\n' + report_end(summary_));
    return good_;
  }

 private:
  void put(const std::string& text) { good_ = sink_.write(text) && good_; }
  const std::string& name(NameId id) const { return summary_.names.text(id); }

  void put_function(const Micro::Function& function) {
    const Code code = micro_.code(function);
    put(fmt::format("\n### SYM {:>6} {:5.2f} {} {:x} {:x}\n", function.ticks,
                    percent(function.ticks, micro_.ticks()), name(function.symbol), function.start,
                    code.bytes.size()));
    put_lines(function);
    if (code.bytes.empty())
      put(" SorryNoSymbols=>NoCode\n");
    else if (summary_.options.disassembly)
      put_instructions(function, code.bytes);
    else
      put_bytes(code.bytes);
  }

  void put_lines(const Micro::Function& function) {
    std::string file;
    for (const auto& [offset, ticks] : function.by_offset) {
      const SourceLine line = micro_.line(function, offset);
      if (line.file != file) {
        file = line.file;
        put(fmt::format(" F: {}\n", file.empty() ? "?" : file));
      }
      put(fmt::format(" T: {:>6x} {:>6} {:>6}{}{}\n", offset, line.line, ticks,
                      line.function.empty() ? "" : "  ", line.function));
    }
  }

  void put_bytes(Bytes bytes) {
    for (size_t at = 0; at < bytes.size(); at += bytes_a_line)
      put(fmt::format(" C: {:>6x} {}\n", at,
                      pi::to_hex(bytes.subspan(at, std::min(bytes_a_line, bytes.size() - at)))));
  }

  void put_instructions(const Micro::Function& function, Bytes bytes) {
    const pi::Disassembler& disassembler = function.narrow ? narrow_ : wide_;
    auto tick = function.by_offset.begin();
    for (size_t at = 0; at < bytes.size();) {
      const uint64_t address = function.start + at;
      const Bytes rest = bytes.subspan(at);
      const size_t length = disassembler.decode(rest, address).length;
      uint64_t ticks = 0;
      bool aligned = true;
      for (; tick != function.by_offset.end() && tick->first < at + length; ++tick) {
        ticks += tick->second;
        aligned = aligned && tick->first == at;
      }
      put(fmt::format(" I: {:>6} {:>6x} {:<{}}  {}{}\n", ticks == 0 ? "-" : std::to_string(ticks),
                      at, pi::to_hex(rest.first(std::min(length, bytes_an_instruction))),
                      2 * bytes_an_instruction, disassembler.text(rest, address),
                      aligned ? "" : "  NotAligned"));
      at += length;
    }
  }

  const Summary& summary_;
  const Micro& micro_;
  Sink& sink_;
  const pi::Disassembler wide_{true};
  const pi::Disassembler narrow_{false};
  bool good_ = true;
};

}  // namespace

std::unique_ptr<Subscriber> make_micro(const ReportContext& context, Sink*) {
  Micro::Options options{context.options.report.labels, context.options.report.micro_by_thread,
                         context.frames()};
  options.cache_entries = context.cache_entries(options.cache_entries);
  return std::make_unique<Micro>(context.processes, context.symbolizer, context.names, options);
}

bool write_micro(const Summary& summary, Sink& sink) {
  return Writer(summary, sink).write();
}

}  // namespace post
