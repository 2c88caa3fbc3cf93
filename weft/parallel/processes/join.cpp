// SPDX-License-Identifier: Apache-2.0
#include "join.hpp"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include <dlfcn.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/base/check.hpp>
#include <weft/base/signals_kept.hpp>
#include <weft/parallel/processes/local.hpp>
#include <weft/parallel/processes/plugin.hpp>

namespace weft {
namespace {

// MPI counts bytes in an int. A piece of exactly this size means that another one follows.
constexpr std::size_t piece_size = std::size_t{1} << 30;

void release(void* owner) {
  delete static_cast<PeerBytes*>(owner);
}

// Waits until somebody has read what was written into this pipe or socket, for a second at most. A
// launcher prints what its processes wrote, but drops what it has not read when the job is aborted.
void await_reader(int descriptor) {
  struct stat kind = {};
  if (::fstat(descriptor, &kind) != 0) return;
  const bool pipe = S_ISFIFO(kind.st_mode);
  if (!pipe && !S_ISSOCK(kind.st_mode)) return;
  for (int ms = 0; ms < 1000; ++ms) {
    int unread = 0;
    if (::ioctl(descriptor, pipe ? FIONREAD : TIOCOUTQ, &unread) != 0 || unread == 0) return;
    ::poll(nullptr, 0, 1);
  }
}

class MpiGroup final : public ProcessGroup {
 public:
  explicit MpiGroup(const ProcessesPlugin& plugin) : plugin_(plugin) {}
  MpiGroup(const MpiGroup&) = delete;
  MpiGroup& operator=(const MpiGroup&) = delete;
  ~MpiGroup() override { plugin_.finalize(); }

  int self() const override { return self_; }
  int count() const override { return count_; }

  void send(int to, PeerStream stream, PeerBytes data) override {
    WEFT_CHECK(to >= 0 && to < count_);
    std::size_t sent = 0;
    for (; data.size() - sent >= piece_size; sent += piece_size) {
      const auto from = data.begin() + static_cast<std::ptrdiff_t>(sent);
      give(to, stream, PeerBytes(from, from + static_cast<std::ptrdiff_t>(piece_size)));
    }
    if (sent > 0) data.erase(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(sent));
    give(to, stream, std::move(data));
  }

  PeerBytes receive(int from, PeerStream stream) override {
    WEFT_CHECK(from >= 0 && from < count_);
    PeerBytes data;
    std::size_t size = 0;
    do {
      size = plugin_.await(from, static_cast<int>(stream));
      data.resize(data.size() + size);
      plugin_.take(data.data() + (data.size() - size));
    } while (size == piece_size);
    return data;
  }

  [[noreturn]] void abort(int code, const std::string& text) override {
    std::fprintf(stderr, "weft: error: %s\n", text.c_str());
    std::fflush(nullptr);
    await_reader(STDERR_FILENO);
    plugin_.abort(code);
    std::abort();
  }

 private:
  void give(int to, PeerStream stream, PeerBytes data) {
    auto* kept = new PeerBytes(std::move(data));
    plugin_.send(to, static_cast<int>(stream), {kept->data(), kept->size(), &release, kept});
  }

  const ProcessesPlugin& plugin_;
  int self_ = plugin_.self();
  int count_ = plugin_.count();
};

// Settings of the MPI libraries, unless the user has set them. Neighbours exchange a few kilobytes
// per window, which had better go eagerly, without a rendezvous (16 kB between two cores: 2.4
// instead of 4.7 us with Open MPI, 1.7 instead of 4.2 us with MPICH).
void prefer_settings() {
  constexpr std::pair<const char*, const char*> settings[] = {
      {"OMPI_MCA_btl_vader_eager_limit", "32768"},
      {"UCX_RNDV_THRESH", "32768"},
      // Many containers forbid reading another process's memory, and it is not faster.
      {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
      // The warning concerns network cards and the memory of a forked child.
      {"OMPI_MCA_mpi_warn_on_fork", "0"},
  };
  for (const auto& [name, value] : settings) ::setenv(name, value, 0);
}

struct Library {
  const char* name;
  const char* file;
  const char* packages;
};

Library library_of(Launch::By by) {
  if (by == Launch::By::open_mpi) {
    return {"Open MPI", "weft-processes-openmpi.so", "libopenmpi-dev and openmpi-bin"};
  }
  return {"MPICH", "weft-processes-mpich.so", "libmpich-dev and mpich"};
}

Result<const ProcessesPlugin*> load_plugin(const Library& library, const std::string& folder) {
  const std::string file = (std::filesystem::path(folder) / library.file).string();
  std::error_code unreadable;
  if (!std::filesystem::exists(file, unreadable)) {
    return Error::run(std::string("mpirun is ") + library.name +
                      "'s, but this weft was built without " + library.name + " ('" + file +
                      "' is missing): install " + library.packages +
                      " (Debian's names), then configure and build weft again");
  }
  // RTLD_DEEPBIND: a simulated program has all MPI symbols from weft's library. Inside the plugin
  // and the MPI library the real ones must win.
  void* opened = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (opened == nullptr) {
    const char* reason = ::dlerror();
    return Error::run(std::string("cannot load ") + library.name + ": " +
                      (reason != nullptr ? reason : file) + "; install " + library.packages +
                      " (Debian's names), or configure and build weft again");
  }
  const void* table = ::dlsym(opened, "weft_processes_v1");
  if (table == nullptr) {
    return Error::run("'" + file + "' belongs to another version of weft; install weft again");
  }
  return static_cast<const ProcessesPlugin*>(table);
}

}  // namespace

Result<std::unique_ptr<ProcessGroup>> join_job(const Launch& launch,
                                               const std::string& library_folder) {
  if (launch.by == Launch::By::nobody) return std::move(make_local_group(1).front());
  const Library library = library_of(launch.by);
  const SignalsKept kept;
  prefer_settings();
  Result<const ProcessesPlugin*> plugin = load_plugin(library, library_folder);
  if (!plugin) return std::move(plugin).error();
  (*plugin)->init(environ);
  auto peers = std::make_unique<MpiGroup>(**plugin);
  if (peers->count() != launch.count || peers->self() != launch.self) {
    return Error::run("mpirun started " + std::to_string(launch.count) + " processes, but " +
                      library.name + " sees " + std::to_string(peers->count()) +
                      ": use the mpirun of the " + library.name + " that weft was built with");
  }
  return std::unique_ptr<ProcessGroup>(std::move(peers));
}

}  // namespace weft
