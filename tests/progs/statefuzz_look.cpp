// SPDX-License-Identifier: MIT
// Checks the content of a process's mappings.
#include "statefuzz.h"

#include <sys/ioctl.h>
#include <unistd.h>
#include <x86intrin.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace statefuzz {

namespace {

constexpr size_t page = 4096;

[[gnu::format(printf, 2, 3)]] void wrong(Result& result, const char* format, ...) {
  if (result.wrong++) return;
  va_list values;
  va_start(values, format);
  std::vsnprintf(result.what, sizeof result.what, format, values);
  va_end(values);
}

// Copies readable bytes through a pipe: a fault is an error of this call instead of a signal. The
// kernel shows these mappings neither to other processes nor to calls that read process memory.
class Reader {
 public:
  Reader() {
    if (::pipe(ends_) != 0) ends_[0] = ends_[1] = -1;
  }
  ~Reader() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  // Returns the number of bytes before the first that cannot be read.
  size_t copy(void* to, const void* from, size_t length) const;

 private:
  int ends_[2];
};

size_t Reader::copy(void* to, const void* from, size_t length) const {
  size_t done = 0;
  while (done < length) {
    const size_t wanted = length - done < page ? length - done : page;
    const ssize_t put = ::write(ends_[1], static_cast<const char*>(from) + done, wanted);
    if (put <= 0 ||
        ::read(ends_[0], static_cast<char*>(to) + done, static_cast<size_t>(put)) != put)
      break;
    done += static_cast<size_t>(put);
  }
  return done;
}

bool all_zero(const void* data, size_t length) {
  const auto* bytes = static_cast<const char*>(data);
  return !length || (bytes[0] == 0 && std::memcmp(bytes, bytes + 1, length - 1) == 0);
}

void look_at_hook_page(const Wanted& wanted, const uint8_t* bytes, Result& result) {
  pitrace_hook_page found;
  std::memcpy(&found, bytes, sizeof found);
  if ((found.owner & PITRACE_HOOK_OWNER_MASK) != wanted.owner)
    wrong(result, "hook page: owner %u, not %u", found.owner, wanted.owner);
  if (found.interval_id != wanted.interval_id)
    wrong(result, "hook page: interval %u, not %u", found.interval_id, wanted.interval_id);
  for (unsigned i = 0; i < sizeof found.enabled; ++i)
    if (found.enabled[i] != wanted.enabled[i])
      wrong(result, "hook page: major %u is %u, not %u", i, found.enabled[i], wanted.enabled[i]);
  if (!all_zero(found.reserved, sizeof found.reserved) ||
      !all_zero(bytes + sizeof found, page - sizeof found))
    wrong(result, "hook page: nonzero bytes after it");
}

void look_at_buffer(const Wanted& wanted, const Reader& reader, const uint8_t* bytes,
                    const char* at, size_t length, Result& result) {
  pitrace_buffer_head head;
  std::memcpy(&head, bytes, sizeof head);
  if (head.data_size != wanted.data_size || head.kind != wanted.kind || head.cpu != wanted.cpu)
    wrong(result, "head of a buffer: %llu bytes, kind %u, CPU %u",
          static_cast<unsigned long long>(head.data_size), head.kind, head.cpu);
  if (head.committed > head.reserved || head.consumed > head.committed)
    wrong(result, "head of a buffer: committed %llu of %llu",
          static_cast<unsigned long long>(head.committed),
          static_cast<unsigned long long>(head.reserved));
  if (!all_zero(head.pad_writers, sizeof head.pad_writers) ||
      !all_zero(head.pad_reader, sizeof head.pad_reader) ||
      !all_zero(head.pad_marks, sizeof head.pad_marks) ||
      !all_zero(bytes + sizeof head, page - sizeof head))
    wrong(result, "head of a buffer: nonzero padding");
  uint8_t once[64], again[64];
  if (length < page + 2 * wanted.data_size) return;
  // Records written in between change both copies.
  for (int i = 0; i < 3; ++i) {
    reader.copy(once, at + page, sizeof once);
    reader.copy(again, at + page + wanted.data_size, sizeof again);
    if (std::memcmp(once, again, sizeof once) == 0) return;
  }
  wrong(result, "the second copy of a buffer differs");
}

void look_at_slot(const Wanted& wanted, const pitrace_ptt_slot& slot, uint32_t& active,
                  Result& result) {
  if (slot.active > 1) wrong(result, "slot: active %u", slot.active);
  active += slot.active == 1;
  if (!wanted.vectors && (slot.last_vector || slot.last_softs))
    wrong(result, "slot: interrupt vector %u, which is withheld", slot.last_vector);
  for (uint32_t i = 0; i < PITRACE_PTT_METRICS; ++i)
    if (slot.active && slot.value[i] && i < wanted.metrics && !(wanted.shown >> i & 1))
      wrong(result, "slot: %llx of metric %u, which is withheld",
            static_cast<unsigned long long>(slot.value[i]), i);
  if (!all_zero(slot.reserved_words, sizeof slot.reserved_words))
    wrong(result, "slot: nonzero padding");
  if (slot.changes >> 40 || slot.dispatches >> 40 || slot.interrupts >> 40)
    wrong(result, "slot: impossible counts: %llx %llx %llx",
          static_cast<unsigned long long>(slot.changes),
          static_cast<unsigned long long>(slot.dispatches),
          static_cast<unsigned long long>(slot.interrupts));
}

void look_at_slots(const Wanted& wanted, const Reader& reader, const char* at, size_t length,
                   Result& result) {
  alignas(64) uint8_t bytes[page];
  uint32_t active = 0, pages = 0;
  for (; pages * page < length; ++pages) {
    if (reader.copy(bytes, at + pages * page, page) != page) break;
    for (size_t offset = 0; offset < page; offset += sizeof(pitrace_ptt_slot)) {
      pitrace_ptt_slot slot;
      std::memcpy(&slot, bytes + offset, sizeof slot);
      look_at_slot(wanted, slot, active, result);
    }
  }
  result.seen[0] = pages;
  result.seen[1] = active;
  if (pages != wanted.pages) wrong(result, "slots: %u pages, not %u", pages, wanted.pages);
  if (active < wanted.active_min || active > wanted.active_max)
    wrong(result, "slots: %u are active, not %u to %u", active, wanted.active_min,
          wanted.active_max);
  // The pages after those must not be accessible.
  for (const size_t far : {pages + 1, pages + 17, static_cast<uint32_t>(length / page) - 1})
    if (far >= pages && far * page < length && reader.copy(bytes, at + far * page, 8) != 0)
      wrong(result, "slots: page %zu is accessible, of %u", far, pages);
}

}  // namespace

