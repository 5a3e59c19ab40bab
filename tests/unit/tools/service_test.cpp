// SPDX-License-Identifier: MIT
// What a client reports of a service that ends while it is asked.
#include "service.h"

#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <pi/unique_fd.h>
#include <pi/user_socket.h>

namespace pi::service {
namespace {

constexpr Names names{"unused", "UNUSED", "sleeper", "dreams", "sleep on", "sleep off"};

// A socket that takes requests and closes each connection without an answer.
class SilentService {
 public:
  SilentService() : path_(::testing::TempDir() + "pi-silent-" + std::to_string(::getpid())) {
    ::unlink(path_.c_str());
    const auto address = socket_address(path_);
    listener_ = UniqueFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    EXPECT_EQ(
        ::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address), 0);
    EXPECT_EQ(::listen(listener_.get(), 64), 0);
  }
  ~SilentService() { ::unlink(path_.c_str()); }

  const std::string& path() const { return path_; }
  void drop_one() {
    const UniqueFd peer(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }
  void close() { listener_.reset(); }

 private:
  std::string path_;
  UniqueFd listener_;
};

TEST(Service, AServiceThatIsKilledWhileItIsAskedIsReportedAsKilled) {
  SilentService silent;
  std::thread dying([&] {
    silent.drop_one();
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    silent.close();
  });
  const auto reply = ask_service(silent.path(), names, {"read"});
  dying.join();
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, not_running);
  EXPECT_NE(reply.error().message.find("was killed and lost its dreams"), std::string::npos)
      << reply.error().message;
}

TEST(Service, AServiceThatRunsAndDoesNotAnswerIsReportedAsSuch) {
  SilentService silent;
  std::thread dropping([&] { silent.drop_one(); });
  const auto reply = ask_service(silent.path(), names, {"read"});
  dropping.join();
  ASSERT_FALSE(reply);
  EXPECT_NE(reply.error().message.find("did not answer"), std::string::npos)
      << reply.error().message;
}

}  // namespace
}  // namespace pi::service
