// SPDX-License-Identifier: MIT
// Reads a profile from a tprof.json that post has written.
#ifndef POST_PROFILE_JSON_H
#define POST_PROFILE_JSON_H

#include <pi/result.h>

#include <string>
#include <string_view>

#include "profile.h"

namespace post {

// Returns whether a file begins like a JSON object.
bool looks_like_json(std::string_view beginning);

// path: for messages. Returns an error when the text does not have the documented form, or when
// rows were omitted: they could not be compared.
pi::Result<Profile> profile_from_json(std::string_view text, const std::string& path);

}  // namespace post

#endif  // POST_PROFILE_JSON_H
