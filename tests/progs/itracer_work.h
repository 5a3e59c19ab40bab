// SPDX-License-Identifier: MIT
// Workloads that itracer traces in itself, by name.
#ifndef ITRACER_WORK_H
#define ITRACER_WORK_H

#include <cstdint>
#include <functional>
#include <string>

namespace itracer {

// Returns an empty function for an unknown name.
std::function<void(uint64_t n)> find_work(const std::string& name);

}  // namespace itracer

#endif
