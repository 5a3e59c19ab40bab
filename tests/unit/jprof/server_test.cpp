// SPDX-License-Identifier: MIT
// The command server, with clients that keep to the protocol and with hostile ones.
#include "server/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <pi/files.h>
#include <pi/jvm_commands.h>
#include <pi/user_socket.h>

#include "temp_dir.h"

namespace pi::jprof {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

constexpr uint32_t pid = 4711;

// A blocking client.
class Client {
 public:
  explicit Client(UniqueFd fd) : fd_(std::move(fd)) {
    const timeval limit{20, 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }

  bool send(std::string_view text) const {
    return ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(text.size());
  }
  void end_sending() const { ::shutdown(fd_.get(), SHUT_WR); }

  // At most count bytes; less if the connection ends.
  std::string receive(size_t count) const {
    std::string text(count, '\0');
    text.resize(read_on(fd_.get(), std::as_writable_bytes(std::span(text))).bytes);
    return text;
  }

  // Of a client that has sent the greeting: K or N, and the text.
  std::string answer() const {
    std::string all;
    for (;;) {
      const std::string head = receive(jvm_commands::length_bytes);
      if (head.size() < jvm_commands::length_bytes) return all + "[end]";
      const size_t length = jvm_commands::read_length(head);
      if (length == 0) return all;
      all += receive(length);
    }
  }

  std::string command(std::string_view text) const {
    return send(jvm_commands::frame(text)) ? answer() : "[not sent]";
  }

  bool is_open() const {
    pollfd waiting{fd_.get(), POLLIN, 0};
    return ::poll(&waiting, 1, 0) == 0;
  }

 private:
  UniqueFd fd_;
};

class ServerTest : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv(jvm_commands::directory_variable, directory().c_str(), 1);
    settings_.pid = pid;
  }
  void TearDown() override {
    if (thread_.joinable()) {
      server_.stop();
      thread_.join();
    }
    ::unsetenv(jvm_commands::directory_variable);
  }

  std::string directory() const { return dir_.path() + "/jvms"; }
  std::string socket_path() const { return directory() + "/" + jvm_commands::socket_name(pid); }

  void start() {
    const auto opened = server_.open(settings_);
    ASSERT_TRUE(opened) << opened.error().message;
    thread_ = std::thread(
        [this] { server_.run([this](const Command& command) { return execute(command); }); });
  }

  Answer execute(const Command& command) {
    ++executed_;
    if (command.verb == Verb::info) return {true, std::string(info_bytes_, 'i')};
    return {command.verb != Verb::flush, command.text + " done"};
  }

  Client connect() const {
    const auto address = socket_address(socket_path());
    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address),
              0);
    return Client(std::move(fd));
  }

  Client connect_framed() const {
    Client client = connect();
    EXPECT_TRUE(client.send(jvm_commands::greeting));
    EXPECT_EQ(client.receive(1), "K");
    return client;
  }

  static Client connect_to_port(unsigned port) {
    UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return Client(std::move(fd));
  }

  test::TempDir dir_;
  Server::Settings settings_;
  Server server_;
  std::thread thread_;
  std::atomic<int> executed_ = 0;
  size_t info_bytes_ = 10;
};

TEST_F(ServerTest, BothProtocolsAnswer) {
  start();
  const Client framed = connect_framed();
  EXPECT_EQ(framed.command("reset"), "Kreset done");
  EXPECT_EQ(framed.command("flush"), "Nflush done");
  EXPECT_EQ(framed.command("query_pid"), "K4711");
  EXPECT_EQ(framed.command("reset,flush"), "Nreset done\nflush done");
  EXPECT_THAT(framed.command("nonsense"), StartsWith("N'nonsense' is no command"));
  const Client classic = connect();
  EXPECT_TRUE(classic.send(",reset"));
  EXPECT_EQ(classic.receive(1), "K");
  EXPECT_TRUE(classic.send("flush"));
  EXPECT_EQ(classic.receive(1), "N");
  EXPECT_TRUE(classic.send("query_pid\n"));
  EXPECT_EQ(classic.receive(4), "4711");
}

