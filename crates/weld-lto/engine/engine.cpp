// An engine for link-time optimisation: a program that weld starts, and that compiles bitcode by LLVM's own interface
// for linkers (llvm/LTO/LTO.h). `weld lto-engine build` compiles it against an LLVM that is installed.
//
// It reads an order from standard input, makes the directory for temporary files, does the work, and says on what was
// standard output what came of it (wire.h). What LLVM prints goes to standard error, which weld reads, too. When
// standard input ends, weld has what it wanted or is gone: then the directory is removed and the process ends, whatever
// its other threads are doing. All of this is as weld's own child does it (src/engine_child/mod.rs).
//
// LLVM is told to say errors instead of ending the process. If it ends it all the same, or crashes, weld sees that.

#include "settings.h"
#include "wire.h"

#include "llvm-c/Core.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/PassTimingInfo.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/TimeProfiler.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <set>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/stat.h>
#include <thread>

using namespace llvm;
using settings::Settings;

// LLVM's options for code generation, which compilers have, too.
static codegen::RegisterCodeGenFlags codegen_options;

// Where LLVM is, which weld looks for in this file: what is compiled depends on it.
#ifndef WELD_LLVM_LIBRARY
#define WELD_LLVM_LIBRARY ""
#endif
static const char library[] = "weld-lto-engine: LLVM is in " WELD_LLVM_LIBRARY;

static wire::Voice voice;
// An error has been said.
static std::atomic<bool> has_failed{false};
// An error or a warning has been said of the module that this thread compiles.
static thread_local bool has_complained = false;
// What is left to do to the cache when weld has taken all from it: nothing, or to remove what is too much.
static std::atomic<const Settings *> to_prune{nullptr};
// What of the cache this link has used. LLVM warns if that is more than may stay.
static std::vector<std::unique_ptr<MemoryBuffer>> &cached = *new std::vector<std::unique_ptr<MemoryBuffer>>;

static void fail(const Twine &text) {
  has_failed = true;
  voice.message(wire::error, text.str());
}

// Whether it is one. It has been said then.
static bool fails(Error error) {
  if (!error)
    return false;
  fail(toString(std::move(error)));
  return true;
}

[[noreturn]] static void wait_for_the_end() {
  for (;;)
    pause();
}

// What LLVM calls before it would end the process.
static void on_fatal_error(void *, const char *reason, bool) {
  voice.message(wire::fatal, reason);
  voice.failed();
  wait_for_the_end();
}

static void on_diagnostic(const DiagnosticInfo &info) {
  std::string text;
  raw_string_ostream stream(text);
  // Its own text has no file.
  if (const auto *assembly = dyn_cast<DiagnosticInfoSrcMgr>(&info); assembly && assembly->isInlineAsmDiag())
    stream << assembly->getModuleName() << ' ';
  DiagnosticPrinterRawOStream printer(stream);
  info.print(printer);
  switch (info.getSeverity()) {
  case DS_Error:
    has_complained = true;
    fail(text);
    break;
  case DS_Warning:
    has_complained = true;
    voice.message(wire::warning, text);
    break;
  case DS_Remark:
  case DS_Note:
    voice.message(wire::info, text);
    break;
  }
}

// Lets no other thread end the process, as LLVM may do when its files are removed.
static void stop_others_from_ending() {
  std::atexit([] { wait_for_the_end(); });
  for (int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE})
    std::signal(signal, [](int) { wait_for_the_end(); });
}

// The end: when standard input ends, on a thread of its own.
static void watch(std::string directory) {
  char rest[64];
  for (;;) {
    const ssize_t got = read(0, rest, sizeof rest);
    if (got == 0 || (got < 0 && errno != EINTR))
      break;
  }
  if (const Settings *settings = to_prune)
    if (Expected<CachePruningPolicy> policy = parseCachePruningPolicy(settings->policy))
      pruneCache(settings->cache, *policy, cached);
  stop_others_from_ending();
  // Other threads may still make files. When the directory is gone they cannot.
  std::error_code ignored;
  for (int attempt = 0; attempt < 1000; ++attempt) {
    std::filesystem::remove_all(directory, ignored);
    if (!std::filesystem::exists(directory, ignored))
      break;
  }
  _exit(0);
}

