// The program that ./demo links: counts the words of files on several threads. It uses iostreams,
// regular expressions, threads, thread_local, exceptions and static constructors.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Banner {
  Banner() { std::cout << "words: start\n"; }
  ~Banner() { std::cout << "words: end\n"; }
} banner;

thread_local size_t seen = 0;

std::map<std::string, size_t> count(const std::string &path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot open " + path);
  std::stringstream text;
  text << in.rdbuf();
  const std::string all = text.str();
  static const std::regex word("[A-Za-z]{4,}");
  std::map<std::string, size_t> out;
  for (std::sregex_iterator it(all.begin(), all.end(), word), end; it != end; ++it, ++seen) ++out[it->str()];
  return out;
}

}  // namespace

int main(int argc, char **argv) {
  std::map<std::string, size_t> total;
  std::mutex lock;
  std::vector<std::thread> threads;
  for (int i = 1; i < argc; i++) {
    threads.emplace_back([&, path = std::string(argv[i])] {
      try {
        auto part = count(path);
        std::lock_guard<std::mutex> guard(lock);
        for (auto &[word, n] : part) total[word] += n;
      } catch (const std::exception &e) {
        std::lock_guard<std::mutex> guard(lock);
        std::cout << "caught: " << e.what() << "\n";
      }
    });
  }
  for (auto &t : threads) t.join();
  std::vector<std::pair<size_t, std::string>> top;
  for (auto &[word, n] : total) top.emplace_back(n, word);
  std::sort(top.rbegin(), top.rend());
  for (size_t i = 0; i < std::min<size_t>(3, top.size()); i++) std::cout << top[i].first << " " << top[i].second << "\n";
}
