// SPDX-License-Identifier: MIT
// A C++ program for hookit with known numbers of calls: exceptions, inlined functions, templates.
#include <cstdlib>

namespace hooked {

volatile long sink;

[[gnu::noinline]] void thrower(long depth) {
  if (depth == 0) throw 42;
  thrower(depth - 1);
  sink = sink + 1;
}

[[gnu::noinline]] void catcher(long n) {
  for (long i = 0; i < n; ++i) {
    try {
      thrower(5);
    } catch (int value) {
      sink = sink + value;
    }
  }
}

template <class Number>
inline Number inlined(Number value) {
  return value + static_cast<Number>(sink);
}

[[gnu::noinline]] long outer(long value) {
  long sum = 0;
  for (int i = 0; i < 3; ++i) sum += inlined<long>(value + i);
  return sum;
}

}  // namespace hooked

[[gnu::no_instrument_function]] int main(int, char** arguments) {
  const long n = std::atol(arguments[1]);
  hooked::catcher(n);
  for (long i = 0; i < n; ++i) hooked::sink = hooked::outer(i);
}
