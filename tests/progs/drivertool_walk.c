// SPDX-License-Identifier: MIT
// Walks the mapped buffers record by record, and checks them against the ABI.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <pitrace/encode.h>

#include "drivertool.h"

// A position in one stream. After next() has returned true, time is that of the record at offset.
struct cursor {
  const struct view* view;
  uint64_t offset;
  uint64_t end;
  uint64_t time;
  uint32_t high;
  struct pitrace_record record;
};

// Counts of errors found in streams.
struct faults {
  unsigned int malformed;      // length, type or string does not fit
  unsigned int no_time;        // the stream does not begin with a TIME record
  unsigned int backwards;      // a record older than the one before
  unsigned int unaccounted;    // produced != written + lost
  unsigned int count_differs;  // records seen != written
  unsigned int last_time_differs;
};

static uint32_t length_of(const struct pitrace_record* record) {
  return record->type_length & PITRACE_LENGTH_MASK;
}

// Number of 32-bit words after the header.
static uint32_t words_of(const struct pitrace_record* record) {
  return (length_of(record) - (uint32_t)sizeof *record) / 4;
}

static uint32_t word(const struct cursor* cursor, uint32_t index) {
  uint32_t value;
  memcpy(&value, cursor->view->data + cursor->offset + sizeof cursor->record + 4 * index, 4);
  return value;
}

static bool strings_fit(const struct cursor* cursor) {
  const uint32_t words = words_of(&cursor->record);
  if (words < 2 || word(cursor, 0) > words - 2) return false;
  const uint32_t at = 1 + word(cursor, 0);
  return at + 1 + (word(cursor, at) + 3) / 4 == words;
}

// Reads the record at cursor->offset; returns false at the end or for an invalid record.
static bool current_record(struct cursor* cursor, struct faults* faults) {
  if (cursor->offset >= cursor->end) return false;
  memcpy(&cursor->record, cursor->view->data + cursor->offset, sizeof cursor->record);
  const uint32_t length = length_of(&cursor->record);
  const uint32_t type = cursor->record.type_length & PITRACE_TYPE_MASK;
  const bool good =
      length >= sizeof cursor->record &&
      (length <= PITRACE_MAX_RECORD || cursor->view->head->kind == PITRACE_BUFFER_STACKS) &&
      length <= cursor->end - cursor->offset &&
      (type == PITRACE_TYPE_INTS || (type == PITRACE_TYPE_STRINGS && strings_fit(cursor)));
  if (!good) {
    faults->malformed++;
    cursor->offset = cursor->end;
    return false;
  }
  return true;
}

// Updates the time from a record; TIME records contain the high half.
static void take_time(struct cursor* cursor, struct faults* faults) {
  const uint64_t before = cursor->time;
  if (cursor->record.major == PITRACE_MAJOR_TIME) cursor->high = word(cursor, 0);
  cursor->time = (uint64_t)cursor->high << 32 | cursor->record.time_lo;
  if (cursor->time < before) faults->backwards++;
}

// Ticks of one stream.
struct ticks {
  uint64_t count;
  uint64_t first;  // times in nanoseconds
  uint64_t last;
};

static void count_tick(struct ticks* ticks, uint64_t time) {
  if (ticks->count++ == 0) ticks->first = time;
  ticks->last = time;
}

