// SPDX-License-Identifier: MIT
// A call tree of known shares in C++: virtual functions (30 %, half of it in a function that both
// call), a lambda in std::function (10 %), an exception (half before it is thrown, half where it is
// caught, 10 %), a recursion of 100 levels (20 %), a callback of the C library (10 %); 20 % in
// work() itself. Usage: whole SECONDS of CPU time. Compiled without frame pointers.
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <vector>

#include "burn.h"

namespace {

constexpr unsigned long percent = 50'000;  // rounds
volatile unsigned long zero = 0;

// The function has work to do after its last call, so that the call is no jump.
#define NOT_LAST() __asm__ volatile("")

}  // namespace

extern "C" {
[[gnu::noipa]] void leaf(unsigned long share) {
  BURN(share * percent);
}

[[gnu::noipa]] void thrower() {
  BURN(5 * percent);
  throw 1;
}

[[gnu::noipa]] void catcher() {
  try {
    thrower();
  } catch (int number) {
    BURN(5 * percent * static_cast<unsigned long>(number));
  }
}

[[gnu::noipa]] void deep(unsigned levels) {
  BURN(percent / 5);
  if (levels > 1) deep(levels - 1);
  NOT_LAST();
}

[[gnu::noipa]] int compare(const void*, const void*) {
  BURN(10 * percent);
  return 1;
}

// Two elements are compared once.
[[gnu::noipa]] void sort_pair() {
  int pair[] = {1, 2};
  std::qsort(pair, 2, sizeof *pair, compare);
  NOT_LAST();
}

[[gnu::noipa]] void with_lambda() {
  const unsigned long share = 5 * percent;
  const std::function<void(int)> burn = [&](int) { BURN(share); };
  const int twice[] = {1, 2};
  std::for_each(std::begin(twice), std::end(twice), burn);
  NOT_LAST();
}
}

struct Shape {
  virtual ~Shape() = default;
  virtual void measure() const = 0;
};

struct Circle final : Shape {
  [[gnu::noipa]] void measure() const override {
    leaf(10);
    BURN(5 * percent);
  }
};

struct Square final : Shape {
  [[gnu::noipa]] void measure() const override {
    BURN(10 * percent);
    leaf(5);
    NOT_LAST();
  }
};

extern "C" [[gnu::noipa]] void work(const std::vector<std::unique_ptr<Shape>>& shapes) {
  // A frame whose size is known only at run time.
  auto* const space = static_cast<char*>(__builtin_alloca(64 + zero));
  __asm__ volatile("" : : "r"(space) : "memory");
  for (const auto& shape : shapes) shape->measure();
  with_lambda();
  catcher();
  deep(100);
  sort_pair();
  BURN(20 * percent);
}

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 1;
  std::vector<std::unique_ptr<Shape>> shapes;
  shapes.push_back(std::make_unique<Circle>());
  shapes.push_back(std::make_unique<Square>());
  timespec used{};
  do {
    work(shapes);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  } while (static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9 < seconds);
  return 0;
}