// Bitcode in memory for as long as the process lives, each file once.
class Files {
public:
  // None, if it cannot be read: that has been said.
  std::optional<MemoryBufferRef> find(const wire::Input &input) {
    auto &file = known[input.path];
    if (!file) {
      auto read = MemoryBuffer::getFile(input.path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
      if (!read) {
        fail(input.path + ": " + read.getError().message());
        return {};
      }
      file = std::move(*read);
    }
    const StringRef all = file->getBuffer();
    if (input.size == 0 || input.offset > all.size() || input.size > all.size() - input.offset) {
      fail(input.path + ": the file has become shorter");
      return {};
    }
    return MemoryBufferRef(all.substr(input.offset, input.size), input.name);
  }

private:
  std::map<std::string, std::unique_ptr<MemoryBuffer>> known;
};

// A file that small objects go to, so that neither this program nor weld has to make, open and remove many.
class Parts {
public:
  // What is larger is worth a file: it costs more to be copied.
  static constexpr size_t largest = 64 << 10;

  ~Parts() {
    if (descriptor >= 0)
      close(descriptor);
  }

  bool open(const std::string &path) {
    descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return descriptor >= 0;
  }

  // Where it has been put; on any thread.
  std::optional<uint64_t> add(StringRef bytes) {
    const uint64_t start = end.fetch_add((bytes.size() + alignment - 1) / alignment * alignment);
    for (size_t at = 0; at < bytes.size();) {
      const ssize_t written = pwrite(descriptor, bytes.data() + at, bytes.size() - at, off_t(start + at));
      if (written < 0 && errno != EINTR)
        return {};
      at += written < 0 ? 0 : size_t(written);
    }
    return start;
  }

private:
  static constexpr uint64_t alignment = 16;

  int descriptor = -1;
  std::atomic<uint64_t> end{0};
};

// What has become of a file's symbols, in its order. Both lists normally have the same one.
static bool resolve(const wire::Input &input, const lto::InputFile &file, std::vector<lto::SymbolResolution> &found) {
  found.reserve(input.symbols->size());
  StringMap<uint8_t> by_name;
  size_t at = 0;
  for (const lto::InputFile::Symbol &symbol : file.symbols()) {
    const StringRef name = symbol.getName();
    uint8_t bits;
    if (at < input.symbols->size() && StringRef((*input.symbols)[at].name) == name) {
      bits = (*input.symbols)[at].resolution;
    } else {
      if (by_name.empty())
        for (const wire::Symbol &known : *input.symbols)
          by_name.try_emplace(known.name, known.resolution);
      const auto known = by_name.find(name);
      if (known == by_name.end()) {
        fail(input.name + ": it finds a symbol " + name + " that weld has not found there");
        return false;
      }
      bits = known->second;
    }
    ++at;
    lto::SymbolResolution resolution;
    resolution.Prevailing = (bits & wire::prevailing) != 0;
    resolution.VisibleToRegularObj = (bits & wire::visible) != 0;
    resolution.ExportDynamic = (bits & wire::exported) != 0;
    resolution.FinalDefinitionInLinkageUnit = (bits & wire::local) != 0;
    resolution.LinkerRedefined = (bits & wire::redefined) != 0;
    found.push_back(resolution);
  }
  return true;
}

// An order that is carried out.
class Work {
public:
  Work(const wire::Order &order, Settings &settings) : order(order), settings(settings) {}

