// SPDX-License-Identifier: MIT
// Matches names with the words of one option (--process, --thread, ...).
#ifndef POST_NAME_WORDS_H
#define POST_NAME_WORDS_H

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "read/selection.h"

namespace post {

class NameWords {
 public:
  explicit NameWords(const Choice<std::string>& words);

  // Whether a name matches a word of --KIND (only), and a word of --no-KIND (without).
  struct Fit {
    bool only = false;
    bool without = false;

    void add(const Fit& other) {
      only = only || other.only;
      without = without || other.without;
    }
    bool operator==(const Fit&) const = default;
  };

  bool any() const { return !only_.empty() || !without_.empty(); }
  bool takes(const Fit& fit) const { return (only_.empty() || fit.only) && !fit.without; }

  // names: all names of one object. A word matches if it equals one of them, matches one as an
  // fnmatch() pattern, or equals the id. Keeps the words that have matched, and the first name.
  Fit fit(std::initializer_list<std::string_view> names, std::optional<uint32_t> id = {});
  // A symbol, by its name in the table and the readable one. A word may also equal one of the short
  // forms that reports show.
  Fit fit_symbol(std::string_view name, const std::string& readable);

  // A sentence for each word that has matched nothing, with similar names; none when no name was
  // tried. option: without dashes; where: " in the trace".
  std::vector<std::string> unfitting(const char* option, std::string_view where) const;

 private:
  struct Word {
    std::string text;
    std::optional<uint32_t> id;  // if the word is a number
    bool fitted = false;
  };

  static bool fit(std::vector<Word>& words, std::initializer_list<std::string_view> names,
                  std::optional<uint32_t> id);
  static bool equals(std::vector<Word>& words, const std::vector<std::string>& names);
  std::string similar(const std::string& word) const;

  std::vector<Word> only_;
  std::vector<Word> without_;
  bool tried_ = false;
  std::set<std::string, std::less<>> seen_;
};

}  // namespace post

#endif  // POST_NAME_WORDS_H
