// SPDX-License-Identifier: MIT
// The child process that compiles the table of one file.
#include "table_child.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <new>

#include <pi/files.h>

#include "compile/compile_table.h"

namespace pi::swtrace {

int table_child_main() {
  // Also without the recorder, which may have been killed before this line.
  ::alarm(static_cast<unsigned>(child_time.count()) + 1);
  struct stat facts {};
  if (::fstat(STDIN_FILENO, &facts) != 0 || !S_ISREG(facts.st_mode)) return child_failed;
  if (facts.st_size <= 0) return child_no_table;
  const auto size = static_cast<size_t>(facts.st_size);
  // If the file becomes shorter, this process dies by a signal.
  const UniqueMapping file(::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, STDIN_FILENO, 0), size);
  if (!file) return child_failed;
  if (!confine(size)) return child_not_confined;
  try {
    const auto table = unwind::compile_table(file.bytes());
    if (!table) return child_no_table;
    return write_all(STDOUT_FILENO, *table) == 0 ? child_good : child_failed;
  } catch (const std::bad_alloc&) {
    return child_failed;
  }
}

}  // namespace pi::swtrace
