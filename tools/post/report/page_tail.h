// SPDX-License-Identifier: MIT
// The page's lines below the functions: the rest of the system, losses, the files, the next
// command.
#ifndef POST_PAGE_TAIL_H
#define POST_PAGE_TAIL_H

#include <cstdint>
#include <string>
#include <vector>

#include "page_end.h"
#include "page_format.h"
#include "subject.h"
#include "summary.h"

namespace post {

struct PageTicks {
  uint64_t of_subject = 0;
  uint64_t idle = 0;
};

// end: nullptr for none; hint: empty for none. With an end and ticks, the last line is a command.
std::vector<std::string> page_tail(const Summary& summary, const PageFormat& format,
                                   const Subject& subject, const PageTicks& ticks,
                                   const PageEnd* end, const std::string& hint);

}  // namespace post

#endif  // POST_PAGE_TAIL_H