static void walk_stream(const struct view* view, struct faults* faults, struct ticks* ticks) {
  const struct pitrace_buffer_head* head = view->head;
  struct cursor cursor = {.view = view, .end = __atomic_load_n(&head->committed, __ATOMIC_ACQUIRE)};
  uint64_t counted = 0, lost = 0;

  if (cursor.end > head->data_size) {
    faults->malformed++;
    return;
  }
  for (bool first = true; current_record(&cursor, faults); first = false) {
    const bool is_time = cursor.record.major == PITRACE_MAJOR_TIME;
    if (first && !is_time) faults->no_time++;
    take_time(&cursor, faults);
    // LOST and TIME records are not counted as records of a source.
    const bool is_lost =
        cursor.record.major == PITRACE_MAJOR_SYSTEM && cursor.record.minor == PITRACE_SYSTEM_LOST;
    if (!is_time && !is_lost) counted++;
    if (cursor.record.major == PITRACE_MAJOR_TPROF) count_tick(ticks, cursor.time);
    cursor.offset += length_of(&cursor.record);
  }
  for (int reason = 0; reason < PITRACE_LOST_REASONS; reason++) lost += head->lost[reason];
  if (head->produced != head->written + lost) faults->unaccounted++;
  if (head->written != counted) faults->count_differs++;
  if (head->last_time != cursor.time) faults->last_time_differs++;
}

static void print_stream(const struct view* view, const struct ticks* ticks) {
  static const char* const kinds[] = {"trace", "mte", "stacks"};
  const struct pitrace_buffer_head* head = view->head;
  printf("stream %s cpu %u bytes %" PRIu64 " produced %" PRIu64 " written %" PRIu64 " full %" PRIu64
         " stopped %" PRIu64 " long %" PRIu64 " source %" PRIu64 " ticks %" PRIu64 " span %" PRIu64
         "\n",
         kinds[head->kind], head->cpu, (uint64_t)head->committed, (uint64_t)head->produced,
         (uint64_t)head->written, (uint64_t)head->lost[PITRACE_LOST_FULL],
         (uint64_t)head->lost[PITRACE_LOST_STOPPED], (uint64_t)head->lost[PITRACE_LOST_TOO_LONG],
         (uint64_t)head->lost[PITRACE_LOST_SOURCE], ticks->count, ticks->last - ticks->first);
}

static uint64_t long_at(const struct cursor* cursor, uint32_t index) {
  return (uint64_t)word(cursor, index) << 32 | word(cursor, index + 1);
}

// Prints " stack FLAGS KERNEL-FRAMES USER-FRAMES [ADDRESS] FRAME...", flags and addresses in
// full-width hex.
static void print_stack(const struct cursor* cursor, uint32_t index, bool with_address) {
  const uint32_t stack = word(cursor, index);
  const uint32_t kernel = PITRACE_STACK_KERNEL_FRAMES(stack);
  const uint32_t user = PITRACE_STACK_USER_FRAMES(stack);

  printf(" stack %08x %u %u", stack & 0xffff0000u, kernel, user);
  if (with_address) printf(" %016" PRIx64, long_at(cursor, index - 2));
  for (uint32_t i = 0; i < kernel + user; i++)
    printf(" %016" PRIx64, long_at(cursor, index + 1 + 2 * i));
  if (stack & PITRACE_STACK_USER_ID)
    printf(" id %u", word(cursor, index + 1 + 2 * (kernel + user)));
}

// Prints "copy CPU id ID pid PID tid TID bytes N frames", and the return addresses to which the
// frame pointers in the copy lead.
static void print_copy(const struct cursor* cursor) {
  const uint32_t bytes = word(cursor, PITRACE_COPY_INTS - 1);
  const uint8_t* stack =
      cursor->view->data + cursor->offset + sizeof cursor->record + 4 * PITRACE_COPY_INTS;
  const uint64_t begin = long_at(cursor, 2 + 2 * 7);           // rsp
  uint64_t frame = long_at(cursor, 2 + 2 * 6), least = begin;  // rbp
  uint64_t words[2];

  printf("copy %u id %u pid %u tid %u bytes %u frames", cursor->view->head->cpu,
         cursor->record.minor, word(cursor, 0), word(cursor, 1), bytes);
  while (frame >= least && bytes >= sizeof words && frame - begin <= bytes - sizeof words) {
    memcpy(words, stack + (frame - begin), sizeof words);
    printf(" %016" PRIx64, words[1]);
    least = frame + sizeof words;
    frame = words[0];
  }
  putchar('\n');
}

