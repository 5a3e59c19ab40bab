// SPDX-License-Identifier: MIT
// Collects messages on the damage of a trace file.
#include "damage_log.h"

#include <utility>

namespace post {

void DamageLog::add(std::string message, uint64_t bytes) {
  ++places_;
  bytes_ += bytes;
  if (messages_.size() < kept_messages) messages_.push_back(std::move(message));
}

}  // namespace post
