"""C++ sources for the workload cpp-debug-5000: a few dozen units, each a mix of the features that
make real debug builds large (STL containers, class hierarchies, lambdas, exceptions, variants, ...).

A unit is compiled once and then copied under many names: where its source says OBJSELF, MODSELF,
OBJNEXT, OBJFAR1 or OBJFAR2, the copies say other words of the same length (see `stamp`). As the
length stays, mangled names, string tables, DWARF strings and COMDAT signatures all stay valid, and
each copy is what the compiler would have written for the renamed source.

- OBJSELF  a name of the object's own: its classes, functions and template instances;
- MODSELF  a name shared by the 50 objects of a module: its header's inline code is the same COMDATs
           in all of them;
- OBJNEXT, OBJFAR1, OBJFAR2  the names of three other objects, whose functions this one calls.

Code that uses none of them (std::vector<int>, common.h) is the same COMDATs in every object. So each
object has its own symbols, some shared by 50 and some by 5000, as in a large program.
"""

import random

HEADERS = """\
#include <algorithm>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>
"""

COMMON_H = HEADERS + """
// The same in every object.
namespace common {
template <class T> class Arena {
  std::vector<std::unique_ptr<T>> items;
public:
  template <class... A> T &make(A &&...a) {
    items.push_back(std::make_unique<T>(std::forward<A>(a)...));
    return *items.back();
  }
  std::size_t size() const { return items.size(); }
};
struct Node {
  virtual ~Node() = default;
  virtual int weigh(int n) const { return n; }
  virtual std::string name() const { return "node"; }
};
inline int mix(int a, int b) { return (a * 31 + b) & 0xffffff; }
inline std::vector<std::string> words(const std::string &text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}
inline int &counter() { static int value; return value; }
struct Registrar { explicit Registrar(int n) { counter() += n; } };
}
"""

MODULE_H = """
// The same in the objects of one module.
namespace MODSELF {
struct Record { std::string key; int value; double weight; std::vector<int> history; };
struct Visitor { virtual ~Visitor() = default; virtual int visit(const Record &r) = 0; };
template <class T> struct Table {
  std::map<std::string, T> rows;
  std::unordered_map<int, std::string> index;
  T &row(const std::string &key) { index[int(rows.size())] = key; return rows[key]; }
  int accept(Visitor &v) const { int n = 0; for (auto &r : rows) n = common::mix(n, v.visit(r.second)); return n; }
};
inline Table<Record> sample(int n) {
  Table<Record> table;
  for (int i = 0; i < n; ++i) {
    Record &r = table.row("MODSELF key " + std::to_string(i));
    r.key = "r"; r.value = i * 7; r.weight = i / 2.0; r.history.assign(3, i);
  }
  return table;
}
class Failure : public std::runtime_error { public: int code; Failure(int c) : std::runtime_error("MODSELF failed"), code(c) {} };
inline int check(int n) { if (n % 3 == 0) throw Failure(n); return n; }
}
"""


def hierarchy(rng, k):
    """Classes with virtual functions, found again by dynamic_cast."""
    code = f"struct Base{k} : common::Node {{ int weigh(int n) const override {{ return n + {k}; }} }};\n"
    count = rng.randint(3, 9)
    for i in range(count):
        parent = f"Base{k}" if i == 0 else f"Leaf{k}_{rng.randrange(i)}"
        fields = "".join(f" int field{j} = {rng.randrange(100)};" for j in range(rng.randint(1, 6)))
        code += (f"struct Leaf{k}_{i} : {parent} {{{fields} int weigh(int n) const override; "
                 f"std::string name() const override {{ return \"OBJSELF leaf {k} {i}\"; }} }};\n"
                 f"int Leaf{k}_{i}::weigh(int n) const {{ return common::mix(n, field0) + {parent}::weigh(n); }}\n")
    makes = "".join(f"arena.push_back(std::make_unique<Leaf{k}_{i}>()); " for i in range(count))
    return code, f"""
  std::vector<std::unique_ptr<common::Node>> arena; {makes}
  for (auto &node : arena) {{
    sum = common::mix(sum, node->weigh(n) + int(node->name().size()));
    if (auto *leaf = dynamic_cast<Leaf{k}_0 *>(node.get())) sum += leaf->field0;
  }}"""


def containers(rng, k):
    """Containers of a type of this object's own."""
    outer = rng.choice(["std::map<std::string, Item{k}>", "std::unordered_map<std::string, Item{k}>",
                        "std::multimap<std::string, Item{k}>"]).format(k=k)
    inner = rng.choice(["std::deque", "std::list", "std::vector"])
    code = (f"struct Item{k} {{ int id = {rng.randrange(99)}; std::string label; {inner}<int> parts; "
            f"bool operator<(const Item{k} &o) const {{ return id < o.id; }} }};\n")
    return code, f"""
  {outer} items; std::set<Item{k}> sorted;
  for (int i = 0; i < 4; ++i) {{
    Item{k} item; item.id = i * n; item.label = "OBJSELF"; item.parts.push_back(i);
    items.insert({{std::to_string(i), item}}); sorted.insert(item);
  }}
  for (auto &pair : items) sum = common::mix(sum, pair.second.id + int(pair.second.parts.size()));
  for (auto &item : sorted) sum = common::mix(sum, item.id);"""


