// SPDX-License-Identifier: Apache-2.0
// Compiler pass: a program's mutable globals are addressed as &global + delta, so that one
// thread-local word selects a simulated rank's copy of them. Outside the simulator the word is
// zero.
// It runs last, after the optimiser has folded and inlined what it can: each function loads the
// word once (a rank stays on its thread, and the word is restored whenever the rank resumes), and
// addresses are formed before loops. Only addresses change; layout, linkage and debug information
// stay. The pass marks each object with the local symbol __weft_pass for the runtime.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <llvm/ADT/DenseSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>

namespace {

using llvm::Constant;
using llvm::Instruction;
using llvm::Value;

// Which globals are copied per rank.
enum class Storage {
  shared,   // Shared by all ranks: code, constants without data addresses, thread-local variables.
  rank,     // Defined here, in the program's writable segments.
  unknown,  // Declared here: the program's or a library's; only the address can tell.
};

class StorageMap {
 public:
  explicit StorageMap(llvm::Module& module) {
    // A constant that holds the address of a rank's variable differs between ranks as well.
    for (bool grown = true; grown;) {
      grown = false;
      for (llvm::GlobalVariable& global : module.globals())
        if (!moving_.contains(&global) && moves(global)) grown = moving_.insert(&global).second;
    }
  }

  Storage of(const Constant& constant) const {
    const auto* global = llvm::dyn_cast<llvm::GlobalValue>(&constant);
    if (global == nullptr) return Storage::shared;
    if (const auto* alias = llvm::dyn_cast<llvm::GlobalAlias>(global)) {
      const llvm::GlobalObject* base = alias->getAliaseeObject();
      return base == nullptr ? Storage::shared : of(*base);
    }
    const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(global);
    if (variable == nullptr || !moving_.contains(variable)) return Storage::shared;
    return variable->isDeclarationForLinker() ? Storage::unknown : Storage::rank;
  }

  bool touched(const Constant& constant) const {
    if (of(constant) != Storage::shared) return true;
    if (llvm::isa<llvm::GlobalValue>(constant)) return false;
    return std::any_of(constant.op_begin(), constant.op_end(), [this](const llvm::Use& use) {
      const auto* part = llvm::dyn_cast<Constant>(use.get());
      return part != nullptr && touched(*part);
    });
  }

 private:
  bool moves(const llvm::GlobalVariable& global) const {
    const llvm::StringRef name = global.getName();
    if (global.isThreadLocal() || global.getAddressSpace() != 0) return false;
    if (name.startswith("llvm.") || name.startswith("__weft_")) return false;
    // Profiling counters are shared.
    if (name.startswith("__llvm_") || name.startswith("__prof")) return false;
    // Tables of the C++ runtime refer only to each other, and exception tables refer to them.
    if (name.startswith("_ZTV") || name.startswith("_ZTI") || name.startswith("_ZTT") ||
        name.startswith("_ZTC") || name.startswith("_ZTS"))
      return false;
    if (global.isDeclarationForLinker() || !global.isConstant()) return true;
    return touched(*global.getInitializer());
  }

  llvm::DenseSet<const llvm::GlobalVariable*> moving_;
};

// Rewrites one function.
class Rewriter {
 public:
  Rewriter(llvm::Function& function, const StorageMap& storage)
      : function_(function), storage_(storage), dominators_(function), loops_(dominators_) {}

  bool run() {
    std::vector<llvm::Use*> uses;
    for (Instruction& instruction : llvm::instructions(function_)) collect(instruction, uses);
    for (llvm::Use* use : uses) use->set(moved(*llvm::cast<Constant>(use->get()), place_for(*use)));
    return !uses.empty();
  }

 private:
  void collect(Instruction& instruction, std::vector<llvm::Use*>& uses) {
    // Exception tables are made at compile time and can only name the original.
    if (llvm::isa<llvm::LandingPadInst>(instruction)) return;
    for (llvm::Use& use : instruction.operands()) {
      const auto* constant = llvm::dyn_cast<Constant>(use.get());
      if (constant != nullptr && storage_.touched(*constant) && !fixed(instruction, use))
        uses.push_back(&use);
    }
  }

