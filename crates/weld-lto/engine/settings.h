// The words of an order, as LLVM's settings.
//
// Each word sets one thing, and weld says all that matters: defaults of lld's that differ from LLVM's are words,
// too, but for those that no option of lld's changes.

#pragma once

#include "wire.h"

#include "llvm/CodeGen/CommandFlags.h"
#include "llvm/LTO/LTO.h"
#include "llvm/Remarks/HotnessThresholdParser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/xxhash.h"

namespace settings {

struct Settings {
  llvm::lto::Config config;
  llvm::lto::LTO::LTOKind mode = llvm::lto::LTO::LTOK_Default;
  unsigned partitions = 1;
  // A number or `all`; empty: as many as there are cores.
  std::string jobs;
  // For LLVM's own parser of options.
  std::vector<std::string> llvm;
  bool is_coff = false, emits_bitcode = false;
  // Names of the linked file's temporary files begin with it.
  std::string output;
  bool saves_temporaries = false;
  std::vector<std::string> kinds;
  // Indexes for compilations elsewhere, and the file that lists what will come of them.
  bool is_index_only = false, emits_indexes = false, emits_imports = false;
  std::string list, old_prefix, new_prefix, object_prefix;
  std::string cache, policy;
  // Small objects go together into one file.
  bool has_parts = false;
  std::string basic_blocks;
  bool has_basic_block_names = false, has_basic_block_map = false;
  std::string trace;
  // A number or `auto`.
  std::string hotness_threshold;
  // `static`, `pic`, or empty: the module says it.
  std::string model;
  // Symbols are all that is wanted.
  bool wants_symbols = false;
};

inline llvm::CodeGenOptLevel codegen_level(unsigned level) {
  switch (level) {
  case 0:
    return llvm::CodeGenOptLevel::None;
  case 1:
    return llvm::CodeGenOptLevel::Less;
  case 2:
    return llvm::CodeGenOptLevel::Default;
  default:
    return llvm::CodeGenOptLevel::Aggressive;
  }
}

// Whether the word is known.
inline bool take(Settings &to, llvm::StringRef word) {
  using llvm::StringRef;
  auto [name, value] = word.split('=');
  llvm::lto::Config &config = to.config;
  const auto number = [value = value] {
    unsigned found = 0;
    value.getAsInteger(10, found);
    return found;
  };
  const auto text = [&](const char *wanted, std::string &place) {
    return name == wanted && (place = value.str(), true);
  };
  const auto flag = [&](const char *wanted, bool &place, bool set = true) {
    return name == wanted && (place = set, true);
  };
  const auto add = [&](const char *wanted, std::vector<std::string> &place) {
    return name == wanted && (place.push_back(value.str()), true);
  };
  if (name == "level")
    config.OptLevel = number();
  else if (name == "codegen-level")
    config.CGOptLevel = codegen_level(number());
  else if (name == "partitions")
    to.partitions = std::max(1u, number());
  else if (name == "unified")
    to.mode = value == "thin" ? llvm::lto::LTO::LTOK_UnifiedThin : llvm::lto::LTO::LTOK_UnifiedRegular;
  else if (name == "emit-asm")
    config.CGFileType = llvm::CodeGenFileType::AssemblyFile;
  else if (name == "time-trace-granularity")
    config.TimeTraceGranularity = number();
  else
    return text("jobs", to.jobs) || add("llvm", to.llvm) || flag("coff", to.is_coff) ||
           flag("emit-bitcode", to.emits_bitcode) || text("output", to.output) || text("model", to.model) ||
           flag("symbols", to.wants_symbols) ||
           flag("save-temps", to.saves_temporaries) || add("save-kind", to.kinds) ||
           flag("index-only", to.is_index_only) || text("index-list", to.list) ||
           flag("emit-indexes", to.emits_indexes) || flag("emit-imports", to.emits_imports) ||
           text("old-prefix", to.old_prefix) || text("new-prefix", to.new_prefix) ||
           text("object-prefix", to.object_prefix) || add("only-module", config.ThinLTOModulesToCompile) ||
           text("cache", to.cache) || text("cache-policy", to.policy) || flag("parts", to.has_parts) ||
           text("remarks-file", config.RemarksFilename) || text("remarks-passes", config.RemarksPasses) ||
           text("remarks-format", config.RemarksFormat) || flag("remarks-hotness", config.RemarksWithHotness) ||
           text("remarks-hotness-threshold", to.hotness_threshold) ||
           text("sample-profile", config.SampleProfile) || text("cs-profile", config.CSIRProfile) ||
           flag("cs-generate", config.RunCSIRInstr) || flag("ignore-mismatch", config.PGOWarnMismatch, false) ||
           text("passes", config.OptPipeline) || text("alias-analyses", config.AAPipeline) ||
           add("pass-plugin", config.PassPlugins) || flag("debug-passes", config.DebugPassManager) ||
           flag("whole-program", config.HasWholeProgramVisibility) ||
           flag("validate-vtables", config.ValidateAllVtablesHaveTypeInfos) ||
           flag("vtables-have-types", config.AllVtablesHaveTypeInfos) ||
           text("basic-blocks", to.basic_blocks) || flag("basic-block-names", to.has_basic_block_names) ||
           flag("basic-block-map", to.has_basic_block_map) || text("dwo-directory", config.DwoDir) ||
           text("statistics", config.StatsFile) || text("time-trace", to.trace) ||
           flag("no-verify", config.DisableVerify) || flag("always-object", config.AlwaysEmitRegularLTOObj);
  return true;
}

// Hands options to LLVM's parser. What it says against them; empty if nothing.
inline std::string parse(const std::vector<std::string> &options) {
  std::vector<const char *> words = {"weld"};
  for (const std::string &option : options)
    words.push_back(option.c_str());
  std::string said;
  llvm::raw_string_ostream stream(said);
  if (llvm::cl::ParseCommandLineOptions(int(words.size()), words.data(), "", &stream))
    return {};
  return said.empty() ? "an option of LLVM's is wrong" : said;
}

// What LLVM's cache does not know of, as words of their own, which are part of the names by which it keeps objects:
// settings, and the contents of files that options name.
inline std::vector<std::string> told_apart_by(const Settings &of) {
  std::vector<std::string> found;
  std::vector<llvm::StringRef> paths = {of.config.CSIRProfile, of.basic_blocks};
  if (of.config.RunCSIRInstr)
    found.push_back("cs-generate");
  if (!of.basic_blocks.empty())
    found.push_back("basic-blocks=" + of.basic_blocks);
  if (of.has_basic_block_names)
    found.push_back("basic-block-names");
  if (of.has_basic_block_map)
    found.push_back("basic-block-map");
  for (const std::string &plugin : of.config.PassPlugins) {
    found.push_back("pass-plugin=" + plugin);
    paths.push_back(plugin);
  }
  for (llvm::StringRef word : of.llvm)
    paths.push_back(word.split('=').second);
  for (llvm::StringRef path : paths)
    // Of a device there would be no end.
    if (!path.empty() && llvm::sys::fs::is_regular_file(path))
      if (auto file = llvm::MemoryBuffer::getFile(path)) {
        const llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::arrayRefFromStringRef((*file)->getBuffer()));
        found.push_back("file=" + path.str() + "=" + llvm::utohexstr(hash.high64) + "-" + llvm::utohexstr(hash.low64));
      }
  return found;
}

