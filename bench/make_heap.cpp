// SPDX-License-Identifier: MIT
// Writes the heap dump of a synthetic Java program, to measure hdump: make_heap FILE OBJECTS.
//
// The program has sessions in hash maps of a hundred thousand, each with a name, tags and links to
// other sessions; a tree of numbers; a linked list of numbers, as deep as it is long; and some
// garbage. Addresses are in the order of allocation, like those of objects that a collector has
// copied; tables, the tree and links to popular sessions go across. An object has 2.4 references on
// average. The same arguments give the same file.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using Id = uint64_t;

constexpr size_t sessions_in_map = 100'000;
constexpr size_t tags_of_session = 10;
constexpr size_t table_size = 131'072;
constexpr size_t largest_segment = 1 << 20;
constexpr Id first_address = 0x7'0000'0000;
enum Type : uint8_t { object = 2, boolean = 4, int8 = 8, int32 = 10, int64 = 11 };

struct Random {
  uint64_t state = 88172645463325252;
  uint64_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
  }
  size_t below(size_t limit) { return next() % limit; }
};

// Records of the dump; those of the heap in parts of a megabyte, as the JVM writes them.
class Dump {
 public:
  explicit Dump(std::FILE* file) : file_(file) {
    for (const char c : std::string_view("JAVA PROFILE 1.0.2\0", 19)) put(c, 1);
    put(8, 4);
    put(1'700'000'000'000, 8);
    write_all();
  }

  Id string(std::string_view text) {
    put(++strings_, 8);
    for (const char c : text) put(static_cast<uint8_t>(c), 1);
    record(0x01);
    return strings_;
  }
  struct Field {
    std::string_view name;
    Type type;
    Id value = 0;  // of a static field
  };
  void loaded(Id id, std::string_view name) {
    const Id text = string(name);
    put(1, 4);
    put(id, 8);
    put(0, 4);
    put(text, 8);
    record(0x02);
  }
  // The record of the class in the heap; its name and those of its fields are written before.
  void class_dump(Id id, Id super, Id loader, const std::vector<Field>& statics,
                  const std::vector<Field>& fields) {
    flush();
    std::vector<Id> names;
    for (const auto* list : {&statics, &fields})
      for (const Field& field : *list) names.push_back(string(field.name));
    auto name = names.begin();
    put(0x20, 1);
    put(id, 8);
    put(0, 4);
    for (const Id reference : {super, loader, Id{0}, Id{0}, Id{0}, Id{0}}) put(reference, 8);
    put(0, 4);
    put(0, 2);
    put(statics.size(), 2);
    for (const Field& field : statics) {
      put(*name++, 8);
      put(field.type, 1);
      put(field.value, 8);
    }
    put(fields.size(), 2);
    for (const Field& field : fields) {
      put(*name++, 8);
      put(field.type, 1);
    }
    flush();
  }
  void instance(Id id, Id class_id, std::initializer_list<Id> references, size_t other_bytes) {
    put(0x21, 1);
    put(id, 8);
    put(0, 4);
    put(class_id, 8);
    put(8 * references.size() + other_bytes, 4);
    for (const Id reference : references) put(reference, 8);
    fill(other_bytes);
    ended();
  }
  void array(Id id, Id class_id, const std::vector<Id>& elements) {
    put(0x22, 1);
    put(id, 8);
    put(0, 4);
    put(elements.size(), 4);
    put(class_id, 8);
    for (const Id element : elements) put(element, 8);
    ended();
  }
  void bytes(Id id, size_t length) {
    put(0x23, 1);
    put(id, 8);
    put(0, 4);
    put(length, 4);
    put(int8, 1);
    fill(length);
    ended();
  }
  void root(uint8_t kind, Id id) {
    put(kind, 1);
    put(id, 8);
    if (kind == 0x01) put(0, 8);
  }
  void finish() {
    flush();
    record(0x2c);
    write_all();
    if (std::fclose(file_) != 0) fail();
  }

 private:
  static constexpr size_t head = 9;  // bytes of a record before its content