  bool run() {
    if (!open_list())
      return false;
    if (settings.emits_bitcode)
      emit_bitcode();
    settings.config.DiagHandler = on_diagnostic;
    if (settings.config.TimeTraceEnabled)
      timeTraceProfilerInitialize(settings.config.TimeTraceGranularity, "weld");
    // Never given back: the process ends when all is done, whatever it has in memory.
    lto::LTO &link = *new lto::LTO(std::move(settings.config), backend(), settings.partitions, settings.mode);
    for (const wire::Input &input : order.inputs)
      if (!(input.symbols ? add(link, input) : write_empty_index(input.name)))
        return false;
    if (!compile(link))
      return false;
    for (const std::string &name : without_index)
      if (!write_empty_index(name))
        return false;
    return tell();
  }

private:
  bool open_list() {
    if (settings.list.empty())
      return true;
    std::error_code error;
    list = std::make_unique<raw_fd_ostream>(settings.list, error, sys::fs::OF_None);
    if (error)
      fail(settings.list + ": " + error.message());
    return !error;
  }

  lto::ThinBackend backend() {
    const ThreadPoolStrategy threads = heavyweight_hardware_concurrency(StringRef(settings.jobs));
    auto on_index = [this](const std::string &module) {
      std::lock_guard<std::mutex> guard(lock);
      without_index.erase(module);
    };
    if (settings.is_index_only)
      return lto::createWriteIndexesThinBackend(threads, settings.old_prefix, settings.new_prefix,
                                                settings.object_prefix, settings.emits_imports, list.get(), on_index);
    return lto::createInProcessThinBackend(threads, on_index, settings.emits_indexes, settings.emits_imports);
  }

  bool add(lto::LTO &link, const wire::Input &input) {
    const std::optional<MemoryBufferRef> bytes = files.find(input);
    if (!bytes)
      return false;
    Expected<std::unique_ptr<lto::InputFile>> file = lto::InputFile::create(*bytes);
    if (!file) {
      fail(input.name + ": " + toString(file.takeError()));
      return false;
    }
    std::vector<lto::SymbolResolution> resolutions;
    if (!resolve(input, **file, resolutions))
      return false;
    if (settings.is_index_only || settings.emits_indexes)
      without_index.insert(input.name);
    return !fails(link.add(std::move(*file), resolutions));
  }

  // Build systems look for an index of every file that they know, also if it is not used.
  bool write_empty_index(const std::string &name) {
    const std::string path = lto::getThinLTOOutputFile(name, settings.old_prefix, settings.new_prefix);
    const auto write = [](const std::string &path, bool has_index) {
      std::error_code error;
      raw_fd_ostream stream(path, error, sys::fs::OF_None);
      if (error) {
        fail(path + ": " + error.message());
        return false;
      }
      if (has_index) {
        ModuleSummaryIndex index(/*HaveGVs=*/false);
        index.setSkipModuleByDistributedBackend();
        writeIndexToFile(index, stream);
      }
      return true;
    };
    return write(path + ".thinlto.bc", true) && (!settings.emits_imports || write(path + ".imports", false));
  }

  // Bitcode takes the place of objects, as the code generator would be given it.
  void emit_bitcode() {
    auto before = settings.config.PreCodeGenModuleHook;
    settings.config.PreCodeGenModuleHook = [this, before](unsigned task, const Module &module) {
      if (before)
        before(task, module);
      const std::string path = file_of(task);
      std::error_code error;
      raw_fd_ostream stream(path, error, sys::fs::OF_None);
      if (error)
        fail(path + ": " + error.message());
      else
        WriteBitcodeToFile(module, stream, /*ShouldPreserveUseListOrder=*/false);
      note(task, path);
      return false;
    };
  }

  std::string file_of(unsigned task) const { return order.directory + "/" + std::to_string(task); }
  std::string parts_path() const { return order.directory + "/parts"; }

  void note(unsigned task, std::string path) {
    std::lock_guard<std::mutex> guard(lock);
    made[task] = std::move(path);
  }