def algorithms(rng, k):
    """Lambdas handed to algorithms, and std::function."""
    steps = "".join(f"  steps.push_back([n](int v) {{ return common::mix(v, n + {rng.randrange(1000)}); }});\n"
                    for _ in range(rng.randint(3, 12)))
    return "", f"""
  std::vector<std::function<int(int)>> steps;
{steps}  std::vector<std::pair<int, std::string>> pairs;
  for (auto &step : steps) pairs.emplace_back(step(n), "OBJSELF");
  std::sort(pairs.begin(), pairs.end(), [](auto &a, auto &b) {{ return a.first > b.first; }});
  sum = std::accumulate(pairs.begin(), pairs.end(), sum, [](int s, auto &p) {{ return common::mix(s, p.first); }});"""


def exceptions(rng, k):
    """Errors of its own and of its module, thrown through frames with destructors."""
    code = f"""struct Error{k} : MODSELF::Failure {{ using Failure::Failure; }};
static int risky{k}(int n) {{
  std::string guard = "OBJSELF guard {k}";
  if (n % {rng.randint(2, 5)} == 0) throw Error{k}(n);
  return MODSELF::check(n) + int(guard.size());
}}
"""
    return code, f"""
  for (int i = 0; i < 5; ++i) try {{ sum = common::mix(sum, risky{k}(n + i)); }}
    catch (const Error{k} &e) {{ sum += e.code; }}
    catch (const std::exception &e) {{ sum += int(std::string(e.what()).size()); }}"""


def variants(rng, k):
    """Variants, optionals and tuples, visited."""
    types = ["int", "std::string", "double", f"Point{k}", "std::vector<int>"]
    code = f"""struct Point{k} {{ int x = {rng.randrange(50)}, y = 2; }};
using Value{k} = std::variant<{', '.join(types[:rng.randint(4, 5)])}>;
static int measure{k}(const Value{k} &value) {{
  return std::visit([](const auto &v) -> int {{
    using T = std::decay_t<decltype(v)>;
    if constexpr (std::is_same_v<T, Point{k}>) return v.x + v.y;
    else if constexpr (std::is_arithmetic_v<T>) return int(v);
    else return int(v.size());
  }}, value);
}}
static std::optional<std::tuple<int, Point{k}, std::string>> find{k}(int n) {{
  if (n < 0) return std::nullopt;
  return std::make_tuple(n, Point{k}{{}}, std::string("OBJSELF"));
}}
"""
    return code, f"""
  for (const Value{k} &value : {{Value{k}(n), Value{k}(std::string("OBJSELF")), Value{k}(2.5), Value{k}(Point{k}())}})
    sum = common::mix(sum, measure{k}(value));
  if (auto found = find{k}(n)) sum += std::get<0>(*found) + std::get<1>(*found).x;"""


def templates(rng, k):
    """Recursive and variadic templates, many small instances."""
    depth = rng.randint(4, 24)
    code = f"""template <int N> struct Chain{k} {{
  static int walk(int n) {{ return common::mix(Chain{k}<N - 1>::walk(n), N); }}
}};
template <> struct Chain{k}<0> {{ static int walk(int n) {{ return n; }} }};
template <class... T> int total{k}(T... t) {{ return (0 + ... + int(t)); }}
"""
    return code, f"""
  sum = common::mix(sum, Chain{k}<{depth}>::walk(n));
  sum += total{k}(1, 2.0, 'c', n) + total{k}(n, n, 3u);"""


def tables(rng, k):
    """Constant tables of names and functions: data relocations and merged strings."""
    count = rng.randint(8, 40)
    functions = "".join(f"static int action{k}_{i}(int n) {{ int a = n + {i}, b = a * {rng.randrange(2, 9)}; "
                        f"return common::mix(a, b); }}\n" for i in range(count))
    names = ", ".join(f'"OBJSELF action {i}"' if i % 2 else f'"action {i}"' for i in range(count))
    pointers = ", ".join(f"action{k}_{i}" for i in range(count))
    code = f"""{functions}static const char *const names{k}[] = {{{names}}};
static int (*const actions{k}[])(int) = {{{pointers}}};
"""
    return code, f"""
  for (int i = 0; i < {count}; ++i) sum = common::mix(sum, actions{k}[i](n) + int(std::string(names{k}[i]).size()));"""