// Completes what depends on LLVM's own options, which have been parsed. An error's text, or nothing.
inline std::string complete(Settings &to) {
  namespace codegen = llvm::codegen;
  llvm::lto::Config &config = to.config;
  config.Options = codegen::InitTargetOptionsFromCodeGenFlags(llvm::Triple());
  llvm::TargetOptions &target = config.Options;
  target.EmitAddrsig = true;
  target.FunctionSections = codegen::getExplicitFunctionSections().value_or(true);
  target.DataSections = codegen::getExplicitDataSections().value_or(true);
  if (config.CGFileType == llvm::CodeGenFileType::AssemblyFile)
    target.MCOptions.AsmVerbose = true;
  if (to.basic_blocks == "all")
    target.BBSections = llvm::BasicBlockSection::All;
  else if (to.basic_blocks == "labels")
    target.BBAddrMap = true;
  else if (!to.basic_blocks.empty() && to.basic_blocks != "none") {
    auto list = llvm::MemoryBuffer::getFile(to.basic_blocks);
    if (!list)
      return to.basic_blocks + ": " + list.getError().message();
    target.BBSections = llvm::BasicBlockSection::List;
    target.BBSectionsFuncListBuf = std::move(*list);
  }
  target.UniqueBasicBlockSectionNames |= to.has_basic_block_names;
  target.BBAddrMap |= to.has_basic_block_map;
  if (auto model = codegen::getExplicitRelocModel())
    config.RelocModel = *model;
  else if (to.model.empty())
    config.RelocModel = std::nullopt;
  else
    config.RelocModel = to.model == "pic" ? llvm::Reloc::PIC_ : llvm::Reloc::Static;
  config.CodeModel = codegen::getExplicitCodeModel();
  config.CPU = codegen::getCPUStr();
  config.MAttrs = codegen::getMAttrs();
  config.MllvmArgs = to.llvm;
  if (!to.cache.empty())
    for (std::string &word : told_apart_by(to))
      config.MllvmArgs.push_back(std::move(word));
  config.VisibilityScheme = to.is_coff ? llvm::lto::Config::FromPrevailing : llvm::lto::Config::ELF;
  config.PTO.LoopVectorization = config.PTO.SLPVectorization = config.OptLevel > 1;
  config.TimeTraceEnabled = !to.trace.empty();
  if (!to.hotness_threshold.empty()) {
    auto threshold = llvm::remarks::parseHotnessThresholdOption(to.hotness_threshold);
    if (!threshold)
      return "--opt-remarks-hotness-threshold: " + llvm::toString(threshold.takeError());
    config.RemarksHotnessThreshold = *threshold;
  }
  if (!to.saves_temporaries)
    return {};
  llvm::DenseSet<llvm::StringRef> kinds;
  kinds.insert(to.kinds.begin(), to.kinds.end());
  llvm::Error error = config.addSaveTemps(to.output + ".", /*UseInputModulePath=*/true, kinds);
  return error ? llvm::toString(std::move(error)) : std::string();
}

} // namespace settings
