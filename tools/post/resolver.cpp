// SPDX-License-Identifier: MIT
// Addresses to names.
#include "resolver.h"

#include "text.h"

namespace post {
namespace {

constexpr uint32_t kernel_version = 0xffffffff;  // versions of processes are counted up from 1

}  // namespace

Resolver::Resolver(Symbolizer& symbolizer, StringTable& names, bool module_width, size_t places)
    : symbolizer_(symbolizer), names_(names), module_width_(module_width), places_(places) {}

const Place& Resolver::find(const Process& process, uint32_t maps_version, uint64_t address,
                            bool user, uint64_t time) {
  // Which names an address of the kernel has does not depend on the process.
  const bool kernel = !user && address >> 63 != 0;
  const uint32_t version = kernel ? kernel_version : maps_version;
  const uint64_t hash = (address ^ static_cast<uint64_t>(version) << 44) * 0x9e3779b97f4a7c15ull;
  Place& place = places_[hash >> 32 & (places_.size() - 1)];
  if (place.maps_version == version && place.address == address) return place;
  const Lookup lookup = symbolizer_.lookup(time, process.pid, address);
  // A start behind the address could only come from a damaged file: then the address itself counts.
  const uint64_t start = lookup.start <= address ? lookup.start : 0;
  place = {
      address,
      start,
      version,
      names_.intern(printable(lookup.module) + (module_width_ && lookup.module_64 ? "_64" : "")),
      names_.intern(printable(lookup.symbol)),
      lookup.found};
  return place;
}

}  // namespace post
