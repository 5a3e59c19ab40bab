// SPDX-License-Identifier: MIT
// Converts addresses to names.
#include "resolver.h"

#include "text/short_name.h"
#include "text/text.h"

namespace post {

Resolver::Resolver(Symbolizer& symbolizer, StringTable& names, Options options,
                   size_t cache_entries)
    : symbolizer_(symbolizer), names_(names), options_(options), places_(cache_entries) {}

uint32_t Resolver::chain_at(const Process& process, uint64_t address, uint64_t time) {
  const auto frames = symbolizer_.frames(time, process.pid, address);
  if (frames.size() < 2) return 0;
  std::vector<NameId> chain;
  for (size_t i = frames.size() - 1; i-- > 0;)
    chain.push_back(names_.intern(printable(frames[i].name).append(inlined_mark)));
  const auto [known, added] =
      known_chains_.try_emplace(std::move(chain), static_cast<uint32_t>(chains_.size()));
  if (added) chains_.push_back(known->first);
  return known->second;
}

const Place& Resolver::find(const Process& process, uint32_t maps_version, uint64_t address,
                            bool user, uint64_t time) {
  // The names of a kernel address do not depend on the process.
  const uint32_t version = version_of(maps_version, address, user);
  const uint64_t hash = hash_of(address, version);
  if (const Place& known = places_.at(hash);
      known.maps_version == version && known.address == address)
    return known;
  Place& place = places_.after_miss(hash);
  const bool is_named = PITRACE_FRAME_IS_NAMED(address);
  const Lookup lookup =
      is_named ? symbolizer_.lookup_named(address) : symbolizer_.lookup(time, process.pid, address);
  // Only a damaged file has a start after the address: then the address itself is used.
  const uint64_t start = lookup.start <= address ? lookup.start : 0;
  place = {
      address,
      start,
      version,
      names_.intern(printable(lookup.module) +
                    (options_.module_width && lookup.module_64 ? "_64" : "")),
      names_.intern(printable(lookup.symbol)),
      lookup.found,
      0,
      start - lookup.module_start,
      lookup.code_id,
      lookup.module_32,
      options_.addresses ? lookup.file_address.value_or(Place::no_address) : Place::no_address};
  if (options_.inlined && place.found == Found::symbol && !is_named)
    place.inlined = chain_at(process, address, time);
  return place;
}

}  // namespace post
