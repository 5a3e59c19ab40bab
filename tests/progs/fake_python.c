// SPDX-License-Identifier: MIT
// A library that exports the code that Python copies for each function (-X perf).
void _Py_trampoline_func_start(void) {}