TEST_F(ServerTest, TheSocketIsPrivateAndRemovedAtTheEnd) {
  start();
  struct stat facts {};
  ASSERT_EQ(::stat(directory().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0700U);
  ASSERT_EQ(::stat(socket_path().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0600U);
  server_.stop();
  EXPECT_FALSE(std::filesystem::exists(socket_path()));
}

TEST_F(ServerTest, AStaleSocketIsReplacedAndALiveOneIsNot) {
  {
    Server killed;
    ASSERT_TRUE(killed.open(settings_));
    std::filesystem::rename(socket_path(), socket_path() + ".kept");
  }
  std::filesystem::rename(socket_path() + ".kept", socket_path());
  start();
  EXPECT_EQ(connect_framed().command("reset"), "Kreset done");
  Server other;
  const auto opened = other.open(settings_);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("another process with this id listens"));
  EXPECT_EQ(connect_framed().command("reset"), "Kreset done");
}

// The id of a process that has ended.
pid_t ended_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  return child;
}

UniqueFd bound_socket(const std::string& path, bool listens) {
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto address = socket_address(path);
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address), 0);
  EXPECT_TRUE(!listens || ::listen(fd.get(), 1) == 0);
  return fd;
}

TEST_F(ServerTest, SocketsOfOtherEndedProcessesAreRemoved) {
  ASSERT_TRUE(private_directory(directory()));
  const auto path = [this](uint32_t of) {
    return directory() + "/" + jvm_commands::socket_name(of);
  };
  const auto ended = static_cast<uint32_t>(ended_process());
  (void)bound_socket(path(ended), true);
  // Kept: one that listens, of a process in another pid namespace; what is no socket; other names.
  const auto listening = static_cast<uint32_t>(ended_process());
  const auto server = bound_socket(path(listening), true);
  const auto file = static_cast<uint32_t>(ended_process());
  std::ofstream(path(file)) << "x";
  const std::string other = directory() + "/jprof-0" + std::to_string(ended) + ".socket";
  (void)bound_socket(other, true);
  start();
  EXPECT_FALSE(std::filesystem::exists(path(ended)));
  EXPECT_TRUE(std::filesystem::exists(path(listening)));
  EXPECT_TRUE(std::filesystem::exists(path(file)));
  EXPECT_TRUE(std::filesystem::exists(other));
  EXPECT_TRUE(std::filesystem::exists(socket_path()));
  EXPECT_EQ(connect_framed().command("START"), "KSTART done");
}

TEST_F(ServerTest, ADirectoryThatOthersMayUseIsRefused) {
  ASSERT_EQ(::mkdir(directory().c_str(), 0700), 0);
  ASSERT_EQ(::chmod(directory().c_str(), 0755), 0);
  EXPECT_FALSE(server_.open(settings_));
  ASSERT_EQ(::chmod(directory().c_str(), 0700), 0);
  std::ofstream(socket_path()) << "a file";
  const auto opened = server_.open(settings_);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("is not a socket"));
}

