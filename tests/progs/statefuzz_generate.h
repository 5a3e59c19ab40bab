// SPDX-License-Identifier: MIT
// Chooses the next calls of statefuzz.
#ifndef STATEFUZZ_GENERATE_H
#define STATEFUZZ_GENERATE_H

#include "statefuzz_model.h"

namespace statefuzz {

class Generator {
 public:
  Generator(Random& random, const Model& model) : random_(random), model_(model) {}
  int choose_role();
  // Returns any call of that thread; a long one only if may_cost is set.
  Call choose(int role, int thread, bool may_cost);
  // Chooses a call that ends all tracing by ITrace; returns false if there is none.
  bool choose_end(int& role, int& thread, Call& call);
  // Returns a call that changes the module's state, and its role and thread.
  Call choose_change(int& role, int& thread);

 private:
  Call any(int role);
  bool choose_compare(int role, const Thread& own, Call& call);
  Call any_change(int& role, int& thread);
  void choose_child(int role, Call& call);
  void choose_itrace_step(int& role, int& thread, Call& call);
  void choose_ioctl(int role, Call& call);
  void choose_pointer(Call& call);
  void choose_map(int role, Call& call);
  void choose_area_call(int role, Call& call);
  void fill(int role, Call& call);
  void fill_session(Call& call);
  void fill_hook(Call& call);
  void fill_itrace(int role, Call& call);
  void fill_ptt(Call& call);
  void fill_init(Call& call);
  int handle_of(int role, bool ptt);
  bool find_owner(int& role, int& handle);
  Random& random_;
  const Model& model_;
};

}  // namespace statefuzz

#endif
