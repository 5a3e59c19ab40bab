// SPDX-License-Identifier: MIT
// Readable names of C++, Rust and Java functions in fewer columns.
#include "short_name.h"

#include <algorithm>
#include <cctype>

#include "columns.h"

namespace post {
namespace {

constexpr size_t npos = std::string_view::npos;
constexpr size_t longest = 8192;  // maximum bytes of a name that is parsed
constexpr size_t most_depths = 4;
constexpr std::string_view operator_word = "operator";
constexpr std::string_view anonymous = "(anonymous namespace)";
constexpr std::string_view collapsed = "<..>";
// An operator comes before those that are a prefix of it.
constexpr std::string_view operator_signs[] = {
    "<=>", "<<=", ">>=", "->*", "()", "[]", "->",     "<<",   ">>",        "<=",      ">=",
    "==",  "!=",  "&&",  "||",  "++", "--", "+=",     "-=",   "*=",        "/=",      "%=",
    "^=",  "&=",  "|=",  "+",   "-",  "*",  "/",      "%",    "^",         "&",       "|",
    "~",   "!",   "=",   "<",   ">",  ",",  " new[]", " new", " delete[]", " delete", " co_await"};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Length of an operator's name at a position, "operator<<" with the blank before template
// arguments; 0: no operator. For a conversion it is that of the word "operator"; the type follows.
size_t operator_size(std::string_view text, size_t at) {
  const std::string_view rest = text.substr(at);
  if (!rest.starts_with(operator_word) || (at != 0 && is_word(text[at - 1]))) return 0;
  size_t end = operator_word.size();
  if (end < rest.size() && is_word(rest[end])) return 0;
  for (const std::string_view sign : operator_signs) {
    const std::string_view after = rest.substr(end);
    if (!after.starts_with(sign) ||
        (is_word(sign.back()) && after.size() > sign.size() && is_word(after[sign.size()])))
      continue;
    end += sign.size();
    if (rest.substr(end).starts_with(" <")) ++end;
    break;
  }
  return end;
}

// A name whose brackets are matched.
class Parsed {
 public:
  explicit Parsed(std::string_view text) : text_(text), partners_(text.size(), npos) {
    std::vector<size_t> open;
    for (size_t at = 0; at < text.size(); ++at) {
      if (const size_t size = operator_size(text, at); size != 0) {
        at += size - 1;
        continue;
      }
      switch (text[at]) {
        case '<':
        case '(':
        case '[':
        case '{':
          open.push_back(at);
          break;
        case '>':
          // Not ">" in "a->b" or "fn() -> T". Comparisons are in parentheses.
          if ((at == 0 || text[at - 1] != '-') && !open.empty() && text[open.back()] == '<')
            close(open, open.size() - 1, at);
          break;
        case ')':
        case ']':
        case '}': {
          const char wanted = text[at] == ')' ? '(' : text[at] == ']' ? '[' : '{';
          for (size_t i = open.size(); i-- != 0;)
            if (text[open[i]] == wanted) {
              close(open, i, at);
              break;
            }
          break;
        }
        default:
          break;
      }
    }
  }

  std::string_view text() const { return text_; }
  bool is_group(size_t at) const { return partners_[at] != npos; }
  // The position after the group, the operator or the character at a position.
  size_t end_at(size_t at) const {
    if (is_group(at)) return partners_[at] + 1;
    return at + std::max<size_t>(operator_size(text_, at), 1);
  }
  std::string_view group(size_t at) const { return text_.substr(at, end_at(at) - at); }
  std::string_view content(size_t at) const { return text_.substr(at + 1, partners_[at] - at - 1); }
  // True for template arguments; false for a type in brackets, as in "<T as Trait>::f" and "<impl
  // T>".
  bool is_template(size_t at, bool after_operator) const {
    if (text_[at] != '<' || !is_group(at) || at == 0) return false;
    const char before = text_[at - 1];
    if (before == ':') return !content(at).starts_with("impl ");
    return after_operator || is_word(before) || before == ']' || before == '}';
  }

 private:
  void close(std::vector<size_t>& open, size_t index, size_t at) {
    partners_[open[index]] = at;
    open.resize(index);
  }

