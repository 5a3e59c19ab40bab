// SPDX-License-Identifier: MIT
// Functions that are patched while they are used in every way. Usage: patched_cases WHAT [N]; WHAT
// is a function below. Prints what it computes, which does not depend on hooks.
#include <dlfcn.h>
#include <execinfo.h>
#include <immintrin.h>
#include <pthread.h>

#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

#include "hookit.h"

#define UNPATCHED __attribute__((patchable_function_entry(0)))
#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noipa))
#endif

namespace {
volatile long sink;
}

extern "C" {

ALONE void leaf() {
  sink = sink + 1;
}

// ---- arguments and results ----

struct Pair {
  double a, b;
};
struct Mixed {
  long a;
  double b;
};
struct Large {
  long values[5];
};
struct Tiny {
  float a;
};

ALONE long many_arguments(int a, long b, float c, double d, short e, unsigned f, char g, long h,
                          long i, double j, double k, double l, double m, double n, double o,
                          double p, double q, long double r, Large s, Mixed t, __int128 u) {
  return a + b * 2 + static_cast<long>(c * 3) + static_cast<long>(d * 4) + e * 5 + f * 6 + g * 7 +
         h * 8 + i * 9 + static_cast<long>(j * 10 + k * 11 + l * 12 + m * 13 + n * 14 + o * 15) +
         static_cast<long>(p * 16 + q * 17) + static_cast<long>(r * 18) + s.values[4] * 19 +
         t.a * 20 + static_cast<long>(t.b * 21) + static_cast<long>(u >> 64) * 22;
}

ALONE double variable_arguments(int count, ...) {
  va_list all;
  va_start(all, count);
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += va_arg(all, double) * va_arg(all, int);
  va_end(all);
  return sum;
}

ALONE int return_int(int a) {
  return a * 3;
}
ALONE __int128 return_int128(long a) {
  return static_cast<__int128>(a) << 64 | static_cast<unsigned long>(~a);
}
ALONE float return_float(float a) {
  return a * 3;
}
ALONE double return_double(double a) {
  return a * 3;
}
ALONE long double return_long_double(long double a) {
  return a * 3;
}
ALONE _Complex long double return_complex(long double a) {
  _Complex long double result;
  __real__ result = a;
  __imag__ result = -a;
  return result;
}
ALONE Pair return_pair(double a) {
  return {a, -a};
}
ALONE Mixed return_mixed(long a) {
  return {a, -0.5 * static_cast<double>(a)};
}
ALONE Large return_large(long a) {
  return {{a, a + 1, a + 2, a + 3, a + 4}};
}
ALONE Tiny return_tiny(float a) {
  return {a / 2};
}

__attribute__((target("avx"))) ALONE __m256d return_vector(__m256d a, __m256d b) {
  return _mm256_sub_pd(a, b);
}

__attribute__((target("avx"))) UNPATCHED double vectors() {
  alignas(32) double out[4];
  _mm256_store_pd(out, return_vector(_mm256_set_pd(8, 7, 6, 5), _mm256_set_pd(1, 3, 5, 7)));
  return out[0] + out[1] * 10 + out[2] * 100 + out[3] * 1000;
}

UNPATCHED void arguments(long n) {
  for (long i = 0; i < n; ++i) {
    const auto d = static_cast<double>(i);
    const long sum =
        many_arguments(1, 2 + i, 3.5F, 4.25, 5, 6, 'g', 8, 9, 10.5, 11, 12, 13, 14, 15, 16, d,
                       18.5L, {{1, 2, 3, 4, 5 + i}}, {20, 21.5}, static_cast<__int128>(22) << 64);
    const double varied =
        variable_arguments(9, 1.5, 1, 2.5, 2, 3.5, 3, 4.5, 4, 5.5, 5, 6.5, 6, 7.5, 7, 8.5, 8, d, 9);
    const auto wide = return_int128(i + 5);
    const auto complex = return_complex(7.25L);
    const auto pair = return_pair(d + 2);
    const auto mixed = return_mixed(i + 3);
    const auto large = return_large(i);
    if (i == n - 1)
      std::printf("%ld %.3f %d %lx %lx %g %g %Lg %Lg %Lg %g %g %ld %g %ld %g %g\n", sum, varied,
                  return_int(14), static_cast<long>(wide >> 64), static_cast<long>(wide),
                  static_cast<double>(return_float(1.25F)), return_double(2.5),
                  return_long_double(1.0L / 3), __real__ complex, __imag__ complex, pair.a, pair.b,
                  mixed.a, mixed.b, large.values[4], static_cast<double>(return_tiny(9).a),
                  __builtin_cpu_supports("avx") ? vectors() : 0.0);
  }
}

// A thread's first event must not change arguments either: these are in vector registers.
UNPATCHED void* first_call(void* sum) {
  *static_cast<double*>(sum) = return_pair(3).b + variable_arguments(2, 1.5, 2, 2.5, 4) +
                               (__builtin_cpu_supports("avx") ? vectors() : 1.0);
  return nullptr;
}

// ---- frames that end otherwise ----

ALONE void throws(long depth) {
  if (depth == 0) throw std::runtime_error("thrown");
  throws(depth - 1);
  sink = sink + 1;
}

struct Counts {
  ~Counts() { leaf(); }
};

ALONE void cleans_up(long depth) {
  const Counts at_end;
  throws(depth);
  sink = sink + 1;
}

ALONE long catches(long n) {
  long caught = 0;
  for (long i = 0; i < n; ++i) {
    try {
      cleans_up(5);
    } catch (const std::runtime_error&) {
      ++caught;
      leaf();
    }
  }
  return caught;
}

ALONE long ends_with_jump(long n);
ALONE long jumped_to(long n) {
  leaf();
  return n + 1;
}
ALONE long ends_with_jump(long n) {
  leaf();
  return jumped_to(n * 2);
}
ALONE long calls_jumper(long n) {
  long sum = 0;
  for (long i = 0; i < n; ++i) sum += ends_with_jump(i);
  return sum;
}

ALONE int traced(int depth, void** frames, int size) {
  if (depth == 0) return backtrace(frames, size);
  const int count = traced(depth - 1, frames, size);
  sink = sink + count;
  return count;
}

void (*volatile end_thread)(void*) = pthread_exit;

// Ends below many patched frames; their destructors run.
ALONE void exits_thread(long depth) {
  const Counts at_end;
  if (depth == 0) {
    end_thread(nullptr);
    return;
  }
  exits_thread(depth - 1);
  sink = sink + 1;
}
UNPATCHED void* exiting(void*) {
  exits_thread(10);
  return nullptr;
}

// ---- hooks while threads run ----

ALONE long fibonacci(long n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

std::atomic<bool> stop_all;

ALONE void runs_until_end(std::atomic<long>* wrong) {
  while (!stop_all) {
    if (fibonacci(12) != 144 || calls_jumper(10) != 100 || catches(1) != 1) ++*wrong;
  }
}

UNPATCHED void toggles(long n) {
  std::atomic<long> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(runs_until_end, &wrong);
  long failed = 0;
  for (long i = 0; i < n; ++i) failed += (hookit_start() != 0) + (hookit_stop() != 0);
  stop_all = true;
  for (auto& thread : threads) thread.join();
  std::printf("wrong %ld failed %ld\n", wrong.load(), failed);
}

UNPATCHED void runs_threads(long n) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([n] {
      for (long j = 0; j < n; ++j) calls_jumper(3);
    });
  for (auto& thread : threads) thread.join();
}

UNPATCHED void loads(const char* library) {
  void* handle = dlopen(library, RTLD_NOW);
  if (!handle) std::printf("%s\n", dlerror());
  const auto function =
      handle ? reinterpret_cast<long (*)(long)>(dlsym(handle, "loaded")) : nullptr;
  if (!function) return;
  function(1);
  hookit_start();
  std::printf("%ld\n", function(2));
  dlclose(handle);
  hookit_stop();
}
}