// Prints "record TIME CPU MAJOR/MINOR int... "name""; numbers in hex except pid and tid.
static void print_record(const struct cursor* cursor) {
  const struct pitrace_record* record = &cursor->record;
  if (record->major == PITRACE_MAJOR_STACK_COPY) {
    print_copy(cursor);
    return;
  }
  const bool strings = (record->type_length & PITRACE_TYPE_MASK) == PITRACE_TYPE_STRINGS;
  const uint32_t words = words_of(record);
  const uint32_t first = strings ? 1 : 0;
  const uint32_t ints = strings ? word(cursor, 0) : words;

  printf("record %" PRIu64 " %u %02x/%02x", cursor->time, cursor->view->head->cpu, record->major,
         record->minor);
  for (uint32_t i = 0; i < ints; i++) printf(i < 2 ? " %u" : " %x", word(cursor, first + i));
  if (strings)
    printf(
        " \"%.*s\"", (int)word(cursor, first + ints),
        (const char*)cursor->view->data + cursor->offset + sizeof *record + 4 * (first + ints + 1));
  if (record->major == PITRACE_MAJOR_TPROF && words > 4) print_stack(cursor, 4, true);
  if (record->major == PITRACE_MAJOR_DISPATCH && !(record->minor >> 31) && words > 2)
    print_stack(cursor, 2, false);
  putchar('\n');
}

// Prints all streams merged by time; at equal times MTE records come first.
static void dump(const struct views* views) {
  static struct cursor cursors[PITRACE_BUFFERS_ALL * MAX_CPUS];
  struct faults ignored = {0};
  unsigned int count = 0;

  for (int kind = PITRACE_BUFFERS_ALL - 1; kind >= 0; kind--) {
    for (unsigned int cpu = 0; cpu < views->cpus; cpu++) {
      const struct view* view = &views->of[kind][cpu];
      if (!view->head) continue;
      cursors[count] = (struct cursor){.view = view, .end = view->head->committed};
      if (current_record(&cursors[count], &ignored)) take_time(&cursors[count++], &ignored);
    }
  }
  while (count > 0) {
    unsigned int oldest = 0;
    for (unsigned int i = 1; i < count; i++)
      if (cursors[i].time < cursors[oldest].time) oldest = i;
    struct cursor* cursor = &cursors[oldest];
    if (cursor->record.major != PITRACE_MAJOR_TIME) print_record(cursor);
    cursor->offset += length_of(&cursor->record);
    if (current_record(cursor, &ignored)) {
      take_time(cursor, &ignored);
    } else {
      memmove(cursor, cursor + 1, (count - oldest - 1) * sizeof *cursor);
      count--;
    }
  }
}

static bool report(const char* name, unsigned int faults) {
  printf("check %s %s\n", name, faults ? "FAILED" : "ok");
  return faults == 0;
}

bool walk_check(const struct views* views, bool print_all) {
  struct faults faults = {0};
  unsigned int streams = 0;

  if (print_all) dump(views);
  for (uint32_t kind = 0; kind < PITRACE_BUFFERS_ALL; kind++) {
    for (unsigned int cpu = 0; cpu < views->cpus; cpu++) {
      const struct view* view = &views->of[kind][cpu];
      struct ticks ticks = {0};
      if (!view->head) continue;
      streams++;
      walk_stream(view, &faults, &ticks);
      print_stream(view, &ticks);
    }
  }
  bool good = report("streams-exist", streams == 0);
  good &= report("records-well-formed", faults.malformed);
  good &= report("stream-starts-with-time", faults.no_time);
  good &= report("time-never-runs-back", faults.backwards);
  good &= report("produced-is-written-plus-lost", faults.unaccounted);
  good &= report("written-is-what-is-there", faults.count_differs);
  good &= report("last-time-is-the-newest-record's", faults.last_time_differs);
  return good;
}
