// SPDX-License-Identifier: MIT
// A profile from a tprof.json that post has written.
#ifndef POST_PROFILE_JSON_H
#define POST_PROFILE_JSON_H

#include <pi/result.h>

#include <string>
#include <string_view>

#include "profile.h"

namespace post {

// Whether the beginning of a file is that of a JSON object.
bool looks_like_json(std::string_view beginning);

// path: for messages. An error when the text is not of the documented form, or when rows were left
// out of it: what is not there cannot be compared.
pi::Result<Profile> profile_from_json(std::string_view text, const std::string& path);

}  // namespace post

#endif  // POST_PROFILE_JSON_H
