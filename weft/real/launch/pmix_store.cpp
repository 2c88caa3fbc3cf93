// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/pmix_store.hpp"

#include <cstdio>
#include <utility>

#include <dlfcn.h>
#include <poll.h>
#include <unistd.h>

#include <weft/base/signals_kept.hpp>
#include <weft/real/launch/environment.hpp>
#include <weft/real/launch/notices.hpp>
#include <weft/real/launch/pmix_plugin.hpp>

namespace weft::launch {
namespace {

// The launcher forwards our output on another path and may drop it once it ends the job.
constexpr int print_ms = 100;

class PmixStore final : public Store {
 public:
  explicit PmixStore(const PmixPlugin& plugin) : plugin_(plugin) {}

  Status open();

  std::uint32_t self() const override { return self_; }
  std::uint32_t ranks() const override { return ranks_; }
  std::size_t value_size_max() const override { return std::size_t{1} << 20; }
  Status put(const std::string& key, const std::string& value) override {
    return check(plugin_.put(key.c_str(), value.data(), value.size()), "PMIx_Put");
  }
  Status barrier() override { return check(plugin_.barrier(), "PMIx_Fence"); }
  Result<std::string> get(std::uint32_t rank, const std::string& key) override;
  int descriptor() const override { return notices_.descriptor(); }
  bool next_notice(Notice& out) override { return notices_.take(out); }
  void leave() override { plugin_.finalize(); }
  void abort(int code, const std::string& message) override {
    std::fprintf(stderr, "weft: rank %u: %s\n", self_, message.c_str());
    ::poll(nullptr, 0, print_ms);
    plugin_.abort(code, message.c_str());
  }

 private:
  Status check(int error, const char* call) const {
    if (error == 0) return {};
    return Error(Broken::peer, std::string(call) + ": " + plugin_.text(error));
  }

  const PmixPlugin& plugin_;
  std::uint32_t self_ = 0, ranks_ = 1;
  Notices notices_;
};

Status PmixStore::open() {
  if (Status opened = notices_.open(-1); !opened) return opened;
  const auto notify = [](void* owner, int all, std::uint32_t rank) {
    static_cast<Notices*>(owner)->add({all != 0 ? Notice::Kind::end : Notice::Kind::lost, rank});
  };
  const SignalsKept kept;
  if (Status done = check(plugin_.init(environ, {notify, &notices_}), "PMIx_Init"); !done)
    return done;
  self_ = plugin_.self();
  ranks_ = plugin_.ranks();
  if (self_ >= ranks_) return Error(Broken::peer, "PMIx: a rank outside of its job");
  for (const char* const name : {"PMIX_RANK", "PMIX_NAMESPACE"}) drop_variable(name);
  return {};
}

Result<std::string> PmixStore::get(std::uint32_t rank, const std::string& key) {
  std::string value;
  const auto take = [](void* owner, const void* data, std::size_t size) {
    static_cast<std::string*>(owner)->assign(static_cast<const char*>(data), size);
  };
  if (Status got = check(plugin_.get(rank, key.c_str(), {take, &value}), "PMIx_Get"); !got)
    return std::move(got).error();
  return value;
}

Result<const PmixPlugin*> load_plugin(const std::string& folder) {
  const std::string file = folder + "/weft-launch-pmix.so";
  if (::access(file.c_str(), F_OK) != 0) {
    return Error::run("the launcher speaks PMIx, but this weft was built without libpmix ('" +
                      file +
                      "' is missing): install libpmix-dev (Debian's name), then configure "
                      "and build weft again, or start the program with 'weft run'");
  }
  // RTLD_DEEPBIND: a program may define symbols that libpmix takes from its own libraries.
  void* const opened = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (opened == nullptr) {
    const char* const reason = ::dlerror();
    return Error::run(std::string("cannot load libpmix: ") + (reason != nullptr ? reason : file));
  }
  const void* const table = ::dlsym(opened, "weft_launch_pmix_v1");
  if (table == nullptr)
    return Error::run("'" + file + "' belongs to another version of weft; install weft again");
  return static_cast<const PmixPlugin*>(table);
}

}  // namespace

Result<std::unique_ptr<Store>> open_pmix_store(const std::string& library_folder) {
  const auto plugin = load_plugin(library_folder);
  if (!plugin) return Error(plugin.error());
  auto store = std::make_unique<PmixStore>(**plugin);
  if (Status opened = store->open(); !opened) return std::move(opened).error();
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace weft::launch
