// SPDX-License-Identifier: MIT
// The A2N_ environment variables. They take precedence over the program's settings.
#include "environment.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>
#include <string_view>

#include "a2n_context.h"
#include "lookup/library.h"

namespace a2n {
namespace {

struct Word {
  std::string_view name;
  int value;
};
constexpr Word quality_words[] = {{"good", A2N_QUALITY_GOOD}, {"any", A2N_QUALITY_ANY}};
constexpr Word message_words[] = {{"none", A2N_MESSAGES_NONE},
                                  {"error", A2N_MESSAGES_ERROR},
                                  {"warn", A2N_MESSAGES_WARNING},
                                  {"info", A2N_MESSAGES_INFO},
                                  {"all", A2N_MESSAGES_ALL}};
constexpr Word action_words[] = {{"null", A2N_NSF_NULL},
                                 {"nsf", A2N_NSF_NSF},
                                 {"section", A2N_NSF_SECTION},
                                 {"function", A2N_NSF_FUNCTION}};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// The value of a variable, by its name in upper or in lower case; null if neither is set.
const char* variable(const std::string& name) {
  if (const char* value = ::secure_getenv(name.c_str())) return value;
  return ::secure_getenv(lower(name).c_str());
}

class Environment {
 public:
  explicit Environment(Library& library) : library_(library) {}

  template <class Use>
  void text(const char* name, Fixed setting, Use use) {
    if (const char* value = variable(name)) {
      use(value);
      fixed_ |= setting;
    }
  }

  template <size_t n, class Use>
  void word(const char* name, const Word (&words)[n], Fixed setting, Use use) {
    const char* value = variable(name);
    if (!value) return;
    const auto known =
        std::find_if(words, words + n, [&](const Word& word) { return word.name == lower(value); });
    if (known == words + n) {
      library_.notes().add(std::string(name) + " in the environment has an unknown value: \"" +
                           value + "\"; ignored");
      return;
    }
    use(known->value);
    fixed_ |= setting;
  }

  uint32_t fixed() const { return fixed_; }

 private:
  Library& library_;
  uint32_t fixed_ = 0;
};

}  // namespace

uint32_t apply_environment(Library& library) {
  Environment environment(library);
  Settings& settings = library.settings();
  environment.word("A2N_ERROR_MESSAGES", message_words, fixed_messages,
                   [&](int level) { library.notes().set_max_level(level); });
  environment.text("A2N_SEARCH_PATH", fixed_search_path,
                   [&](const char* path) { library.modules().set_search_path(path); });
  environment.word("A2N_SYMBOL_QUALITY", quality_words, fixed_quality,
                   [&](int mode) { settings.any_symbol = mode == A2N_QUALITY_ANY; });
  environment.word("A2N_NSF_ACTION", action_words, fixed_no_symbol_action,
                   [&](int action) { settings.no_symbol_action = action; });
  environment.text("A2N_RENAME_DUPLICATE_SYMBOLS", fixed_rename_duplicates,
                   [&](const char*) { settings.rename_duplicates = true; });
  environment.text("A2N_DONT_DEMANGLE", fixed_demangle,
                   [&](const char*) { settings.demangle = false; });
  environment.text("A2N_DONT_VALIDATE", fixed_validation, [&](const char*) {
    library.modules().set_validate(false);
    library.kernel().set_validate(false);
  });
  environment.text("A2N_RETURN_RANGE_SYMBOLS", fixed_range_symbols,
                   [&](const char*) { settings.range_and_symbol = true; });
  return environment.fixed();
}

}  // namespace a2n