TEST_F(ServerTest, APortNeedsTheKeyAndTakesNoPaths) {
  settings_.port = 18888;
  start();
  ASSERT_THAT(server_.description(), HasSubstr(" and port "));
  const auto description = server_.description();
  const auto port =
      static_cast<unsigned>(std::stoul(description.substr(description.rfind(' ') + 1)));
  const std::string key_path = directory() + "/" + jvm_commands::key_name(port);
  struct stat facts {};
  ASSERT_EQ(::stat(key_path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0600U);
  const std::string written = test::slurp(key_path);
  const std::string key = written.substr(0, 65);
  EXPECT_EQ(written.substr(64), "\n" + jvm_commands::socket_name(pid) + "\n");
  for (const std::string wrong : {"query_pid\n", "KEY wrong\n", "\x0e\x0f\x0e\x0f\n"}) {
    const Client client = connect_to_port(port);
    EXPECT_TRUE(client.send(wrong));
    EXPECT_EQ(client.receive(2), "N") << wrong;  // and the end
  }
  EXPECT_EQ(executed_, 0);
  const Client client = connect_to_port(port);
  EXPECT_TRUE(client.send("KEY " + key));
  EXPECT_EQ(client.receive(1), "K");
  EXPECT_TRUE(client.send(jvm_commands::greeting));
  EXPECT_EQ(client.receive(1), "K");
  EXPECT_EQ(client.command("reset"), "Kreset done");
  for (const char* text : {"logpath=/tmp", "fnm=/tmp/x", "LOGPREFIX=x", "gc logpath=/tmp"})
    EXPECT_THAT(client.command(text), HasSubstr("only through the Unix socket")) << text;
  EXPECT_EQ(executed_, 1);
  server_.stop();
  EXPECT_FALSE(std::filesystem::exists(key_path));
}

TEST_F(ServerTest, ASecondServerTakesTheNextPort) {
  settings_.port = 18888;
  start();
  Server other;
  auto settings = settings_;
  settings.pid = pid + 1;
  ASSERT_TRUE(other.open(settings));
  EXPECT_THAT(other.description(), HasSubstr(" and port "));
  EXPECT_NE(other.description().substr(other.description().rfind(' ')),
            server_.description().substr(server_.description().rfind(' ')));
}

TEST_F(ServerTest, TheKeyOfALivingServerIsNotReplaced) {
  start();
  // As one in another network namespace writes it, where the port is another one.
  const auto key_of = [&](uint32_t owner) {
    return std::string(64, '0') + "\n" + jvm_commands::socket_name(owner) + "\n";
  };
  const auto key_path = [&](unsigned port) {
    return directory() + "/" + jvm_commands::key_name(port);
  };
  const auto port_of = [](const Server& server) {
    const auto description = server.description();
    return static_cast<unsigned>(std::stoul(description.substr(description.rfind(' ') + 1)));
  };
  auto settings = settings_;
  settings.pid = pid + 1;
  settings.port = 18888;
  unsigned free_port = 0;
  {
    Server other;
    ASSERT_TRUE(other.open(settings));
    free_port = settings.port = port_of(other);
    other.stop();
  }
  std::ofstream(key_path(free_port)) << key_of(pid);
  Server other;
  ASSERT_TRUE(other.open(settings));
  EXPECT_GT(port_of(other), free_port);
  EXPECT_EQ(test::slurp(key_path(free_port)), key_of(pid));
  other.stop();
  other.close();
  // That of a server which has ended is.
  std::ofstream(key_path(free_port)) << key_of(pid + 2);
  Server third;
  ASSERT_TRUE(third.open(settings));
  EXPECT_EQ(port_of(third), free_port);
  EXPECT_NE(test::slurp(key_path(free_port)), key_of(pid + 2));
}

TEST_F(ServerTest, StartWithADelayHoldsUpNoClient) {
  start();
  const Client client = connect_framed();
  EXPECT_THAT(client.command("start=1"), StartsWith("Kthe recording starts in 1"));
  EXPECT_EQ(executed_, 0);
  EXPECT_EQ(connect_framed().command("reset"), "Kreset done");
  for (int tries = 0; executed_ < 2 && tries < 200; ++tries) std::this_thread::sleep_for(50ms);
  EXPECT_EQ(executed_, 2);
  // STOP cancels it.
  EXPECT_THAT(client.command("start=1"), StartsWith("K"));
  EXPECT_EQ(client.command("stop"), "Kstop done");
  std::this_thread::sleep_for(1300ms);
  EXPECT_EQ(executed_, 3);
}

TEST_F(ServerTest, ShutdownEndsTheServer) {
  start();
  const Client client = connect_framed();
  EXPECT_EQ(client.command("shutdown,reset"), "Kshutdown done");
  thread_.join();
  EXPECT_EQ(client.receive(1), "");
  EXPECT_FALSE(std::filesystem::exists(socket_path()));
}

TEST_F(ServerTest, HalfAMessageIsAnErrorAndExecutesNothing) {
  settings_.patience.rest = 300ms;
  start();
  const Client waits = connect_framed(), ends = connect_framed(), silent = connect();
  EXPECT_TRUE(waits.send(jvm_commands::frame("reset").substr(0, 6)));
  EXPECT_TRUE(ends.send(jvm_commands::frame("reset").substr(0, 6)));
  ends.end_sending();
  EXPECT_EQ(ends.answer(), "Nthe message has no end");
  EXPECT_EQ(waits.answer(), "Nthe rest of the message did not arrive in time");
  EXPECT_EQ(waits.receive(1), "");
  EXPECT_EQ(silent.receive(1), "");  // a client that sends no first message
  EXPECT_EQ(executed_, 0);
}

TEST_F(ServerTest, AnIdleClientStaysConnected) {
  settings_.patience.rest = 100ms;
  start();
  const Client client = connect_framed();
  EXPECT_EQ(client.command("reset"), "Kreset done");
  std::this_thread::sleep_for(400ms);
  EXPECT_TRUE(client.is_open());
  EXPECT_EQ(client.command("reset"), "Kreset done");
}

TEST_F(ServerTest, AGigabyteIsRefusedAtOnce) {
  start();
  const Client framed = connect_framed();
  EXPECT_TRUE(framed.send(jvm_commands::length_text(size_t{1} << 30)));
  EXPECT_EQ(framed.answer(), "Na message has at most 65536 bytes");
  EXPECT_EQ(framed.receive(1), "");
  const Client classic = connect();
  EXPECT_TRUE(classic.send(std::string(1000, 'x')));
  EXPECT_EQ(classic.receive(1), "N");
  EXPECT_EQ(classic.receive(1), "");
  // A client that just goes on sending is cut off.
  const Client stubborn = connect();
  size_t sent = 0;
  while (sent < (size_t{1} << 30) && stubborn.send(std::string(65536, 'x'))) sent += 65536;
  EXPECT_LT(sent, size_t{16} << 20);
  EXPECT_EQ(connect_framed().command("reset"), "Kreset done");
}

TEST_F(ServerTest, OfAThousandConnectionsSixteenAreAccepted) {
  settings_.patience.rest = 600s;
  start();
  const Client first = connect_framed();
  std::vector<Client> all;
  for (int i = 0; i < 1000; ++i) all.push_back(connect());
  int refused = 0;
  EXPECT_EQ(first.command("reset"), "Kreset done");
  // The last ones may still wait to be accepted.
  for (const auto end = std::chrono::steady_clock::now() + 10s;
       refused < 985 && std::chrono::steady_clock::now() < end;)
    for (const auto& client : all)
      if (!client.is_open()) refused += client.receive(2) == "N" ? 1 : 0;
  EXPECT_EQ(refused, 985);
  all.clear();
  // The others are gone as well, so that new ones are accepted.
  EXPECT_EQ(first.command("reset"), "Kreset done");
  EXPECT_EQ(connect_framed().command("reset"), "Kreset done");
}

TEST_F(ServerTest, AClientThatDoesNotReadIsDropped) {
  settings_.patience.rest = 300ms;
  info_bytes_ = 8 << 20;  // more than a socket holds
  start();
  const Client deaf = connect_framed();
  EXPECT_TRUE(deaf.send(jvm_commands::frame("jprofinfo")));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(connect_framed().command("reset"), "Kreset done");
  std::this_thread::sleep_for(1s);
  EXPECT_THAT(deaf.answer(), testing::EndsWith("[end]"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 15s);
}

}  // namespace
}  // namespace pi::jprof
