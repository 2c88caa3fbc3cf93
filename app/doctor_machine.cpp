// SPDX-License-Identifier: Apache-2.0
// weft doctor: checks limits of the system, networks and launchers.
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "doctor.hpp"
#include "doctor_child.hpp"
#include "home.hpp"
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/base/file.hpp>
#include <weft/base/quantity.hpp>
#include <weft/base/text.hpp>
#include <weft/real/locality/interfaces.hpp>

namespace weft::app {
namespace {

constexpr std::uint64_t mib = 1 << 20;

Check limit_check(const char* name, const char* use) {
  return {"limits", name, Health::ok, "", use, ""};
}

void add_note(Check& check, const std::string& remedy) {
  check.health = Health::note;
  check.remedy = remedy;
}

std::string limit_text(rlim_t limit) {
  return limit == RLIM_INFINITY ? "unlimited" : std::to_string(limit);
}

Check check_open_files() {
  Check check = limit_check("open files", "a connection to each rank of other hosts in weft run");
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  check.found =
      fmt::format("{} (at most {})", limit_text(limit.rlim_cur), limit_text(limit.rlim_max));
  // weft run raises the limit to the maximum, and needs a few files itself.
  if (limit.rlim_max < 4096)
    add_note(check,
             "raise nofile in /etc/security/limits.conf; else jobs of more ranks keep few "
             "connections (--connections managed)");
  return check;
}

Check check_locked_memory() {
  Check check = limit_check("locked memory", "RDMA rails of weft run; TCP needs none");
  rlimit limit{};
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  check.found = limit.rlim_cur == RLIM_INFINITY
                    ? "unlimited"
                    : to_text(Bytes{static_cast<std::int64_t>(limit.rlim_cur)});
  std::error_code none;
  const bool cards = std::filesystem::exists("/sys/class/infiniband", none) &&
                     !std::filesystem::is_empty("/sys/class/infiniband", none);
  if (cards && limit.rlim_cur < 256 * mib)
    add_note(check, "there are RDMA cards: set memlock to unlimited in /etc/security/limits.conf");
  return check;
}

Check check_shared_folder() {
  Check check = limit_check("/dev/shm",
                            "mpirun's own processes in 'mpirun weft sim'; weft run "
                            "needs no room there");
  struct statvfs room {};
  if (::statvfs("/dev/shm", &room) != 0) {
    check.found = "is not there";
    add_note(check, "mount -t tmpfs tmpfs /dev/shm");
    return check;
  }
  const std::uint64_t free = std::uint64_t{room.f_bavail} * room.f_frsize;
  check.found = fmt::format("{} MiB free", free / mib);
  if (free < 64 * mib) add_note(check, "remove old files there, or mount -o remount,size=1G it");
  return check;
}

// Copies as ranks of weft run do it, between two processes that are not parent and child.
int copy_from_neighbour() {
  static volatile int word = 4711;
  std::array<int, 2> ready{};
  if (::pipe(ready.data()) != 0) return 1;
  const int memory = ::memfd_create("weft-doctor", MFD_CLOEXEC);
  const pid_t other = ::fork();
  if (other == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_SET_PTRACER, static_cast<unsigned long>(::getppid()), 0, 0, 0);
    word = 4712;
    (void)!::write(ready[1], "x", 1);
    for (;;) ::pause();
  }
  char byte = 0;
  if (other < 0 || ::read(ready[0], &byte, 1) != 1) return 1;
  const pid_t reader = ::fork();
  if (reader == 0) {
    int got = 0;
    const iovec here{&got, sizeof got};
    const iovec there{const_cast<int*>(&word), sizeof word};
    const bool copied = ::process_vm_readv(other, &here, 1, &there, 1, 0) > 0 && got == 4712;
    const std::string path = fmt::format("/proc/{}/fd/{}", other, memory);
    const bool shared = ::open(path.c_str(), O_RDWR | O_CLOEXEC) >= 0;
    ::_exit((copied ? 0 : 2) + (shared ? 0 : 4));
  }
  int status = 0;
  ::waitpid(reader, &status, 0);
  ::kill(other, SIGKILL);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

Checks check_neighbours() {
  Check share = limit_check("shared memory", "messages between ranks of one host in weft run");
  Check copy = limit_check("single copy", "large messages between ranks of one host in weft run");
  const ProcessResult end = run_bounded(&copy_from_neighbour, Duration::ms(10'000));
  const bool known = !end.late && (end.code & 1) == 0;
  share.found = "processes of one user see each other's memory files";
  copy.found = "process_vm_readv is allowed";
  if (!known || (end.code & 4) != 0) {
    share.found = "processes may not open each other's files in /proc";
    add_note(share, "mount /proc without hidepid; else weft run --no-shared-memory");
  }
  if (!known || (end.code & 2) != 0) {
    copy.found = "process_vm_readv is refused: such messages are copied twice";
    add_note(copy,
             "sysctl kernel.yama.ptrace_scope=0 or 1; a container needs "
             "--cap-add=SYS_PTRACE or a newer seccomp profile");
  }
  return {share, copy};
}

Check check_mappings() {
  Check check = limit_check("mappings",
                            "ranks of weft sim whose program was not compiled by weft cc's clang");
  const auto text = read_file("/proc/sys/vm/max_map_count");
  const auto count = parse_int(text ? trim(*text) : "0");
  check.found = fmt::format("vm.max_map_count is {}", count ? *count : 0);
  if (count && *count < 65'530) add_note(check, "sysctl vm.max_map_count=65530 or more");
  return check;
}

Check check_huge_pages() {
  Check check = limit_check("huge pages", "speed of large simulations");
  const auto text = read_file("/sys/kernel/mm/transparent_hugepage/enabled");
  const std::string modes(text ? trim(*text) : "unknown");
  check.found = "transparent huge pages: " + modes;
  if (modes.find("[never]") != std::string::npos)
    add_note(check, "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
  return check;
}

Check check_clock() {
  Check check = limit_check("clock", "MPI_Wtime, weft sim --compute measured, weft probe");
  using Clock = std::chrono::steady_clock;
  constexpr int count = 20'000;
  const auto begin = Clock::now();
  auto last = begin;
  for (int i = 0; i < count; ++i) last = Clock::now();
  const double each_ns = std::chrono::duration<double, std::nano>(last - begin).count() / count;
  const auto source = read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  const std::string name(source ? trim(*source) : "unknown source");
  check.found = fmt::format("{}: {:.0f} ns per reading", name, each_ns);
  // With tsc or an ARM counter a reading needs no system call and takes some 20 to 60 ns.
  if (each_ns > 400)
    add_note(check,
             "boot with clocksource=tsc if the machine has a stable one; else short times "
             "are inaccurate");
  return check;
}

Check check_rails() {
  Check check{"networks", "rails", Health::ok, "", "weft run and weft probe over several hosts",
              ""};
  const auto all = locality::read_interfaces();
  const auto rails = all ? locality::choose_rails(*all, {}) : all;
  if (!rails) {
    check.found = rails.error().message();
    add_note(check, "see 'ip address'");
    return check;
  }
  const bool alone = std::all_of(rails->begin(), rails->end(),
                                 [](const locality::Interface& rail) { return rail.loopback; });
  check.found = rails->empty() ? "none" : locality::list_text(*rails);
  if (alone) add_note(check, "no interface leads to other hosts: this machine alone can be used");
  return check;
}

struct Launcher {
  const char* name;
  const char* use;
  const char* package;
};

constexpr std::array<Launcher, 4> launchers = {
    Launcher{"ssh", "weft run --hosts and weft probe --hosts on other hosts", "openssh-client"},
    Launcher{"srun", "jobs in a Slurm cluster", "slurm-client"},
    Launcher{"mpirun", "a simulation on several processes: mpirun -np N weft sim",
             "openmpi-bin or mpich"},
    Launcher{"prterun", "ranks started by PRRTE (part of Open MPI 5) instead of weft run",
             "prrte, where the system has it"}};

// Launchers are optional: none is needed on this machine alone.
Check check_launcher(const Launcher& launcher) {
  Check check{"launchers", launcher.name, Health::ok, find_in_path(launcher.name), launcher.use,
              ""};
  if (!check.found.empty()) return check;
  check.found = "not found in PATH";
  add_note(check, fmt::format("apt install {}, if you want that", launcher.package));
  return check;
}

}  // namespace

Checks check_machine() {
  Checks checks = {check_open_files(), check_locked_memory(), check_shared_folder()};
  for (Check& check : check_neighbours()) checks.push_back(std::move(check));
  for (const auto& check : {&check_mappings, &check_huge_pages, &check_clock, &check_rails})
    checks.push_back(check());
  for (const Launcher& launcher : launchers) checks.push_back(check_launcher(launcher));
  return checks;
}

}  // namespace weft::app
