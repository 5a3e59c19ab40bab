// SPDX-License-Identifier: MIT
// Allocates by operator new in known numbers, in templates, lambdas and through exceptions.
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace shop {

struct Item {
  char bytes[48];
};

template <class T>
[[gnu::noipa]] T* make() {
  return new T();
}

class Cart {
 public:
  [[gnu::noipa]] void add() { items_.push_back(std::unique_ptr<Item>(make<Item>())); }
  [[gnu::noipa]] void reserve(size_t count) { items_.reserve(count); }

 private:
  std::vector<std::unique_ptr<Item>> items_;
};

[[gnu::noipa]] void throws(int depth) {
  const std::string text(100, 'x');  // freed by the exception
  if (depth == 0) throw std::runtime_error(text);
  throws(depth - 1);
}

// 20 items of 48 bytes and a vector of 160, all of which the leaked cart keeps; it has 24 itself.
[[gnu::noipa]] void leak_cart() {
  auto* cart = new Cart();
  cart->reserve(20);
  for (int i = 0; i < 20; ++i) cart->add();
  std::printf("%p\n", static_cast<void*>(cart));
}

// The same, freed.
[[gnu::noipa]] void use_cart() {
  Cart cart;
  cart.reserve(20);
  for (int i = 0; i < 20; ++i) cart.add();
}

}  // namespace shop

int main() {
  shop::leak_cart();
  for (int i = 0; i < 10; ++i) shop::use_cart();
  for (int i = 0; i < 5; ++i) try {
      shop::throws(3);
    } catch (const std::runtime_error&) {
    }
}
