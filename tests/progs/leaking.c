// SPDX-License-Identifier: MIT
// Loses blocks in known numbers, and keeps others in known places: leaking [late] WAY. late: a line on the standard input begins
// it, a second one ends the program. WAY: how it ends.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NOIPA __attribute__((noipa))

void registry_keep(void* block);

struct node {
  struct node *next, *before;
  char more[32];
};

static void* volatile in_static;
static __thread void* volatile in_tls;
static char* volatile in_the_middle;
static struct node* volatile chain;
static void* volatile* mapped;
static pthread_barrier_t ready;

NOIPA static void lost_pointer(void) {
  for (int i = 0; i < 3; ++i) {
    char* block = malloc(100);
    block[0] = 1;
    __asm__ volatile("" : : "r"(block) : "memory");
  }
}

NOIPA static void lost_list(void) {
  struct node* first = NULL;
  for (int i = 0; i < 1000; ++i) {
    struct node* node = calloc(1, sizeof *node);
    node->next = first;
    first = node;
  }
  __asm__ volatile("" : : "r"(first) : "memory");
}

NOIPA static void lost_cycle(void) {
  struct node* nodes[5];
  for (int i = 0; i < 5; ++i) nodes[i] = malloc(sizeof *nodes[i]);
  for (int i = 0; i < 5; ++i) {
    nodes[i]->next = nodes[(i + 1) % 5];
    nodes[i]->before = nodes[(i + 4) % 5];
  }
  memset(nodes, 0, sizeof nodes);
  __asm__ volatile("" : : "r"(nodes) : "memory");
}

// The pointer is still in the block that was freed.
NOIPA static void lost_with_its_holder(void) {
  void* volatile* holder = malloc(200);
  holder[5] = malloc(60);
  free((void*)holder);
}

// In the stack of a thread that has ended, too.
static void* lose_in_thread(void* unused) {
  lost_pointer();
  return unused;
}

NOIPA static void lost_by_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, lose_in_thread, NULL);
  pthread_join(thread, NULL);
}

NOIPA static void* kept_in_static(void) {
  return malloc(11);
}
NOIPA static void* kept_in_tls(void) {
  return malloc(12);
}
NOIPA static void* kept_in_mapped(void) {
  return malloc(13);
}
NOIPA static void* kept_in_chain(struct node* next) {
  struct node* node = calloc(1, sizeof *node);
  node->next = next;
  return node;
}
NOIPA static void* kept_on_stack(void) {
  return malloc(14);
}
NOIPA static void* kept_in_register(void) {
  return malloc(15);
}
NOIPA static void* kept_in_registry(void) {
  return malloc(16);
}
NOIPA static void* kept_in_big(void) {
  return malloc(17);
}
// What is reached through a block that is reached by its middle only is so, too.
NOIPA static void* kept_in_the_middle(void) {
  void* volatile* block = malloc(80);
  block[0] = malloc(20);
  return (void*)block;
}

static void* holds_on_stack(void* unused) {
  void* volatile held = kept_on_stack();
  in_tls = kept_in_tls();
  pthread_barrier_wait(&ready);
  pause();
  return held ? unused : NULL;
}

static void* holds_in_register(void* unused) {
  void* volatile place = kept_in_register();
  void* block = place;
  place = NULL;
  pthread_barrier_wait(&ready);
  __asm__ volatile("1: pause\n\tjmp 1b" : : "r"(block));
  return unused;
}

NOIPA static void keeps(void) {
  in_static = kept_in_static();
  in_tls = kept_in_tls();
  mapped = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mapped[100] = kept_in_mapped();
  for (int i = 0; i < 10; ++i) chain = kept_in_chain(chain);
  registry_keep(kept_in_registry());
  in_the_middle = (char*)kept_in_the_middle() + 40;
  // One with pages that were never touched, in a mapping of its own.
  void* volatile* big = malloc(64 << 20);
  big[5 << 20] = kept_in_big();
  mapped[200] = (void*)big;
  pthread_t thread;
  pthread_barrier_init(&ready, NULL, 3);
  pthread_create(&thread, NULL, holds_on_stack, NULL);
  pthread_create(&thread, NULL, holds_in_register, NULL);
  pthread_barrier_wait(&ready);
}

NOIPA static void loses(void) {
  lost_pointer();
  lost_list();
  lost_cycle();
  lost_with_its_holder();
  lost_by_thread();
}

static void wait_for_line(const char* text) {
  char byte = 0;
  if (write(1, text, strlen(text)) < 0) exit(6);
  while (byte != '\n')
    if (read(0, &byte, 1) != 1) exit(7);
}

static void* ends(void* way) {
  if (strcmp(way, "_exit") == 0) _exit(0);
  if (strcmp(way, "quick_exit") == 0) quick_exit(0);
  if (strcmp(way, "abort") == 0) abort();
  exit(0);
}

int main(int count, char** words) {
  const int is_late = count > 1 && strcmp(words[1], "late") == 0;
  const char* way = count > 1 + is_late ? words[1 + is_late] : "return";
  if (is_late) wait_for_line("ready\n");
  loses();
  keeps();
  if (is_late) wait_for_line("done\n");
  if (strcmp(way, "return") == 0) return 0;
  if (strcmp(way, "thread") != 0) ends((void*)way);
  pthread_t thread;
  pthread_create(&thread, NULL, ends, "exit");
  pause();
}
