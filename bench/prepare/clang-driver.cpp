// A clang of its own over Debian's static libraries, for the workload `clang-release`.
//
// It is what clang/tools/driver does, without the multiplexing: called as a compiler it builds the
// compilation's jobs, and each `-cc1` job comes back to this program as a child process. All
// targets are initialised, so that the link pulls in every back end, as the real clang does.

#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/DiagnosticIDs.h"
#include "clang/Basic/DiagnosticOptions.h"
#include "clang/Driver/Compilation.h"
#include "clang/Driver/Driver.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/TextDiagnosticBuffer.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "clang/FrontendTool/Utils.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/LLVMDriver.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

#include <memory>
#include <string>
#include <utility>

using namespace clang;

// Runs one `-cc1` job: the compiler proper.
static int compile(llvm::ArrayRef<const char *> Args, const char *Program) {
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllAsmPrinters();
  llvm::InitializeAllAsmParsers();

  DiagnosticOptions Options;
  auto *Early = new TextDiagnosticBuffer;
  DiagnosticsEngine EarlyDiags(DiagnosticIDs::create(), Options, Early);

  auto Invocation = std::make_shared<CompilerInvocation>();
  bool Parsed = CompilerInvocation::CreateFromArgs(*Invocation, Args, EarlyDiags, Program);
  CompilerInstance Clang(std::move(Invocation));
  Clang.createVirtualFileSystem();
  Clang.createDiagnostics();
  if (!Clang.hasDiagnostics())
    return 1;
  Early->FlushDiagnostics(Clang.getDiagnostics());
  return Parsed && ExecuteCompilerInvocation(&Clang) ? 0 : 1;
}

// Runs the driver: from the user's command line to jobs.
static int drive(llvm::ArrayRef<const char *> Args, const std::string &Program) {
  DiagnosticOptions Options;
  DiagnosticsEngine Diags(DiagnosticIDs::create(), Options,
                          new TextDiagnosticPrinter(llvm::errs(), Options));
  driver::Driver Driver(Program, llvm::sys::getDefaultTargetTriple(), Diags);
  std::unique_ptr<driver::Compilation> Jobs(Driver.BuildCompilation(Args));
  if (!Jobs || Jobs->containsError())
    return 1;
  llvm::SmallVector<std::pair<int, const driver::Command *>, 4> Failing;
  int Result = Driver.ExecuteCompilation(*Jobs, Failing);
  return Result || !Failing.empty() ? 1 : 0;
}

int main(int argc, char **argv) {
  llvm::SmallVector<const char *, 256> Args(argv, argv + argc);
  if (argc > 1 && llvm::StringRef(argv[1]) == "-cc1")
    return compile(llvm::ArrayRef(Args).slice(2), argv[0]);
  llvm::InitializeAllTargets(); // `-march=` and kin ask the targets
  return drive(Args, llvm::sys::fs::getMainExecutable(argv[0], reinterpret_cast<void *>(&compile)));
}