  [[noreturn]] static void fail() {
    std::perror("make_heap");
    std::exit(1);
  }
  void put(uint64_t number, size_t size) {
    if (content_.size() < at_ + size) content_.resize(2 * (at_ + size));
    for (size_t i = size; i-- > 0; number >>= 8) content_[at_ + i] = static_cast<uint8_t>(number);
    at_ += size;
  }
  void fill(size_t size) {
    for (; size > 8; size -= 8) put(0x0101'0101'0101'0101, 8);
    put(0, size);
  }
  void ended() {
    if (at_ >= largest_segment) flush();
  }
  void flush() {
    if (at_ != 0) record(0x1c);
  }
  // What has been put becomes the content of a record.
  void record(uint8_t tag) {
    std::vector<uint8_t> content;
    content.swap(content_);
    const size_t size = std::exchange(at_, 0);
    put(tag, 1);
    put(0, 4);
    put(size, 4);
    write_all();
    content_.swap(content);
    at_ = size;
    write_all();
  }
  void write_all() {
    if (std::fwrite(content_.data(), 1, at_, file_) != at_) fail();
    at_ = 0;
  }

  std::FILE* file_;
  std::vector<uint8_t> content_;
  size_t at_ = 0;
  Id strings_ = 0;
};

class Program {
 public:
  Program(std::FILE* file, size_t objects) : dump_(file), wanted_(objects) {}

  void write() {
    for (const auto& [id, name] : {std::pair{object_class, "java/lang/Object"},
                                   {class_class, "java/lang/Class"},
                                   {string_class, "java/lang/String"},
                                   {long_class, "java/lang/Long"},
                                   {map_class, "java/util/HashMap"},
                                   {node_class, "java/util/HashMap$Node"},
                                   {table_class, "[Ljava/util/HashMap$Node;"},
                                   {objects_class, "[Ljava/lang/Object;"},
                                   {tree_class, "java/util/TreeMap"},
                                   {entry_class, "java/util/TreeMap$Entry"},
                                   {list_class, "java/util/LinkedList"},
                                   {link_class, "java/util/LinkedList$Node"},
                                   {loader_class, "java/lang/ClassLoader"},
                                   {session_class, "app/Session"},
                                   {app_class, "app/Main"}})
      dump_.loaded(id, name);
    classes();
    next_ = first_address;
    while (made_ + made_ / 4 < wanted_) maps_.push_back(sessions());
    const Id root = numbers(wanted_ / 25, 0);
    const Id tree = allocate(24);
    dump_.instance(tree, tree_class, {root}, 8);
    const Id first = links(wanted_ / 25);
    const Id list = allocate(32);
    dump_.instance(list, list_class, {first, last_link_}, 8);
    while (made_ < wanted_) dump_.bytes(allocate(56), 40);  // garbage
    const Id all = allocate(16 + 4 * maps_.size());
    dump_.array(all, objects_class, maps_);
    const Id loader = allocate(24);
    dump_.instance(loader, loader_class, {0}, 0);
    dump_.class_dump(session_class, object_class, loader, {}, session_fields);
    dump_.class_dump(app_class, object_class, loader,
                     {{"maps", object, all}, {"tree", object, tree}, {"list", object, list}}, {});
    for (Id id = object_class; id <= loader_class; id += class_size) dump_.root(0x05, id);
    dump_.root(0x01, app_class);
    dump_.finish();
  }

 private:
  static constexpr Id class_size = 0x80;
  static constexpr Id object_class = 0x6'0000'0000;
  static constexpr Id class_class = object_class + class_size;
  static constexpr Id string_class = class_class + class_size;
  static constexpr Id long_class = string_class + class_size;
  static constexpr Id map_class = long_class + class_size;
  static constexpr Id node_class = map_class + class_size;
  static constexpr Id table_class = node_class + class_size;
  static constexpr Id objects_class = table_class + class_size;
  static constexpr Id tree_class = objects_class + class_size;
  static constexpr Id entry_class = tree_class + class_size;
  static constexpr Id list_class = entry_class + class_size;
  static constexpr Id link_class = list_class + class_size;
  static constexpr Id loader_class = link_class + class_size;
  static constexpr Id session_class = loader_class + class_size;
  static constexpr Id app_class = session_class + class_size;

  const std::vector<Dump::Field> session_fields{
      {"name", object},  {"tags", object}, {"previous", object}, {"friend", object},
      {"group", object}, {"id", object},   {"created", int64}};

