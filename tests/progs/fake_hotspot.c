// SPDX-License-Identifier: MIT
// A library that describes structures as libjvm.so does: those of a virtual machine that a test
// sets up.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct field {
  const char *type, *name, *kind;
  int32_t is_static;
  uint64_t offset;
  const void* address;
};

struct type {
  const char *name, *super;
  int32_t is_oop, is_integer, is_unsigned;
  uint64_t size;
};

struct flag {
  bool* value;
  const char* name;
  int kind;
};

struct queue {
  void* lock;
  char* buffer;
  int32_t limit;
};

// As the test defines them, too.
struct klass {
  void* vtable;
  const void* name;
};

struct pool {
  void* vtable;
  const struct klass* owner;
  int32_t length;
  const void* entries[8];
};

struct code_of_method {
  const struct pool* constants;
  uint16_t name, signature;
};

struct method {
  void* vtable;
  const struct code_of_method* code;
};

struct symbol {
  uint32_t hash;
  uint16_t length;
  char text[1018];
};

char fake_code[4096];
bool fake_keeps_frames;
const void *fake_low, *fake_high;
static bool other_flag = true;
static struct flag flags_table[] = {{&other_flag, "UseSomething", 1},
                                    {&fake_keeps_frames, "PreserveFramePointer", 1},
                                    {NULL, NULL, 0}};
static struct flag* flags = flags_table;
static size_t flag_count = 3;
static struct queue interpreter = {NULL, fake_code + 1024, 512};
static struct queue* interpreter_code = &interpreter;

static struct field fields[] = {
    {"Klass", "_name", "Symbol*", 0, offsetof(struct klass, name), NULL},
    {"Method", "_constMethod", "ConstMethod*", 0, offsetof(struct method, code), NULL},
    {"ConstMethod", "_constants", "ConstantPool*", 0, offsetof(struct code_of_method, constants),
     NULL},
    {"ConstMethod", "_name_index", "u2", 0, offsetof(struct code_of_method, name), NULL},
    {"ConstMethod", "_signature_index", "u2", 0, offsetof(struct code_of_method, signature), NULL},
    {"ConstantPool", "_pool_holder", "InstanceKlass*", 0, offsetof(struct pool, owner), NULL},
    {"ConstantPool", "_length", "int", 0, offsetof(struct pool, length), NULL},
    {"Symbol", "_length", "u2", 0, offsetof(struct symbol, length), NULL},
    {"Symbol", "_body", "u1", 0, offsetof(struct symbol, text), NULL},
    {"CodeCache", "_low_bound", "address", 1, 0, &fake_low},
    {"CodeCache", "_high_bound", "address", 1, 0, &fake_high},
    {"AbstractInterpreter", "_code", "StubQueue*", 1, 0, &interpreter_code},
    {"StubQueue", "_stub_buffer", "address", 0, offsetof(struct queue, buffer), NULL},
    {"StubQueue", "_buffer_limit", "int", 0, offsetof(struct queue, limit), NULL},
    {"JVMFlag", "_name", "const char*", 0, offsetof(struct flag, name), NULL},
    {"JVMFlag", "_addr", "void*", 0, offsetof(struct flag, value), NULL},
    {"JVMFlag", "flags", "JVMFlag*", 1, 0, &flags},
    {"JVMFlag", "numFlags", "size_t", 1, 0, &flag_count},
    {NULL, NULL, NULL, 0, 0, NULL},
};
static struct type types[] = {{"Klass", NULL, 0, 0, 0, 200},
                              {"ConstantPool", NULL, 0, 0, 0, offsetof(struct pool, entries)},
                              {"JVMFlag", NULL, 0, 0, 0, sizeof(struct flag)},
                              {NULL, NULL, 0, 0, 0, 0}};

const void* gHotSpotVMStructs = fields;
uint64_t gHotSpotVMStructEntryArrayStride = sizeof(struct field);
uint64_t gHotSpotVMStructEntryTypeNameOffset = offsetof(struct field, type);
uint64_t gHotSpotVMStructEntryFieldNameOffset = offsetof(struct field, name);
uint64_t gHotSpotVMStructEntryIsStaticOffset = offsetof(struct field, is_static);
uint64_t gHotSpotVMStructEntryOffsetOffset = offsetof(struct field, offset);
uint64_t gHotSpotVMStructEntryAddressOffset = offsetof(struct field, address);
const void* gHotSpotVMTypes = types;
uint64_t gHotSpotVMTypeEntryArrayStride = sizeof(struct type);
uint64_t gHotSpotVMTypeEntryTypeNameOffset = offsetof(struct type, name);
uint64_t gHotSpotVMTypeEntrySizeOffset = offsetof(struct type, size);

// Code, so that there is a table.
int fake_function(int number) {
  return number + fake_code[0];
}
