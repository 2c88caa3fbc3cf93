// SPDX-License-Identifier: Apache-2.0
// Words that people type after weft help and that name no command and no text: each leads to those
// that answer it. For any other word the texts themselves are searched.
#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "help.hpp"
#include <fmt/format.h>

#include <weft/base/file.hpp>
#include <weft/base/text.hpp>

namespace weft::app {
namespace {

constexpr std::array<HelpWord, 28> words = {{
    {"adaptive,ugal,valiant,minimal", "how packets choose among several paths",
     "routing,reference/traffic,concepts/cross-line"},
    {"allreduce,alltoall,collective,collectives,barrier",
     "operations of all ranks, and how to choose their algorithms", "reference/sim,mpi"},
    {"bandwidth,rate,throughput,capacity", "what links and whole networks carry",
     "saturation,network-file,reference/traffic"},
    {"binding,affinity,cores,pinning", "which processors a rank of a real run may use",
     "reference/run,locality"},
    {"bisection,diameter,distance", "what a network's shape alone says about it", "net,topologies"},
    {"cables,links,ports,switches,switch", "what networks are built of", "net,network-file"},
    {"compile,compiler,build,mpicc,configure,cmake,makefile",
     "how a program becomes one that weft runs",
     "cc,programs,fortran,configure-projects,cmake-projects"},
    {"congestion,hotspot,contention,jam", "where and why messages wait",
     "tutorial,reference/report,map"},
    {"cost,price,prices,buy,power", "what a network needs to be built: switches, ports, cables",
     "net,compare-networks,topologies"},
    {"defaults,settings,profile,profiles", "what holds where a description says nothing",
     "network-file"},
    {"digital-twin,twin,measure", "a description of the network that you have",
     "probe,discovery,real-runs"},
    {"failure,failures,fault,broken,fail,failover",
     "broken cables in simulation, failing rails in real runs",
     "network-file,routing,rails,reference/run"},
    {"hosts,ssh,cluster,launch", "real runs on several hosts", "run-hosts,reference/run,doctor"},
    {"infiniband,libfabric,rdma,tcp,ethernet", "the networks of real runs", "rails,reference/run"},
    {"latency,delay", "how long messages take", "network-file,router,reference/traffic"},
    {"machine,preset,presets,hardware", "descriptions of machines", "network-file,router"},
    {"numa,socket,sockets,hwloc,memory-placement", "what is near what inside a host",
     "locality,reference/sim,reference/run"},
    {"openmp,pthreads,hybrid", "programs whose ranks have threads",
     "programs-with-threads,threads"},
    {"openmpi,mpich,mpirun,pmix", "programs and launchers of other MPI libraries",
     "reference/run,programs,map-file"},
    {"output,csv,json,hdf5,record,records", "files that runs leave, for you and other tools",
     "reference/sim,reference/report,run-record"},
    {"parallel,workers-per-host,scaling", "simulations on many cores and machines", "workers"},
    {"pattern,patterns,load,uniform", "artificial traffic", "traffic,reference/traffic"},
    {"placement,place,rank-order,rankfile,reorder", "which rank runs on which node",
     "map,reference/map,map-file,mapping"},
    {"plot,chart,picture,html,heatmap", "results as pages and pictures", "report,reference/report"},
    {"python,mpi4py,numpy,h5py,pandas", "programs in Python, and records for scripts of your own",
     "python-programs,reference/report,reference/sim,run-record"},
    {"slurm,srun,sbatch,pbs,scheduler",
     "jobs of a batch system, and maps and networks in its format",
     "run-hosts,reference/run,map-file,probe"},
    {"topology,network,networks,torus,fattree,fat-tree,dragonfly,hyperx,mesh",
     "the shapes of networks, by a short spec or from a file", "net,topologies,graph-file"},
    {"trace,traces,otf2,matrix", "traffic of real runs as input", "traffic-file,map,reference/map"},
}};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool is_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

// How often a text has the word, or a word that begins with it ("switches" for "switch").
std::size_t mentions(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    if (at == 0 || !is_letter(text[at - 1])) ++count;
  return count;
}

}  // namespace

std::span<const HelpWord> help_words() {
  return words;
}

const HelpWord* find_help_word(std::string_view word) {
  const std::string typed = lower(word);
  for (const HelpWord& entry : words)
    for (const std::string_view name : split(entry.names, ','))
      if (name == typed) return &entry;
  return nullptr;
}

std::vector<const Topic*> topics_that_mention(std::string_view word,
                                              const std::vector<Topic>& topics) {
  constexpr std::size_t letters_min = 3, topics_max = 4;
  const std::string wanted = lower(trim(word));
  std::vector<std::pair<std::size_t, const Topic*>> found;
  if (wanted.size() < letters_min) return {};
  for (const Topic& topic : topics) {
    const auto text = read_file(topic.path);
    if (!text) continue;
    if (const std::size_t count = mentions(lower(*text), wanted); count > 0)
      found.emplace_back(count, &topic);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<const Topic*> best;
  for (const auto& [count, topic] : found)
    if (best.size() < topics_max) best.push_back(topic);
  return best;
}

}  // namespace weft::app
