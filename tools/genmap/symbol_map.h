// SPDX-License-Identifier: MIT
// Reads an image's symbols and formats them as nm -a does. Every byte of the image is untrusted.
#ifndef GENMAP_SYMBOL_MAP_H
#define GENMAP_SYMBOL_MAP_H

#include <pi/result.h>

#include <cstdint>
#include <string>
#include <vector>

namespace genmap {

struct MapSymbol {
  uint64_t value = 0;
  char type = '?';  // nm's letter
  std::string name;
};

struct SymbolMap {
  bool is_64 = true;
  std::vector<MapSymbol> symbols;  // by name, then by value, as nm sorts in the C locale
};

// The symbols of .symtab, or of .dynsym when dynamic.
pi::Result<SymbolMap> read_map(const std::string& path, bool dynamic, bool defined_only);

// "ADDRESS TYPE NAME", with a line feed; 8 or 16 digits, blanks for undefined symbols.
std::string map_line(const MapSymbol& symbol, bool is_64);

}  // namespace genmap

#endif  // GENMAP_SYMBOL_MAP_H
