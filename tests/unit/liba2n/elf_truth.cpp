// SPDX-License-Identifier: MIT
// Reads an ELF file with binutils, as the reference for liba2n.
#include "elf_truth.h"

#include <cstdio>
#include <sstream>
#include <stdexcept>

namespace truth {
namespace {

constexpr char function_types[] = "TtWwi";

std::vector<std::vector<std::string>> table(const std::string& command) {
  std::istringstream lines(run(command));
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::vector<std::string> row;
    for (std::string word; words >> word;) row.push_back(word);
    rows.push_back(row);
  }
  return rows;
}

uint64_t hex(const std::string& text) {
  return std::stoull(text, nullptr, 16);
}

}  // namespace

std::string run(const std::string& command) {
  FILE* pipe = ::popen(command.c_str(), "r");
  if (!pipe) throw std::runtime_error("cannot run " + command);
  std::string output;
  char buffer[4096];
  for (size_t got = 0; (got = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;)
    output.append(buffer, got);
  if (::pclose(pipe) != 0) throw std::runtime_error("failed: " + command);
  return output;
}

std::vector<NmSymbol> functions(const std::string& file, bool dynamic) {
  const auto sections = code_sections(file);
  std::vector<NmSymbol> symbols;
  const std::string option = dynamic ? " --dynamic " : " ";
  // "name type value [size]"
  for (const auto& row : table("nm --format=posix --defined-only" + option + file)) {
    if (row.size() < 3 || std::string(function_types).find(row[1]) == std::string::npos) continue;
    NmSymbol symbol{hex(row[2]), row.size() > 3 ? hex(row[3]) : 0, row[1][0],
                    row[0].substr(0, row[0].find('@'))};
    for (const NamedSection& section : sections) {
      if (symbol.value >= section.address && symbol.value < section.address + section.size) {
        symbols.push_back(symbol);
        break;
      }
    }
  }
  return symbols;
}

std::set<std::string> names_at(const std::vector<NmSymbol>& symbols, uint64_t value) {
  std::set<std::string> names;
  for (const NmSymbol& symbol : symbols) {
    if (symbol.value == value) names.insert(symbol.name);
  }
  return names;
}

uint64_t value_of(const std::vector<NmSymbol>& symbols, const std::string& name) {
  for (const NmSymbol& symbol : symbols) {
    if (symbol.name == name) return symbol.value;
  }
  throw std::runtime_error("no symbol " + name);
}

std::vector<Load> loads(const std::string& file) {
  std::vector<Load> result;
  // "LOAD 0x1000 0x1000 0x1000 0x2b1 0x2b1 R E 0x1000": offset, virtual, physical, sizes, flags
  for (const auto& row : table("readelf -lW " + file)) {
    if (row.size() < 8 || row[0] != "LOAD") continue;
    bool executable = false;
    for (size_t i = 6; i + 1 < row.size(); ++i) executable |= row[i].find('E') != std::string::npos;
    result.push_back({hex(row[1]), hex(row[2]), hex(row[4]), hex(row[5]), executable});
  }
  return result;
}

std::vector<NamedSection> code_sections(const std::string& file) {
  std::vector<NamedSection> result;
  // "[ 9] .text PROGBITS address offset size es flags ..."; "[ 9]" are two words, "[10]" is one.
  for (auto row : table("readelf -SW " + file)) {
    if (row.size() > 1 && row[0] == "[") row.erase(row.begin());
    if (row.size() < 8 || row[0].find(']') == std::string::npos) continue;
    if (row[7].find('X') == std::string::npos || row[2] == "NULL") continue;
    result.push_back({row[1], hex(row[3]), hex(row[5])});
  }
  return result;
}

std::string build_id(const std::string& file) {
  for (const auto& row : table("readelf -nW " + file)) {
    if (row.size() >= 3 && row[row.size() - 2] == "ID:") return row.back();
  }
  return "";
}

std::string fixture(const std::string& name) {
  return std::string(A2N_FIXTURES) + "/" + name;
}

}  // namespace truth
