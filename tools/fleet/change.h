// SPDX-License-Identifier: MIT
// Whether a share of the ticks differs between two parts of a fleet by more than chance, of which
// hosts are the unit.
#ifndef FLEET_CHANGE_H
#define FLEET_CHANGE_H

#include <cstdint>

namespace fleet {

// All ticks of A and B. Of hosts: sums of products of their ticks in A and in B.
struct Whole {
  int64_t a = 0;
  int64_t b = 0;
  int64_t hosts_a = 0;
  int64_t hosts_b = 0;
  int64_t hosts_both = 0;
  double aa = 0;
  double bb = 0;
  double ab = 0;
};

// The ticks of one function, or another part; a_of_b: the sum over hosts of its ticks in A times
// all ticks of the host in B.
struct Part {
  int64_t a = 0;
  int64_t b = 0;
  double aa = 0;
  double bb = 0;
  double ab = 0;
  double a_of_a = 0;
  double a_of_b = 0;
  double b_of_a = 0;
  double b_of_b = 0;
};

// Whether both sides have enough hosts to show how much hosts differ by themselves.
bool hosts_suffice(const Whole& whole);

// The difference of the shares in standard deviations of a normal distribution, positive if B has
// the larger share: the smaller one of two tests. The one of ticks is that of post --diff; it takes
// each tick as independent. The one of hosts takes the share as a ratio of sums over hosts, whose
// variance follows from how far each host is from it (a host in A and B is a pair), and Student's
// distribution for as many hosts.
double sigmas_of_change(const Whole& whole, const Part& part);

}  // namespace fleet

#endif  // FLEET_CHANGE_H
