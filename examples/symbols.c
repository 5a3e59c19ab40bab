/* SPDX-License-Identifier: MIT */
/*
 * A program that looks up the module and symbol of one of its own addresses with liba2n. Usage:
 * symbols
 *
 * It adds its executable mappings, as the kernel lists them, and then looks an address up.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include <a2n.h>

/* The function to find; its symbol is in the program's file unless that is stripped. */
int find_me(int number);
__attribute__((noinline)) int find_me(int number) {
  return number + 1;
}

/* Adds one line of /proc/self/maps if it is an executable mapping of a file. */
static int add_mapping(uint32_t pid, const char* line) {
  uint64_t begin, end, offset, inode;
  char rights[5], path[1024];
  if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %" SCNu64 " %1023[^\n]", &begin,
             &end, rights, &offset, &inode, path) != 6 ||
      rights[2] != 'x' || path[0] != '/')
    return A2N_SUCCESS;
  return A2nAddModuleEx(pid, begin, end - begin, path, 0, offset, inode);
}

static int add_mappings(uint32_t pid) {
  FILE* const maps = fopen("/proc/self/maps", "r");
  if (!maps) {
    perror("symbols: /proc/self/maps");
    return 1;
  }
  char line[2048];
  int rc = A2N_SUCCESS;
  while (rc == A2N_SUCCESS && fgets(line, sizeof line, maps)) rc = add_mapping(pid, line);
  fclose(maps);
  if (rc != A2N_SUCCESS) fprintf(stderr, "symbols: %s\n", A2nRcToString(rc));
  return rc != A2N_SUCCESS;
}

int main(void) {
  const uint32_t pid = (uint32_t)getpid();
  A2nInit();
  /* With validation, a file that may have changed since it was mapped would give no names. */
  A2nSetSymbolValidationMode(0);
  if (A2nCreateProcess(pid) != A2N_SUCCESS || add_mappings(pid)) return 1;
  SYMDATA symbol;
  const int rc = A2nGetSymbol(pid, (uint64_t)(uintptr_t)&find_me, &symbol);
  if (rc != A2N_SUCCESS) {
    fprintf(stderr, "symbols: %s\n", A2nRcToString(rc));
    return 1;
  }
  printf("%s of %s, %" PRIu64 " bytes\n", symbol.sym_name, symbol.mod_name, symbol.sym_length);
  return find_me(-1);
}