  std::string_view text_;
  std::vector<size_t> partners_;  // position of the closing bracket for each opening one
};

bool is_conversion(std::string_view text, size_t at) {
  return operator_size(text, at) == operator_word.size();
}

// Qualifiers of a member function at the beginning of the text: "", " const", " const &" ...
size_t qualifiers_size(std::string_view text) {
  size_t size = 0;
  for (bool more = true; more;) {
    more = false;
    for (const std::string_view word : {" const", " volatile", " noexcept", " &&", " &", "&&", "&"})
      if (text.substr(size).starts_with(word)) {
        size += word.size();
        more = true;
      }
  }
  return size;
}

// True if the text can follow the parameters of a name: qualifiers and clone suffixes, liba2n's
// number of a duplicate, or Java's return type.
bool ends_function(std::string_view rest) {
  rest.remove_prefix(qualifiers_size(rest));
  if (rest.empty() || rest.starts_with(" [") || rest.starts_with('[') || rest.starts_with('#'))
    return true;
  return std::string_view("BCDFIJSVZL").find(rest[0]) != npos && rest.find(':') == npos &&
         (rest.size() == 1 || rest.ends_with(';'));
}

// The position of a function's name after its return type; text ends before its parameters.
size_t begin_after_type(const Parsed& name, size_t end) {
  const std::string_view text = name.text();
  size_t begin = 0;
  for (size_t at = 0; at < end;) {
    if (is_conversion(text, at)) break;
    if (text[at] == ' ') begin = at + 1;
    const bool parameters = text[at] == '(';
    at = name.end_at(at);
    // "f() const::{lambda()#1}"
    const size_t qualifiers = parameters ? qualifiers_size(text.substr(at)) : 0;
    if (text.substr(at + qualifiers).starts_with("::")) at += qualifiers;
  }
  return begin;
}

// Calls use(at, after_operator) for each bracket that opens a group and each other character;
// returns true: the group is left out, with what use() wrote for it.
template <class Use>
std::string rewritten(std::string_view text, Use use) {
  const Parsed name(text);
  std::string out;
  bool after_operator = false;
  for (size_t at = 0; at < text.size();) {
    if (name.is_group(at) && use(name, at, after_operator, out)) {
      at = name.end_at(at);
      after_operator = false;
      continue;
    }
    const size_t size = std::max<size_t>(operator_size(text, at), 1);
    out.append(text.substr(at, size));
    after_operator = operator_size(text, at) != 0;
    at += size;
  }
  return out;
}

// Without the parameters of the functions around it and of lambdas, and without ABI tags.
std::string without_inner_arguments(std::string_view text) {
  std::string out;
  const Parsed name(text);
  for (size_t at = 0; at < text.size();) {
    const size_t end = name.end_at(at);
    const std::string_view item = text.substr(at, end - at);
    const bool group = name.is_group(at);
    if (group && item.starts_with('(') && at != 0 && item != anonymous) {
      const size_t qualifiers = qualifiers_size(text.substr(end));
      if (text.substr(end + qualifiers).starts_with("::")) {
        at = end + qualifiers;
        continue;
      }
    }
    constexpr std::string_view lambda = "{lambda(";
    if (group && item.starts_with(lambda) && name.is_group(at + lambda.size() - 1)) {
      out += lambda.substr(0, lambda.size() - 1);
      out += text.substr(name.end_at(at + lambda.size() - 1),
                         end - name.end_at(at + lambda.size() - 1));
    } else if (!group || !item.starts_with("[abi:")) {
      out += item;
    }
    at = end;
  }
  return out;
}

// Replaces template arguments nested deeper than the limit by "<..>".
std::string with_depth(std::string_view text, size_t depth) {
  std::vector<size_t> ends;  // ends of the template arguments around a position
  return rewritten(text, [&](const Parsed& name, size_t at, bool after_operator, std::string& out) {
    while (!ends.empty() && at >= ends.back()) ends.pop_back();
    if (!name.is_template(at, after_operator)) return false;
    if (ends.size() < depth || name.content(at).size() <= 2) {
      ends.push_back(name.end_at(at));
      return false;
    }
    out += collapsed;
    return true;
  });
}

size_t deepest(std::string_view text) {
  size_t most = 0;
  std::vector<size_t> ends;
  rewritten(text, [&](const Parsed& name, size_t at, bool after_operator, std::string&) {
    while (!ends.empty() && at >= ends.back()) ends.pop_back();
    if (name.is_template(at, after_operator)) ends.push_back(name.end_at(at));
    most = std::max(most, ends.size());
    return false;
  });
  return most;
}

// "a::b::C<..> as d::E" -> "C<..> as E"
std::string without_modules(std::string_view types) {
  std::string out;
  for (size_t at = 0; at < types.size();) {
    size_t end = at;
    while (end < types.size() && is_word(types[end])) ++end;
    if (end != at && types.substr(end).starts_with("::")) {
      at = end + 2;
      continue;
    }
    end = std::max(end, at + 1);
    out += types.substr(at, end - at);
    at = end;
  }
  return out;
}

std::string with_short_scopes(std::string_view text) {
  return rewritten(text, [](const Parsed& name, size_t at, bool after_operator, std::string& out) {
    if (name.group(at) == anonymous) {
      out += "(anon)";
      return true;
    }
    if (name.text()[at] != '<' || name.is_template(at, after_operator)) return false;
    out += "<" + without_modules(name.content(at)) + ">";
    return true;
  });
}

// The position of the function's own name.
size_t begin_of_own_name(std::string_view text) {
  const Parsed name(text);
  std::vector<size_t> begins = {0};
  for (size_t at = 0; at < text.size(); at = name.end_at(at)) {
    if (is_conversion(text, at)) break;
    if (text.substr(at).starts_with("::")) begins.push_back(at + 2);
  }
  size_t part = begins.size() - 1;
  const auto is_closure = [&](size_t i) { return text.substr(begins[i]).starts_with('{'); };
  // A closure has no name; nor have template arguments after "::".
  const auto has_name = [&](size_t i) {
    if (is_closure(i) || text.substr(begins[i]).starts_with('<')) return false;
    return i == 0 || operator_size(text, begins[i]) == 0 || !is_closure(i - 1);
  };
  while (part != 0 && !has_name(part)) --part;
  return begins[part];
}

}  // namespace

std::string_view mark_of(std::string_view name) {
  for (const std::string_view mark : {inlined_mark, interpreted_mark})
    if (name.ends_with(mark)) return mark;
  return {};
}

std::string without_arguments(std::string_view text) {
  if (text.size() > longest) return std::string(text);
  if (const std::string_view mark = mark_of(text); !mark.empty())
    return without_arguments(text.substr(0, text.size() - mark.size())).append(mark);
  const Parsed name(text);
  size_t parameters = npos;
  size_t before = 0;  // the group, operator or character before them
  size_t last = 0;
  for (size_t at = 0; at < text.size(); last = at, at = name.end_at(at))
    if (text[at] == '(' && name.is_group(at) && at != 0 && name.group(at) != anonymous) {
      parameters = at;
      before = last;
    }
  if (parameters == npos || !ends_function(text.substr(name.end_at(parameters))))
    return std::string(text);
  // A function that returns a pointer to a function: "void (*f(int))(char)".
  if (name.is_group(before) &&
      (text.substr(before).starts_with("(*") || text.substr(before).starts_with("(&")))
    if (const std::string inner = without_arguments(name.content(before).substr(1)); !inner.empty())
      return inner;
  const size_t begin = begin_after_type(name, parameters);
  const std::string_view rest = text.substr(name.end_at(parameters));
  return std::string(text.substr(begin, parameters - begin))
      .append(rest.starts_with('#') ? rest : std::string_view());
}

std::vector<std::string> name_forms(std::string_view name) {
  std::vector<std::string> forms = {std::string(name)};
  if (name.size() > longest) return {std::string(name), std::string(name)};
  const auto add = [&forms](std::string form) {
    if (form.size() < forms.back().size()) forms.push_back(std::move(form));
  };
  add(without_inner_arguments(without_arguments(name)));
  const std::string plain = forms.back();
  for (size_t depth = std::min(deepest(plain), most_depths); depth-- != 0;)
    add(with_depth(plain, depth));
  add(with_short_scopes(forms.back()));
  forms.push_back(forms.back().substr(begin_of_own_name(forms.back())));
  return forms;
}

std::string short_name(std::string_view name, size_t columns, std::string_view mark) {
  const std::vector<std::string> forms = name_forms(name);
  for (size_t i = 0; i + 1 < forms.size(); ++i)
    if (columns_of(forms[i]) <= columns) return forms[i];
  const std::string& own = forms.back();
  const std::string& whole = forms[forms.size() - 2];
  const size_t needed = columns_of(own) + columns_of(mark);
  if (own == whole || needed > columns) return shortened(own, columns, mark);
  if (needed == columns) return std::string(mark) + own;
  return shortened(std::string_view(whole).substr(0, whole.size() - own.size()),
                   columns - columns_of(own), mark) +
         own;
}

}  // namespace post