  // An address that inline assembly uses as an immediate must stay one.
  static bool fixed(const Instruction& instruction, const llvm::Use& use) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    if (call == nullptr || !call->isInlineAsm() || !call->isArgOperand(&use)) return false;
    unsigned index = call->getArgOperandNo(&use);
    for (const auto& info :
         llvm::cast<llvm::InlineAsm>(call->getCalledOperand())->ParseConstraints()) {
      if (info.Type == llvm::InlineAsm::isClobber || !info.hasArg()) continue;
      if (index-- > 0) continue;
      return !info.isIndirect &&
             std::all_of(info.Codes.begin(), info.Codes.end(), [](const std::string& code) {
               return code == "i" || code == "s" || code == "n" || code == "S";
             });
    }
    return false;
  }

  // Where to compute the value for this use: at the use (for a phi, at the end of the incoming
  // block), hoisted out of the outermost enclosing loop that has a preheader.
  Instruction* place_for(const llvm::Use& use) {
    auto* place = llvm::cast<Instruction>(use.getUser());
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(place))
      place = phi->getIncomingBlock(use)->getTerminator();
    for (llvm::Loop* loop = loops_.getLoopFor(place->getParent()); loop != nullptr;
         loop = loop->getParentLoop())
      if (llvm::BasicBlock* before = loop->getLoopPreheader()) place = before->getTerminator();
    return place;
  }

  Value* moved(Constant& constant, Instruction* place) {
    // Duplicate edges into a phi must carry the same value, so values at the end of a block are
    // cached.
    const bool at_end = place->isTerminator();
    const auto key = std::make_pair(&constant, place->getParent());
    if (at_end && kept_.count(key) != 0) return kept_[key];
    llvm::IRBuilder<> builder(place);
    Value* value = make(constant, builder);
    if (at_end) kept_[key] = value;
    return value;
  }

  Value* make(Constant& constant, llvm::IRBuilder<>& builder) {
    switch (storage_.of(constant)) {
      case Storage::rank:
        return add(constant, delta(), builder);
      case Storage::unknown:
        return add(constant, delta_if_own(constant, builder), builder);
      case Storage::shared:
        break;
    }
    if (auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(&constant)) {
      Instruction* instruction = builder.Insert(expression->getAsInstruction());
      instruction->setDebugLoc(builder.getCurrentDebugLocation());
      for (llvm::Use& use : instruction->operands())
        if (auto* part = llvm::dyn_cast<Constant>(use.get()); part && storage_.touched(*part)) {
          llvm::IRBuilder<> before(instruction);
          use.set(make(*part, before));
        }
      return instruction;
    }
    return aggregate(constant, builder);
  }

  // A structure, array or vector constant.
  Value* aggregate(Constant& constant, llvm::IRBuilder<>& builder) {
    Value* whole = llvm::PoisonValue::get(constant.getType());
    for (unsigned i = 0; i < constant.getNumOperands(); ++i) {
      auto* part = llvm::cast<Constant>(constant.getOperand(i));
      Value* value = storage_.touched(*part) ? make(*part, builder) : part;
      whole = constant.getType()->isVectorTy() ? builder.CreateInsertElement(whole, value, i)
                                               : builder.CreateInsertValue(whole, value, i);
    }
    return whole;
  }

  // Computed from the global itself, so that alias analysis still tells globals apart: all move by
  // the same distance.
  static Value* add(Constant& global, Value* distance, llvm::IRBuilder<>& builder) {
    Value* bytes = builder.CreateBitCast(&global, builder.getInt8PtrTy());
    return builder.CreateBitCast(builder.CreateGEP(builder.getInt8Ty(), bytes, distance),
                                 global.getType());
  }

  Value* delta() { return word("__weft_delta", delta_, llvm::GlobalValue::InitialExecTLSModel); }

  Value* delta_if_own(Constant& global, llvm::IRBuilder<>& builder) {
    Value* begin = word("__weft_data_begin", begin_, llvm::GlobalValue::NotThreadLocal);
    Value* size = word("__weft_data_size", size_, llvm::GlobalValue::NotThreadLocal);
    Value* address = builder.CreatePtrToInt(&global, builder.getInt64Ty());
    Value* own = builder.CreateICmpULT(builder.CreateSub(address, begin), size);
    return builder.CreateSelect(own, delta(), builder.getInt64(0));
  }

  // A word of the run time, loaded once, where the function begins. Each object defines it, and the
  // run time uses the program's: so the program needs no library that has it.
  Value* word(const char* name, Value*& loaded, llvm::GlobalValue::ThreadLocalMode mode) {
    if (loaded != nullptr) return loaded;
    llvm::Module& module = *function_.getParent();
    llvm::Type* type = llvm::Type::getInt64Ty(module.getContext());
    auto* global = module.getNamedGlobal(name);
    if (global == nullptr)
      global = new llvm::GlobalVariable(module, type, false, llvm::GlobalValue::WeakAnyLinkage,
                                        Constant::getNullValue(type), name, nullptr, mode);
    llvm::IRBuilder<> builder(&*function_.getEntryBlock().getFirstInsertionPt());
    return loaded = builder.CreateLoad(type, global, name);
  }

  llvm::Function& function_;
  const StorageMap& storage_;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  std::map<std::pair<Constant*, llvm::BasicBlock*>, Value*> kept_;
  Value* delta_ = nullptr;
  Value* begin_ = nullptr;
  Value* size_ = nullptr;
};