def records(rng, k):
    """Plain structures and enumerations: little code, much debug information."""
    code = f"enum class Kind{k} {{ {', '.join(f'kind{i}' for i in range(rng.randint(4, 20)))} }};\n"
    for i in range(rng.randint(2, 6)):
        fields = "".join(f"  {rng.choice(['int', 'double', 'const char *', 'std::string', f'Kind{k}'])} field{j}{{}};\n"
                         for j in range(rng.randint(4, 24)))
        code += f"struct Record{k}_{i} {{\n{fields}  int size() const {{ return int(sizeof(*this)); }}\n}};\n"
    return code, f"""
  Record{k}_0 first; Record{k}_1 second; sum = common::mix(sum, first.size() + second.size());"""


def statics(rng, k):
    """Static constructors, thread-local and function-local state."""
    code = f"""static common::Registrar registrar{k}({rng.randrange(1, 9)});
static std::vector<std::string> cache{k} = common::words("some words of OBJSELF");
thread_local std::string local{k} = "OBJSELF local";
inline int &shared{k}() {{ static int value = int(cache{k}.size()); return value; }}
"""
    return code, f"""
  shared{k}() += n; sum = common::mix(sum, shared{k}() + int(cache{k}.size() + local{k}.size()));"""


def module_use(rng, k):
    """The module's header at work."""
    code = f"""struct Sum{k} : MODSELF::Visitor {{
  int total = 0;
  int visit(const MODSELF::Record &r) override {{ return total += r.value + int(r.history.size()); }}
}};
"""
    return code, f"""
  Sum{k} visitor; sum = common::mix(sum, MODSELF::sample({rng.randint(3, 8)}).accept(visitor)) + visitor.total;"""


def graph(rng, k):
    """Shared and weak pointers, and a stream that prints them."""
    code = f"""struct Vertex{k} {{ int id; std::vector<std::shared_ptr<Vertex{k}>> next; std::weak_ptr<Vertex{k}> back; }};
static std::string print{k}(const Vertex{k} &v) {{
  std::ostringstream out; out << "OBJSELF " << v.id;
  for (auto &n : v.next) out << ' ' << n->id;
  return out.str();
}}
"""
    return code, f"""
  auto root = std::make_shared<Vertex{k}>(); root->id = n;
  for (int i = 0; i < {rng.randint(2, 6)}; ++i) {{
    auto leaf = std::make_shared<Vertex{k}>(); leaf->id = i; leaf->back = root; root->next.push_back(leaf);
  }}
  sum = common::mix(sum, int(print{k}(*root).size()) + root->next[0]->back.lock()->id);"""


# Each with a weight: objects of a few dozen to a few hundred KiB, as in most programs.
FEATURES = {hierarchy: 1, containers: 1, algorithms: 1, exceptions: 3, variants: 1, templates: 3, tables: 3,
            records: 3, statics: 2, module_use: 1, graph: 1}


def unit(number):
    """The source of unit `number`, the same at every call."""
    rng = random.Random(number)
    code, body = "", ""
    for k, feature in enumerate(rng.choices(list(FEATURES), FEATURES.values(), k=rng.randint(1, 3))):
        definitions, statements = feature(rng, k)
        code += definitions
        body += f"  {{{statements}\n  }}\n"
    return f"""#include "common.h"
#include "module.h"
int leaf_OBJNEXT(int), leaf_OBJFAR1(int), leaf_OBJFAR2(int);
int leaf_OBJSELF(int n) {{ return n * {number + 3} + 1; }}
namespace OBJSELF {{
{code}
static int run(int n) {{
  int sum = {number};
{body}  return common::mix(sum, leaf_OBJNEXT(n) + leaf_OBJFAR1(n) + leaf_OBJFAR2(n));
}}
}}
int entry_OBJSELF(int n) {{ return OBJSELF::run(n); }}
"""


def main_source(count):
    """The program: runs every object's entry and prints the sum."""
    names = [object_name(i) for i in range(count)]
    return ("#include <cstdio>\n" + "".join(f"int entry_{n}(int);\n" for n in names)
            + "static int (*const entries[])(int) = {" + ", ".join(f"entry_{n}" for n in names) + "};\n"
            + "int main() { unsigned sum = 0; for (auto entry : entries) sum = sum * 31 + unsigned(entry(5)); "
              'std::printf("sum %u\\n", sum); }\n')


def object_name(i):
    """Obj0000 ... Obj9999, Obk0000 ...: always as long as the words that `stamp` replaces."""
    return f"Ob{chr(ord('j') + i // 10_000)}{i % 10_000:04d}"


def stamp(template, i, count, per_module=50):
    """The object file `template` as object `i` of `count`."""
    replacements = {
        b"OBJSELF": object_name(i), b"MODSELF": f"Mod{i // per_module:04d}", b"OBJNEXT": object_name((i + 1) % count),
        b"OBJFAR1": object_name((i * 7919 + 17) % count), b"OBJFAR2": object_name((i * 104729 + 2311) % count),
    }
    for word, name in replacements.items():
        template = template.replace(word, name.encode())
    return template
