// SPDX-License-Identifier: Apache-2.0
// weft doctor: checks the files of the installation and the libraries that weft was built with.
#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

#include "doctor.hpp"
#include "doctor_child.hpp"
#include "home.hpp"
#include "live.hpp"
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <weft/base/text.hpp>
#include <weft/network/part/part.hpp>
#include <weft/output/record/series_file.hpp>
#include <weft/output/report/picture.hpp>
#include <weft/study/map/scotch.hpp>
#include <weft/workload/traces/otf2.hpp>

namespace weft::app {
namespace {

#ifdef WEFT_HWLOC
constexpr bool has_hwloc = true;
#else
constexpr bool has_hwloc = false;
#endif

struct File {
  const char* name;
  std::string path;
  const char* use;
  Health without;
  const char* remedy;
};

Check check_file(const File& file) {
  Check check{"files", file.name, Health::ok, file.path, file.use, ""};
  if (::access(file.path.c_str(), R_OK) == 0) return check;
  check.health = file.without;
  check.found = file.path + " is missing or not readable";
  check.remedy = file.remedy;
  return check;
}

// A library that the build may have found, and how to get it otherwise.
struct Library {
  const char* name;
  bool there;
  const char* use;
  const char* lost;
  const char* remedy;
};

Check check_library(const Library& library) {
  Check check{"libraries", library.name, Health::ok, "built in", library.use, ""};
  if (library.there) return check;
  check.health = Health::note;
  check.found = fmt::format("no {}: {}", library.name, library.lost);
  check.remedy = library.remedy;
  return check;
}

struct Plugin {
  const char* name;
  const char* file;
  const char* use;
  const char* lost;
  const char* package;  // To build with.
  const char* library;  // To run with.
};

constexpr std::array<Plugin, 4> plugins = {
    Plugin{"libfabric", "weft-wire-ofi.so", "RDMA rails of weft run (--rails ofi:...)",
           "weft run uses TCP and shared memory only", "libfabric-dev", "libfabric1"},
    Plugin{"PMIx", "weft-launch-pmix.so",
           "programs started by srun --mpi=pmix, prterun or Open MPI's mpirun",
           "these launchers cannot start ranks; weft run can", "libpmix-dev", "libpmix2"},
    Plugin{"Open MPI", "weft-processes-openmpi.so", "mpirun -np N weft sim, traffic or map",
           "its mpirun cannot share out a simulation; --threads can", "libopenmpi-dev openmpi-bin",
           "libopenmpi3"},
    Plugin{"MPICH", "weft-processes-mpich.so", "mpirun -np N weft sim, traffic or map",
           "its mpirun cannot share out a simulation; --threads can", "libmpich-dev mpich",
           "libmpich12"}};

// Loads the plug-in in a child process, because such libraries run code of their own.
Check check_plugin(const Plugin& plugin) {
  const std::string path = find_home().lib + "/" + plugin.file;
  Check check{"libraries", plugin.name, Health::note, "", plugin.use, ""};
  if (::access(path.c_str(), R_OK) != 0) {
    check.found = fmt::format("no {}: {}", plugin.name, plugin.lost);
    check.remedy = fmt::format("apt install {} and build again", plugin.package);
    return check;
  }
  const ProcessResult end = run_bounded(
      [&] {
        if (::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) ::_exit(0);
        std::puts(::dlerror());
        return 1;
      },
      Duration::ms(20'000));
  if (end.code == 0 && !end.late) {
    check.health = Health::ok;
    check.found = path;
    return check;
  }
  const std::string why(trim(end.output));
  check.found = fmt::format("{} does not load ({}): {}", path,
                            end.late ? "not in time" : why.substr(0, why.find('\n')), plugin.lost);
  check.remedy = fmt::format("apt install {}", plugin.library);
  return check;
}

Checks check_files() {
  const Home home = find_home();
  const char* const again = "install weft again (cmake --install, or the package)";
  Checks checks;
  for (const File& file :
       {File{"MPI library", home.lib + "/libmpi_abi.so", "weft cc, weft sim and weft run",
             Health::missing, again},
        File{"mpi.h", home.include + "/mpi.h", "weft cc and weft c++", Health::missing, again},
        File{"agent", home.lib + "/weft-agent", "weft run --hosts", Health::missing, again},
        File{"probe program", home.lib + "/weft-probe", "weft probe", Health::missing, again},
        File{"simulator", home.lib + "/weft-separate", "weft sim --separate processes",
             Health::missing, again},
        File{"page template", home.share + "/report.html", "weft report, weft sim --live",
             Health::note, "apt install nodejs npm, and build again with -DWEFT_WEB=ON"},
        File{"texts", home.doc + "/architecture.md", "weft help TOPIC", Health::note, again}})
    checks.push_back(check_file(file));
  return checks;
}

}  // namespace

Checks check_parts() {
  Checks checks = check_files();
  for (const Library& library :
       {Library{
            "HDF5", has_hdf5(), "series.h5 and timeline.h5 of weft sim --record",
            "weft sim --series leaves raw files, and weft report shows no links over time",
            "apt install libhdf5-103-1; if weft was built without: libhdf5-dev and build again"},
        Library{"librsvg", report::has_png(), "PNG pictures of weft report",
                "weft report draws SVG only",
                "apt install librsvg2-2; if weft was built without: librsvg2-dev and build again"},
        Library{"cpp-httplib", LivePage::possible(), "weft sim --live",
                "weft sim --live is refused", "apt install libcpp-httplib-dev and build again"},
        Library{"OTF2", has_otf2(), "weft run --events, weft map --traffic FILE.otf2",
                "weft run --events and weft map --traffic *.otf2 are refused",
                "apt install libotf2-trace-dev and build again"},
        Library{"hwloc", has_hwloc, "rails and memory near each other in weft run",
                "weft run takes the machine as Linux tells it, and --hwloc is refused",
                "apt install libhwloc-dev and build again"},
        Library{"METIS", has_metis(), "--partition metis; weft map on networks without coordinates",
                "networks are partitioned by other methods",
                "apt install libmetis5; if weft was built without: libmetis-dev and build again"},
        Library{"Scotch", map::has_scotch(), "another start of weft map's search",
                "weft map searches without it",
                "apt install libscotch-7.0; if weft was built without: libscotch-dev and build "
                "again"}})
    checks.push_back(check_library(library));
  for (const Plugin& plugin : plugins) checks.push_back(check_plugin(plugin));
  return checks;
}

}  // namespace weft::app