// Variables of the C library that a program shares with getopt. The compiler cannot move a
// library's data, so a program that names them defines them, and the library then uses the
// program's.
void define_options(llvm::Module& module) {
  const std::pair<const char*, int> initial[] = {
      {"optind", 1}, {"opterr", 1}, {"optopt", '?'}, {"optarg", 0}};
  for (const auto& [name, value] : initial) {
    llvm::GlobalVariable* variable = module.getNamedGlobal(name);
    if (variable == nullptr || !variable->isDeclaration() || variable->isThreadLocal()) continue;
    llvm::Type* type = variable->getValueType();
    variable->setLinkage(llvm::GlobalValue::WeakAnyLinkage);
    variable->setInitializer(type->isIntegerTy()
                                 ? llvm::ConstantInt::get(type, static_cast<unsigned>(value))
                                 : Constant::getNullValue(type));
  }
}

// The same for C++ streams, whose formatting state differs between ranks.
void define_streams(llvm::Module& module) {
  for (const char* name : {"_ZSt4cout", "_ZSt4cerr", "_ZSt4clog"}) {
    llvm::GlobalVariable* variable = module.getNamedGlobal(name);
    if (variable == nullptr || !variable->isDeclaration()) continue;
    if (!variable->getValueType()->isSized()) continue;
    variable->setLinkage(llvm::GlobalValue::WeakAnyLinkage);
    variable->setInitializer(Constant::getNullValue(variable->getValueType()));
  }
}

struct SeparateGlobals : llvm::PassInfoMixin<SeparateGlobals> {
  static llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
    define_options(module);
    define_streams(module);
    const StorageMap storage(module);
    for (llvm::Function& function : module)
      if (!function.isDeclarationForLinker() && !function.hasFnAttribute(llvm::Attribute::Naked))
        Rewriter(function, storage).run();
    // An absolute symbol: it takes no space and no section garbage collection removes it.
    module.appendModuleInlineAsm("__weft_pass = 1");
    return llvm::PreservedAnalyses::none();
  }
  // Without optimisation as well. LLVM's name. NOLINTNEXTLINE(readability-identifier-naming)
  static bool isRequired() { return true; }
};

}  // namespace

extern "C" LLVM_ATTRIBUTE_WEAK llvm::PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "weft_globals", "1", [](llvm::PassBuilder& builder) {
            builder.registerOptimizerLastEPCallback(
                [](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
                  passes.addPass(SeparateGlobals());
                });
          }};
}
