// SPDX-License-Identifier: MIT
// How long a debuginfod server may take: a server in this process sends each file byte by byte.
#include "elf/debuginfod.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>

namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

// Sends ten bytes a second, without an end.
class DrippingServer {
 public:
  DrippingServer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_.get(), generic, size), 0);
    EXPECT_EQ(::listen(listener_.get(), 8), 0);
    EXPECT_EQ(::getsockname(listener_.get(), generic, &size), 0);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] { serve(); });
  }
  ~DrippingServer() {
    stop_ = true;
    thread_.join();
  }
  const std::string& url() const { return url_; }
  int requests() const { return requests_; }

 private:
  void serve() {
    while (!stop_) {
      pollfd ready{listener_.get(), POLLIN, 0};
      if (::poll(&ready, 1, 100) != 1) continue;
      const pi::UniqueFd client(::accept(listener_.get(), nullptr, nullptr));
      ++requests_;
      char request[4096];
      (void)!::read(client.get(), request, sizeof request);
      const std::string head = "HTTP/1.0 200 OK\r\nContent-Length: 1000000\r\n\r\n";
      bool open = ::send(client.get(), head.data(), head.size(), MSG_NOSIGNAL) > 0;
      while (open && !stop_) {
        open = ::send(client.get(), "\0", 1, MSG_NOSIGNAL) == 1;
        std::this_thread::sleep_for(100ms);
      }
    }
  }

  pi::UniqueFd listener_;
  std::string url_;
  std::atomic<bool> stop_ = false;
  std::atomic<int> requests_ = 0;
  std::thread thread_;
};

class DebuginfodTimes : public testing::Test {
 protected:
  DebuginfodTimes() : cache(testing::TempDir() + "debuginfod_XXXXXX") {
    EXPECT_NE(::mkdtemp(cache.data()), nullptr);
    ::setenv("DEBUGINFOD_URLS", server.url().c_str(), 1);
    ::setenv("DEBUGINFOD_CACHE_PATH", cache.c_str(), 1);
    for (const char* each : {"DEBUGINFOD_TIMEOUT", "DEBUGINFOD_MAXTIME"}) ::unsetenv(each);
  }
  ~DebuginfodTimes() override {
    ::setenv("DEBUGINFOD_URLS", "", 1);
    ::unsetenv("DEBUGINFOD_CACHE_PATH");
    ::unsetenv("DEBUGINFOD_MAXTIME");
    std::filesystem::remove_all(cache);
  }
  // Requests two files; returns the first note.
  std::string request(const a2n::budgets::ServerTimes& times) {
    a2n::Notes notes;
    a2n::Debuginfod debuginfod(notes, times);
    debuginfod.use(nullptr, nullptr);
    EXPECT_FALSE(debuginfod.find("0123456789abcdef0123456789abcdef01234567", "/bin/one"));
    EXPECT_FALSE(debuginfod.find("1123456789abcdef0123456789abcdef01234567", "/bin/two"));
    EXPECT_EQ(notes.size(), 1u);
    return notes.size() == 0 ? "" : notes.get(0);
  }
  DrippingServer server;
  std::string cache;
};

#define SKIP_WITHOUT_CLIENT(note) \
  if ((note).find("libdebuginfod") != std::string::npos) GTEST_SKIP() << (note)

TEST_F(DebuginfodTimes, AServerThatDripsIsCancelledAfterTheTimeForAFile) {
  const std::string note = request({30s, 2s, 30s});
  SKIP_WITHOUT_CLIENT(note);
  EXPECT_THAT(note, AllOf(HasSubstr(server.url()),
                          HasSubstr("the debug file of /bin/one takes longer than 2 s"),
                          HasSubstr("not asked for any more")));
  EXPECT_EQ(server.requests(), 1);
}

TEST_F(DebuginfodTimes, AllFilesTogetherHaveALimitToo) {
  const std::string note = request({30s, 30s, 2s});
  SKIP_WITHOUT_CLIENT(note);
  EXPECT_THAT(note, HasSubstr("the debug files take longer than 2 s in all"));
  EXPECT_EQ(server.requests(), 1);
}

TEST_F(DebuginfodTimes, TheUserMaySetTheTimeForAFile) {
  ::setenv("DEBUGINFOD_MAXTIME", "2", 1);
  const std::string note = request({30s, 30s, 30s});
  SKIP_WITHOUT_CLIENT(note);
  EXPECT_EQ(server.requests(), 1);
}

}  // namespace
