// SPDX-License-Identifier: MIT
// Names of frames and labels that are left out or hashed. The expected hashes are those of
// openssl's HMAC.
#include "analysis/shown_names.h"

#include <gtest/gtest.h>

namespace {

using post::Found;
using post::PrivateKind;
using post::ShownNames;

class ShownNamesTest : public testing::Test {
 protected:
  post::Frame frame(Found found, const char* module, const char* symbol) {
    post::Frame frame;
    frame.found = found;
    frame.module = names_.intern(module);
    frame.symbol = names_.intern(symbol);
    return frame;
  }
  post::Privacy hiding(std::set<PrivateKind> omitted, std::set<PrivateKind> hashed = {}) {
    return {.omitted = std::move(omitted), .hashed = std::move(hashed), .key = "0123456789abcdef"};
  }
  static std::string function(const ShownNames& shown, const post::Frame& of) {
    return shown.folded(of);
  }

  post::StringTable names_;
};

TEST_F(ShownNamesTest, WithoutPrivacyNamesAreThoseOfFoldedStacks) {
  const post::Privacy nothing;
  const ShownNames shown(names_, nothing);
  EXPECT_EQ(function(shown, frame(Found::symbol, "/bin/app", "work;x")), "work\\x3bx");
  EXPECT_EQ(function(shown, frame(Found::function, "/bin/app", "[app+0x12]")), "[app+0x12]");
  EXPECT_EQ(function(shown, frame(Found::no_symbol, "/bin/app", "NoSymbols")), "[app]");
  EXPECT_EQ(function(shown, frame(Found::no_module, "", "NoModule")), "[unknown]");
  EXPECT_EQ(shown.process_label("app_001f", {}), "app_001f");
  EXPECT_EQ(shown.thread_label("tid_main_001f", {}), "tid_main_001f");
}

TEST_F(ShownNamesTest, APathIsInNoFunctionsName) {
  const post::Privacy paths = hiding({PrivateKind::path});
  const ShownNames shown(names_, paths);
  EXPECT_EQ(function(shown, frame(Found::symbol, "/bin/app", "work")), "work");
  EXPECT_EQ(function(shown, frame(Found::symbol, "/bin/app", "f /src/a.js:1")), "[unknown]");
  EXPECT_EQ(function(shown, frame(Found::function, "/bin/app", "[app+0x12]")), "[+0x12]");
  EXPECT_EQ(function(shown, frame(Found::no_symbol, "/bin/app", "NoSymbols")), "[unknown]");
  // No path.
  EXPECT_EQ(function(shown, frame(Found::function, "[vdso]", "[vdso+0x780]")), "[vdso+0x780]");
  EXPECT_EQ(function(shown, frame(Found::no_symbol, "[xfs]", "NoSymbols")), "[[xfs]]");
}

TEST_F(ShownNamesTest, OfAHiddenFunctionTheModuleStays) {
  const post::Privacy functions = hiding({PrivateKind::function});
  const ShownNames shown(names_, functions);
  EXPECT_EQ(function(shown, frame(Found::symbol, "/bin/app", "work")), "[app]");
  post::Frame kernel = frame(Found::symbol, "[kernel]", "schedule");
  kernel.kernel = true;
  EXPECT_EQ(function(shown, kernel), "[[kernel]]_[k]");
  post::Frame broken = frame(Found::symbol, "", "[broken]");
  broken.marker = true;
  EXPECT_EQ(function(shown, broken), "[broken]");
}

// printf 'path\0/bin/x' | openssl dgst -sha256 -mac hmac -macopt key:0123456789abcdef
TEST_F(ShownNamesTest, HashesAreThoseOfTheTables) {
  const post::Privacy all =
      hiding({}, {PrivateKind::path, PrivateKind::function, PrivateKind::command});
  const ShownNames shown(names_, all);
  EXPECT_EQ(function(shown, frame(Found::function, "/bin/x", "[x+0x12]")),
            "[h-1adf3dadcbad1092dc0e399d+0x12]");
  const post::Frame work = frame(Found::symbol, "/bin/x", "work");
  EXPECT_EQ(function(shown, work), names_.text(shown.function(work)));
  EXPECT_EQ(names_.text(shown.module(work)), "h-1adf3dadcbad1092dc0e399d");
  // Labels lose their ids, so that a program has the same name on all hosts.
  const std::string app = names_.text(shown.command(names_.intern("app")));
  EXPECT_EQ(app.substr(0, 2), "h-");
  EXPECT_EQ(shown.process_label("app_001f", {}), app);
  EXPECT_EQ(shown.thread_label("tid_app_001f", {}), app);
  EXPECT_EQ(shown.thread_label("tid_001f", {}), "");
}

}  // namespace