  bool compile(lto::LTO &link) {
    FileCache cache;
    if (!settings.cache.empty()) {
      if (settings.has_parts && !parts.open(parts_path()))
        return fail(parts_path() + ": " + std::strerror(errno)), false;
      Expected<FileCache> local =
          localCache("ThinLTO", "Thin", settings.cache,
                     [this](unsigned task, const Twine &, std::unique_ptr<MemoryBuffer> object) {
                       take_from_cache(task, std::move(object));
                     });
      if (!local)
        return !fails(local.takeError());
      cache = FileCache(
          [this, local = std::move(*local)](unsigned task, StringRef key, const Twine &name) mutable {
            has_complained = false;
            Expected<AddStreamFn> stream = local(task, key, name);
            if (!stream || *stream)
              is_cached = false;
            return stream;
          },
          settings.cache);
    }
    const auto stream_of = [this](unsigned task, const Twine &) -> Expected<std::unique_ptr<CachedFileStream>> {
      is_cached = false;
      const std::string path = file_of(task);
      std::error_code error;
      auto stream = std::make_unique<raw_fd_ostream>(path, error, sys::fs::OF_None);
      if (error)
        return createStringError(error, path + ": " + error.message());
      note(task, path);
      // Its path is another one each time, and would get into debug information for Windows.
      return std::make_unique<CachedFileStream>(std::move(stream));
    };
    if (fails(link.run(stream_of, cache)))
      return false;
    if (!settings.cache.empty() && is_cached)
      voice.cached();
    if (!settings.trace.empty()) {
      if (fails(timeTraceProfilerWrite(settings.trace, settings.output)))
        return false;
      timeTraceProfilerCleanup();
    }
    // What options of LLVM's ask for is printed at the end of a process, otherwise.
    reportAndResetTimings(&errs());
    if (AreStatisticsEnabled())
      PrintStatistics(errs());
    return true;
  }

  // Weld removes what it has been given, and others may prune the cache: so it is given a copy, or a name of its own.
  void take_from_cache(unsigned task, std::unique_ptr<MemoryBuffer> object) {
    // The next link would find it there, and nobody would say anything: what was compiled in vain would be linked, and
    // a warning would be no error any more.
    if (has_failed || has_complained) {
      std::error_code ignored;
      std::filesystem::remove(object->getBufferIdentifier().str(), ignored);
      if (has_failed)
        return;
    }
    if (settings.has_parts && object->getBufferSize() <= Parts::largest) {
      const std::optional<uint64_t> offset = parts.add(object->getBuffer());
      if (!offset)
        return fail(parts_path() + ": " + std::strerror(errno));
      voice.part(task, *offset, object->getBufferSize());
      return keep_from_pruning(std::move(object));
    }
    const std::string path = file_of(task);
    if (link(object->getBufferIdentifier().str().c_str(), path.c_str()) != 0) {
      std::error_code error;
      raw_fd_ostream stream(path, error, sys::fs::OF_None);
      if (error)
        return fail(path + ": " + error.message());
      stream << object->getBuffer();
    }
    note(task, path);
    keep_from_pruning(std::move(object));
  }

  void keep_from_pruning(std::unique_ptr<MemoryBuffer> object) {
    std::lock_guard<std::mutex> guard(lock);
    cached.push_back(std::move(object));
  }

  bool tell() {
    if (list) {
      list->close();
      if (list->has_error()) {
        fail(settings.list + ": " + list->error().message());
        list->clear_error();
      }
    }
    for (const auto &[task, path] : made)
      voice.made(task, path);
    return !has_failed;
  }