  void classes() {
    dump_.class_dump(object_class, 0, 0, {}, {});
    for (const Id id : {class_class, objects_class, table_class})
      dump_.class_dump(id, object_class, 0, {}, {});
    dump_.class_dump(string_class, object_class, 0, {},
                     {{"value", object}, {"hash", int32}, {"coder", int8}, {"zero", boolean}});
    dump_.class_dump(long_class, object_class, 0, {}, {{"value", int64}});
    dump_.class_dump(map_class, object_class, 0, {},
                     {{"table", object}, {"size", int32}, {"threshold", int32}});
    dump_.class_dump(node_class, object_class, 0, {},
                     {{"key", object}, {"value", object}, {"next", object}, {"hash", int32}});
    dump_.class_dump(tree_class, object_class, 0, {}, {{"root", object}, {"size", int64}});
    dump_.class_dump(entry_class, object_class, 0, {},
                     {{"key", object},
                      {"value", object},
                      {"left", object},
                      {"right", object},
                      {"parent", object},
                      {"color", boolean}});
    dump_.class_dump(list_class, object_class, 0, {},
                     {{"first", object}, {"last", object}, {"size", int64}});
    dump_.class_dump(link_class, object_class, 0, {},
                     {{"item", object}, {"next", object}, {"prev", object}});
    dump_.class_dump(loader_class, object_class, 0, {}, {{"parent", object}});
  }

  // The address of a new object with its size in the JVM.
  Id allocate(size_t size) {
    ++made_;
    const Id id = next_;
    next_ += (size + 7) & ~size_t{7};
    return id;
  }

  struct Text {
    Id id = 0;
    Id content = 0;
    size_t length = 0;
  };
  Text new_text(size_t length) {
    const Id id = allocate(24);
    return {id, allocate(16 + length), length};
  }
  void write(const Text& text) {
    dump_.instance(text.id, string_class, {text.content}, 6);
    dump_.bytes(text.content, text.length);
  }
  void number() { dump_.instance(allocate(24), long_class, {}, 8); }
  // Some session of before, rather an early one: a few are popular.
  Id popular() {
    if (popular_.empty()) return 0;
    return popular_[random_.below(1 + random_.below(1 + random_.below(popular_.size())))];
  }

  Id session() {
    const Id id = allocate(48);
    const Text name = new_text(8 + random_.below(24));
    const Id tags = allocate(16 + 4 * tags_of_session);
    dump_.instance(id, session_class, {name.id, tags, previous_, popular(), popular(), next_}, 8);
    write(name);
    std::vector<Id> all{name.id};
    while (all.size() < tags_of_session) all.push_back(popular());
    dump_.array(tags, objects_class, all);
    number();
    previous_ = id;
    if (random_.below(4) == 0) popular_.push_back(id);
    return id;
  }

  // A hash map of sessions by name.
  Id sessions() {
    std::vector<Id> table(table_size);
    for (size_t i = 0; i < sessions_in_map; ++i) {
      Id& slot = table[random_.below(table_size)];
      const Id node = allocate(32);
      const Text key = new_text(10 + random_.below(10));
      dump_.instance(node, node_class, {key.id, next_, slot}, 4);
      write(key);
      session();
      slot = node;
    }
    const Id map = allocate(24);
    const Id at = allocate(16 + 4 * table_size);
    dump_.instance(map, map_class, {at}, 8);
    dump_.array(at, table_class, table);
    return map;
  }

  // A balanced tree of so many numbers; each node comes before those below it.
  Id numbers(size_t count, Id parent) {
    if (count == 0) return 0;
    constexpr size_t size = 40;  // of a node
    constexpr size_t number_size = 24;
    const size_t on_the_left = (count - 1) / 2;
    const Id id = allocate(size);
    const Id left = on_the_left == 0 ? 0 : next_ + number_size;
    const Id right = count == 1 ? 0 : next_ + number_size + on_the_left * (size + number_size);
    dump_.instance(id, entry_class, {next_, popular(), left, right, parent}, 1);
    number();
    numbers(on_the_left, id);
    numbers(count - 1 - on_the_left, id);
    return id;
  }

  Id links(size_t count) {
    const Id first = next_;
    Id before = 0;
    for (size_t i = 0; i < count; ++i) {
      const Id id = allocate(24);
      const Id item = next_;
      dump_.instance(id, link_class, {item, i + 1 < count ? item + 24 : 0, before}, 0);
      number();
      before = id;
    }
    last_link_ = before;
    return first;
  }

  Dump dump_;
  size_t wanted_;
  size_t made_ = 0;
  Id next_ = first_address;
  Id previous_ = 0;
  Id last_link_ = 0;
  Random random_;
  std::vector<Id> popular_;
  std::vector<Id> maps_;
};

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    std::fputs("usage: make_heap FILE OBJECTS\n", stderr);
    return 1;
  }
  std::FILE* file = std::fopen(words[1], "wb");
  if (file == nullptr) {
    std::perror(words[1]);
    return 1;
  }
  Program(file, std::strtoull(words[2], nullptr, 10)).write();
  return 0;
}
