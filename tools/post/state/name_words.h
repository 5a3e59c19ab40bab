// SPDX-License-Identifier: MIT
// The words by which a user selects things of one kind, and which of them fit what.
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

  // Whether a thing fits a word of those that are taken, and of those that are left out.
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

  // names: all names of one thing; a word may be any of them, as it stands or with wildcards
  // (fnmatch), or the id. Remembers which words have fitted something, and the first name.
  Fit fit(std::initializer_list<std::string_view> names, std::optional<uint32_t> id = {});

  // A sentence for each word that has fitted nothing, with names that are similar; none when no
  // thing was tried. option: without dashes; where: " in the trace".
  std::vector<std::string> unfitting(const char* option, std::string_view where) const;

 private:
  struct Word {
    std::string text;
    std::optional<uint32_t> id;  // that it may stand for
    bool fitted = false;
  };

  static bool fit(std::vector<Word>& words, std::initializer_list<std::string_view> names,
                  std::optional<uint32_t> id);
  std::string similar(const std::string& word) const;

  std::vector<Word> only_;
  std::vector<Word> without_;
  bool tried_ = false;
  std::set<std::string, std::less<>> seen_;
};

}  // namespace post

#endif  // POST_NAME_WORDS_H
