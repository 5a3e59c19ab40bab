// SPDX-License-Identifier: MIT
// Pieces of work that itracer traces of itself, by name.
#ifndef ITRACER_WORK_H
#define ITRACER_WORK_H

#include <cstdint>
#include <functional>
#include <string>

namespace itracer {

// Empty: there is none of that name.
std::function<void(uint64_t n)> find_work(const std::string& name);

}  // namespace itracer

#endif