UNPATCHED int main(int count, char** arguments_of_main) {
  const char* what = count > 1 ? arguments_of_main[1] : "";
  const long n = count > 2 ? std::atol(arguments_of_main[2]) : 1;
  if (!std::strcmp(what, "arguments")) arguments(n);
  if (!std::strcmp(what, "first")) {
    double sum = 0;
    pthread_t thread;
    pthread_create(&thread, nullptr, first_call, &sum);
    pthread_join(thread, nullptr);
    std::printf("%g\n", sum);
  }
  if (!std::strcmp(what, "catches")) std::printf("%ld\n", catches(n));
  if (!std::strcmp(what, "jumps")) std::printf("%ld\n", calls_jumper(n));
  if (!std::strcmp(what, "backtrace")) {
    void* frames[64];
    std::printf("%s\n", traced(10, frames, 64) >= 13 ? "all" : "lost");
  }
  if (!std::strcmp(what, "exit")) {
    pthread_t thread;
    pthread_create(&thread, nullptr, exiting, nullptr);
    pthread_join(thread, nullptr);
    std::printf("%ld\n", sink);
  }
  if (!std::strcmp(what, "toggles")) toggles(n);
  if (!std::strcmp(what, "threads")) runs_threads(n);
  if (!std::strcmp(what, "loads")) loads(arguments_of_main[2]);
}
