// SPDX-License-Identifier: MIT
// The texts of the HTML page's data as numbers, each text once.
#ifndef POST_HTML_TEXTS_H
#define POST_HTML_TEXTS_H

#include <string>
#include <unordered_map>
#include <utility>

#include "json.h"
#include "path_rows.h"
#include "summary.h"
#include "text/text.h"

namespace post {

class HtmlTexts {
 public:
  explicit HtmlTexts(const Summary& summary) : summary_(summary) { add(std::string()); }

  // A name of the trace, readable.
  size_t add(NameId id) {
    const auto [known, is_new] = by_id_.try_emplace(id, 0);
    if (is_new) known->second = add(printable(readable(summary_, id)));
    return known->second;
  }
  size_t add(std::string text) {
    const auto [known, is_new] = by_text_.try_emplace(std::move(text), texts_.size());
    if (is_new) texts_.push_back(pi::Json(known->first));
    return known->second;
  }
  const pi::Json::Array& all() const { return texts_; }

 private:
  const Summary& summary_;
  pi::Json::Array texts_;
  std::unordered_map<std::string, size_t> by_text_;
  std::unordered_map<NameId, size_t> by_id_;
};

}  // namespace post

#endif  // POST_HTML_TEXTS_H
