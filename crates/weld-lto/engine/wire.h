// What weld and this program say to each other: src/protocol.rs of weld-lto has the other side and the format.
//
// The order comes from a weld of any build, and this program may be of another one. So the order says which version
// of it weld speaks, and every name in it that is not known here is a reason to refuse it.

#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace wire {

// As `protocol::ENGINE_VERSION`.
constexpr uint64_t version = 4;

enum Level : uint8_t { info = 0, warning = 1, error = 2, fatal = 3 };

// Where replies go. Code generators say things on any thread. What has been made goes with the next other reply.
class Voice {
public:
  void take(int descriptor) { pipe = descriptor; }

  void ready(std::string_view compiler) { say(0, compiler); }
  void unusable(std::string_view why) { say(1, why); }
  void message(Level level, std::string_view text) { say(3, std::string(1, char(level)).append(text)); }
  void failed() { say(4, {}); }
  void done() { say(5, {}); }
  // Nothing had to be compiled.
  void cached() {
    std::lock_guard<std::mutex> guard(lock);
    queue(8, {});
  }
  // A file that was made by this task.
  void made(uint32_t task, std::string_view path) {
    std::string body;
    put(body, task, 4);
    std::lock_guard<std::mutex> guard(lock);
    queue(6, body.append(path));
  }
  // What this task has made is a part of the file of parts.
  void part(uint32_t task, uint64_t offset, uint64_t size) {
    std::string body;
    put(body, task, 4);
    put(body, offset, 8);
    put(body, size, 8);
    std::lock_guard<std::mutex> guard(lock);
    queue(7, body);
  }

private:
  static constexpr size_t longest = 1 << 20;

  static void put(std::string &to, uint64_t number, int bytes) {
    for (int byte = 0; byte < bytes; ++byte)
      to.push_back(char(number >> 8 * byte));
  }

  void queue(uint8_t kind, std::string_view body) {
    body = body.substr(0, longest - 1);
    put(queued, body.size() + 1, 4);
    queued.push_back(char(kind));
    queued.append(body);
  }

  void say(uint8_t kind, std::string_view body) {
    std::lock_guard<std::mutex> guard(lock);
    queue(kind, body);
    for (size_t at = 0; at < queued.size();) {
      const ssize_t written = write(pipe, queued.data() + at, queued.size() - at);
      // If weld is gone, nobody is there to be told; whoever waits for that ends the process.
      if (written < 0 && errno != EINTR)
        break;
      at += written < 0 ? 0 : size_t(written);
    }
    queued.clear();
  }

  std::mutex lock;
  std::string queued;
  int pipe = -1;
};

struct Symbol {
  std::string_view name;
  // `Resolution` of weld-lto's request.rs.
  uint8_t resolution;
};

enum : uint8_t {
  prevailing = 1 << 0,
  visible = 1 << 1,
  exported = 1 << 2,
  local = 1 << 3,
  redefined = 1 << 4,
};

struct Input {
  // The module's name, and the file that it is a part of.
  std::string name, path;
  uint64_t offset, size;
  // None: the link does not take it.
  std::optional<std::vector<Symbol>> symbols;
};

struct Order {
  std::string directory;
  // What is `NAME` or `NAME=VALUE`.
  std::vector<std::string> words;
  std::vector<Input> inputs;
};

// Reads an order; what is not one makes `bad` true and everything empty from there on.
class Reader {
public:
  explicit Reader(std::string_view bytes) : rest(bytes) {}

  uint64_t number() {
    uint64_t value = 0;
    if (rest.size() < sizeof value)
      return fail();
    for (int byte = 0; byte < 8; ++byte)
      value |= uint64_t(uint8_t(rest[byte])) << 8 * byte;
    rest.remove_prefix(sizeof value);
    return value;
  }

  std::string_view bytes() {
    const uint64_t size = number();
    if (size > rest.size())
      return fail(), std::string_view();
    const std::string_view taken = rest.substr(0, size);
    rest.remove_prefix(size);
    return taken;
  }

  size_t left() const { return rest.size(); }

  bool at_end() const { return !bad && rest.empty(); }

  bool bad = false;

private:
  uint64_t fail() {
    bad = true;
    rest = {};
    return 0;
  }

  std::string_view rest;
};

// Why the order cannot be carried out; empty if it can.
inline std::string read(std::string_view bytes, Order &order) {
  Reader reader(bytes);
  order.directory = reader.bytes();
  // What is to be done; the other numbers are for weld's own child.
  const bool compiles = reader.number() == 3;
  if (!compiles || reader.number() != version)
    return "it speaks another language than this weld: build it anew (weld lto-engine build)";
  for (uint64_t left = reader.number(); left > 0 && !reader.bad; --left)
    order.words.emplace_back(reader.bytes());
  for (uint64_t left = reader.number(); left > 0 && !reader.bad; --left) {
    Input input;
    input.name = reader.bytes();
    input.path = reader.bytes();
    input.offset = reader.number();
    input.size = reader.number();
    const uint64_t count = reader.number();
    if (count != UINT64_MAX) {
      input.symbols.emplace();
      // A symbol takes two numbers and more.
      input.symbols->reserve(std::min<uint64_t>(count, reader.left() / 16));
      for (uint64_t at = 0; at < count && !reader.bad; ++at) {
        const std::string_view name = reader.bytes();
        input.symbols->push_back({name, uint8_t(reader.number())});
      }
    }
    order.inputs.push_back(std::move(input));
  }
  return reader.at_end() ? "" : "its order is malformed";
}

} // namespace wire