  const wire::Order &order;
  Settings &settings;
  Files files;
  std::unique_ptr<raw_fd_ostream> list;
  std::mutex lock;
  // Modules for which no index has been written yet.
  std::set<std::string> without_index;
  std::map<unsigned, std::string> made;
  Parts parts;
  // Nothing has been compiled.
  std::atomic<bool> is_cached{true};
};

// Makes the symbol table that bitcode lacks, and says where it and its strings are. The bitcode stands in the order, in
// the place of a path.
static bool tell_symbols(const wire::Order &order) {
  if (order.inputs.empty())
    return fail("there is no bitcode in the order"), false;
  const MemoryBufferRef bitcode(order.inputs[0].path, order.inputs[0].name);
  Expected<BitcodeFileContents> contents = getBitcodeFileContents(bitcode);
  if (!contents)
    return !fails(contents.takeError());
  Expected<irsymtab::FileContents> table = irsymtab::readBitcode(*contents);
  if (!table)
    return !fails(table.takeError());
  const std::string path = order.directory + "/parts";
  Parts parts;
  if (!parts.open(path))
    return fail(path + ": " + std::strerror(errno)), false;
  uint32_t number = 0;
  const auto text = [](const SmallVectorImpl<char> &bytes) { return StringRef(bytes.data(), bytes.size()); };
  const bool is_new = !table->Symtab.empty();
  for (const StringRef bytes : {is_new ? text(table->Symtab) : contents->Symtab,
                                is_new ? text(table->Strtab) : contents->StrtabForSymtab}) {
    const std::optional<uint64_t> offset = parts.add(bytes);
    if (!offset)
      return fail(path + ": " + std::strerror(errno)), false;
    voice.part(number++, *offset, bytes.size());
  }
  return true;
}

static bool work(const wire::Order &order, Settings &settings) {
  if (settings.wants_symbols)
    return tell_symbols(order);
  if (std::string why = settings::parse(settings.llvm); !why.empty())
    return fail(why), false;
  if (std::string why = settings::complete(settings); !why.empty())
    return fail(why), false;
  if (!(new Work(order, settings))->run())
    return false;
  if (!settings.cache.empty())
    to_prune = &settings;
  return true;
}

static std::string read_order() {
  std::string bytes;
  uint64_t left = 8;
  bool has_length = false;
  char buffer[1 << 16];
  while (left > 0) {
    const ssize_t got = read(0, buffer, size_t(std::min<uint64_t>(left, sizeof buffer)));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return {};
    bytes.append(buffer, size_t(got));
    left -= uint64_t(got);
    if (left == 0 && !has_length) {
      has_length = true;
      left = wire::Reader(bytes).number();
      bytes.clear();
    }
  }
  return bytes;
}

static std::string compiler_version() {
  unsigned major, minor, patch;
  LLVMGetVersion(&major, &minor, &patch);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

int main(int count, char **words) {
  if (count == 2 && StringRef(words[1]) == "--version") {
    outs() << library << ", version " << compiler_version() << "; version of orders " << wire::version << '\n';
    return 0;
  }
  if (count != 2 || StringRef(words[1]) != "-weld-lto-engine") {
    errs() << "weld starts this program for link-time optimisation; by hand there is nothing to do with it\n";
    return 2;
  }
  // Descriptors of less are standard streams and such that a make may have opened for its children.
  const int replies = fcntl(1, F_DUPFD_CLOEXEC, 64);
  if (replies < 0 || dup2(2, 1) < 0)
    return 2;
  voice.take(replies);
  // By which terminals and `timeout` end whole groups of processes: weld dies of them, and that is noticed here. A
  // pipe that nobody reads and a file that becomes too large are errors of writing.
  for (int signal : {SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGXFSZ, SIGPIPE})
    std::signal(signal, SIG_IGN);
#ifdef __linux__
  // If it was stopped when weld is killed, it goes on, sees that, and ends.
  prctl(PR_SET_PDEATHSIG, SIGCONT);
#endif
  const std::string bytes = read_order();
  wire::Order order;
  if (std::string why = wire::read(bytes, order); !why.empty()) {
    voice.unusable(why);
    return 2;
  }
  static Settings settings;
  for (const std::string &word : order.words)
    if (!settings::take(settings, word)) {
      voice.unusable("it does not know '" + word + "': build it anew (weld lto-engine build)");
      return 2;
    }
  if (mkdir(order.directory.c_str(), 0700) != 0) {
    voice.ready(compiler_version());
    fail(order.directory + ": " + std::strerror(errno));
    voice.failed();
    return 2;
  }
  setenv("TMPDIR", order.directory.c_str(), 1);
  std::thread(watch, order.directory).detach();
  install_fatal_error_handler(on_fatal_error);
  install_bad_alloc_error_handler(on_fatal_error);
  install_out_of_memory_new_handler();
  InitializeAllTargetInfos();
  InitializeAllTargets();
  InitializeAllTargetMCs();
  InitializeAllAsmPrinters();
  InitializeAllAsmParsers();
  voice.ready(compiler_version());
  if (work(order, settings))
    voice.done();
  else
    voice.failed();
  wait_for_the_end();
}
