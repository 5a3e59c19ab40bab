// SPDX-License-Identifier: MIT
// C++ functions that keep values in every register, so that the compiler uses the frame pointer
// register for values if allowed. Usage: framed|unframed SECONDS of CPU time. Compiled with and
// without frame pointers.
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <vector>

namespace {

struct Node {
  virtual ~Node() = default;
  virtual uint64_t total(uint64_t a, uint64_t b, uint64_t c) const = 0;
};

struct Leaf final : Node {
  [[gnu::noinline]] uint64_t total(uint64_t a, uint64_t b, uint64_t c) const override {
    uint64_t d = a ^ 1, e = b ^ 2, f = c ^ 3, g = a + b;
    for (int i = 0; i < 2000; ++i) {
      a += b * 3;
      b ^= c >> 7;
      c += d;
      d ^= e << 3;
      e += f * 5;
      f ^= g;
      g += a >> 11;
    }
    return a + b + c + d + e + f + g;
  }
};

struct Pair final : Node {
  std::unique_ptr<Node> left, right;
  [[gnu::noinline]] uint64_t total(uint64_t a, uint64_t b, uint64_t c) const override {
    const uint64_t first = left->total(b, c, a);
    return first * 31 + right->total(c, a ^ first, b) + a;
  }
};

std::unique_ptr<Node> make_tree(int depth) {
  if (depth == 0) return std::make_unique<Leaf>();
  auto pair = std::make_unique<Pair>();
  pair->left = make_tree(depth - 1);
  pair->right = make_tree(depth - 1);
  return pair;
}

[[gnu::noinline]] uint64_t walk(const std::vector<std::unique_ptr<Node>>& trees, uint64_t seed) {
  uint64_t sum = seed;
  for (const auto& tree : trees) sum += tree->total(sum, seed, sum ^ seed);
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 1;
  std::vector<std::unique_ptr<Node>> trees;
  for (int i = 0; i < 8; ++i) trees.push_back(make_tree(3));
  uint64_t sum = 1;
  while (static_cast<double>(std::clock()) / CLOCKS_PER_SEC < seconds) sum = walk(trees, sum);
  return sum == 0;
}