void look(const Call& call, const void* memory, size_t length, Result& result) {
  Wanted wanted;
  std::memcpy(&wanted, call.payload, sizeof wanted);
  const auto* at = static_cast<const char*>(memory);
  if (!at) {
    result.value = -1;
    result.error = ENOENT;
    return;
  }
  const Reader reader;
  if (wanted.content == Content::slots) return look_at_slots(wanted, reader, at, length, result);
  alignas(64) uint8_t bytes[page];
  const size_t found = reader.copy(bytes, at, page);
  if (wanted.content == Content::nothing) {
    if (found) wrong(result, "an unexpected mapping");
    return;
  }
  if (found != page) return wrong(result, "%zu bytes of a mapping can be read", found);
  if (wanted.content == Content::hook_page) return look_at_hook_page(wanted, bytes, result);
  look_at_buffer(wanted, reader, bytes, at, length, result);
}

// Compares the slot of the calling thread, read as a user does, before and after READ. Cycles only.
void compare(const Call& call, int fd, const void* memory, Result& result) {
  const auto* slot = reinterpret_cast<const volatile pitrace_ptt_slot*>(
      static_cast<const char*>(memory) + call.number[0]);
  const uint64_t metric = call.number[1];
  pitrace_ptt_slot copied;
  if (!memory || Reader().copy(&copied, static_cast<const char*>(memory) + call.number[0],
                               sizeof copied) != sizeof copied)
    return wrong(result, "the slot of the thread cannot be read");
  const auto now = [&] {
    for (;;) {
      const uint64_t changes = slot->changes;
      const uint64_t value = slot->value[metric] + __rdtsc();
      if (changes == slot->changes) return value;
    }
  };
  pitrace_ptt_read read{};
  const uint64_t before = now();
  if (::ioctl(fd, PITRACE_PTT_IOC_READ, &read) != 0) {
    result.error = errno;
    return wrong(result, "READ of a thread with a slot fails");
  }
  const uint64_t after = now();
  if (!slot->active) return wrong(result, "the slot of the thread is not active");
  if (read.value[metric] < before || read.value[metric] > after)
    wrong(result, "slot %llu, READ %llu, slot %llu", static_cast<unsigned long long>(before),
          static_cast<unsigned long long>(read.value[metric]),
          static_cast<unsigned long long>(after));
}

}  // namespace statefuzz
