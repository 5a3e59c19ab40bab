// SPDX-License-Identifier: MIT
// Packets with descriptors: what is taken, and that no descriptor of a refused packet stays open.
#include <pi/descriptor_packet.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>

#include <gtest/gtest.h>

namespace pi {
namespace {

std::span<const std::byte> bytes_of(const uint64_t& number) {
  return std::as_bytes(std::span(&number, 1));
}

ino_t inode(int fd) {
  struct stat facts {};
  EXPECT_EQ(::fstat(fd, &facts), 0);
  return facts.st_ino;
}

auto open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

class DescriptorPackets : public ::testing::Test {
 protected:
  DescriptorPackets() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    sender_ = UniqueFd(ends[0]);
    receiver_ = UniqueFd(ends[1]);
    EXPECT_TRUE(null_ && zero_);
  }

  DescriptorPacket receive() {
    return receive_with_descriptors(receiver_.get(), std::as_writable_bytes(std::span(&number_, 1)),
                                    taken_);
  }
  void expect_refused() {
    const auto before = open_descriptors();
    EXPECT_EQ(receive(), DescriptorPacket::invalid);
    EXPECT_FALSE(taken_[0] || taken_[1]);
    EXPECT_EQ(open_descriptors(), before);
  }

  UniqueFd sender_, receiver_;
  UniqueFd null_{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  UniqueFd zero_{::open("/dev/zero", O_RDONLY | O_CLOEXEC)};
  uint64_t number_ = 0;
  std::array<UniqueFd, 2> taken_;
};

TEST_F(DescriptorPackets, BothDescriptorsArriveInOrderAndAreClosedOnExec) {
  ASSERT_TRUE(
      send_with_descriptors(sender_.get(), bytes_of(7), std::array{null_.get(), zero_.get()}, 0));
  ASSERT_EQ(receive(), DescriptorPacket::good);
  EXPECT_EQ(number_, 7u);
  EXPECT_EQ(inode(taken_[0].get()), inode(null_.get()));
  EXPECT_EQ(inode(taken_[1].get()), inode(zero_.get()));
  for (const auto& fd : taken_) EXPECT_EQ(::fcntl(fd.get(), F_GETFD), FD_CLOEXEC);
}

TEST_F(DescriptorPackets, AnotherNumberOfDescriptorsIsRefused) {
  ASSERT_TRUE(send_with_descriptors(sender_.get(), bytes_of(1), std::array{null_.get()}, 0));
  expect_refused();
  ASSERT_TRUE(send_with_descriptors(sender_.get(), bytes_of(1),
                                    std::array{null_.get(), null_.get(), null_.get()}, 0));
  expect_refused();
  ASSERT_TRUE(send_with_descriptors(sender_.get(), bytes_of(1),
                                    std::array{null_.get(), null_.get(), null_.get(), null_.get()},
                                    0));
  expect_refused();
  ASSERT_EQ(::send(sender_.get(), &number_, sizeof number_, 0),
            static_cast<ssize_t>(sizeof number_));
  expect_refused();
}

TEST_F(DescriptorPackets, AnotherLengthIsRefused) {
  const std::array<uint64_t, 2> longer{1, 2};
  const std::array pair{null_.get(), zero_.get()};
  ASSERT_TRUE(send_with_descriptors(sender_.get(), std::as_bytes(std::span(longer)), pair, 0));
  expect_refused();
  ASSERT_TRUE(send_with_descriptors(sender_.get(), bytes_of(1).first(4), pair, 0));
  expect_refused();
}

TEST_F(DescriptorPackets, TheOtherSidesEndIsNoPacket) {
  sender_.reset();
  EXPECT_EQ(receive(), DescriptorPacket::closed);
}

}  // namespace
}  // namespace pi
