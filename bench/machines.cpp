// The program that bench/machines links: clang and LLVM as a library, for every target that they have.
#include "clang/CodeGen/CodeGenAction.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include <cstdlib>

// What Debian's archives want of libraries that there are none of for this machine, or of a newer glibc.
#define MISSING(NAME) extern "C" void NAME() { abort(); }
MISSING(ZSTD_compress) MISSING(ZSTD_compressBound) MISSING(ZSTD_decompress) MISSING(ZSTD_getErrorName) MISSING(ZSTD_isError)
MISSING(ZSTD_CCtx_setParameter) MISSING(ZSTD_compress2) MISSING(ZSTD_createCCtx) MISSING(ZSTD_freeCCtx)
MISSING(compress2) MISSING(compressBound) MISSING(crc32) MISSING(uncompress)
MISSING(del_curterm) MISSING(set_curterm) MISSING(tigetnum)
extern "C" int setupterm() { return -1; }
extern "C" long __isoc23_strtol(const char *a, char **b, int c) { return strtol(a, b, c); }
extern "C" long long __isoc23_strtoll(const char *a, char **b, int c) { return strtoll(a, b, c); }
extern "C" unsigned long __isoc23_strtoul(const char *a, char **b, int c) { return strtoul(a, b, c); }
extern "C" unsigned long long __isoc23_strtoull(const char *a, char **b, int c) { return strtoull(a, b, c); }
llvm::PassPluginLibraryInfo getPollyPluginInfo() { return {LLVM_PLUGIN_API_VERSION, "", "", [](llvm::PassBuilder &) {}}; }

#if LLVM_VERSION_MAJOR >= 21
const auto ASSEMBLY = llvm::CodeGenFileType::AssemblyFile;
#define TRIPLE llvm::Triple
#else
const auto ASSEMBLY = llvm::CGFT_AssemblyFile;
#define TRIPLE std::string
#endif

// Compiles what was parsed to the assembly of several machines.
struct Action : clang::EmitLLVMOnlyAction {
  void EndSourceFileAction() override {
    clang::EmitLLVMOnlyAction::EndSourceFileAction();
    auto module = takeModule();
    for (auto &function : *module)
      for (const char *attribute : {"target-cpu", "target-features", "tune-cpu"}) function.removeFnAttr(attribute);
    for (const char *triple : {"x86_64-linux-gnu", "aarch64-linux-gnu", "riscv64-linux-gnu", "hexagon"}) {
      std::string error;
      auto machine = llvm::TargetRegistry::lookupTarget(triple, error)->createTargetMachine(TRIPLE(triple), "", "", {}, {});
      module->setTargetTriple(TRIPLE(triple));
      module->setDataLayout(machine->createDataLayout());
      llvm::legacy::PassManager passes;
      llvm::SmallString<0> text;
      llvm::raw_svector_ostream out(text);
      machine->addPassesToEmitFile(passes, out, nullptr, ASSEMBLY);
      passes.run(*module);
      llvm::outs() << text;
    }
  }
};

int main() {
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllAsmPrinters();
  const char *code = "int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }";
  return !clang::tooling::runToolOnCodeWithArgs(std::make_unique<Action>(), code, {"-target", "x86_64-linux-gnu"}, "fib.cc");
}
