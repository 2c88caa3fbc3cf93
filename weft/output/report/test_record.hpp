// SPDX-License-Identifier: Apache-2.0
// A small record in a folder of its own, for tests.
#pragma once

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include <weft/base/test_file.hpp>
#include <weft/output/record/series_file.hpp>
#include <weft/output/record/timeline.hpp>

namespace weft::report {

class TestRecord : public FolderTest {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder + "/" + name) << text;
    return folder + "/" + name;
  }

  // A ring of four routers; the link from 0 to 1 is saturated in the second interval, and that to
  // node 3 in the third.
  void write_series(std::uint64_t samples) const {
    NetworkFacts network = facts_of(*make_topology("torus:4"));
    network.link_byte_per_s.assign(network.links(), 1e9);
    network.router_buffer_bytes.assign(network.routers, 1000);
    network.injection_byte_per_s.assign(network.node_router.size(), 2e9);
    network.ejection_byte_per_s.assign(network.node_router.size(), 2e9);
    SeriesHeader header;
    header.links = network.links();
    header.routers = network.routers;
    header.nodes = network.node_router.size();
    header.interval_ps = 1'000'000;
    {
      auto writer = SeriesWriter::create(folder + "/series.raw", header);
      ASSERT_TRUE(writer);
      for (std::uint64_t i = 0; i < samples; ++i) {
        SeriesSample sample;
        sample.head = {static_cast<std::int64_t>(1'000'000 * (i + 1)), i + 1, 1000 * (i + 1)};
        sample.links.resize(network.links());
        sample.buffers = {0, 0, 0, i == 2 ? 500U : 0U};
        sample.injected.resize(header.nodes);
        sample.ejected.resize(header.nodes);
        if (i == 2) sample.ejected[3] = {2000, 8};
        if (i == 1) sample.links[0] = {1000, 4};  // 1000 bytes in a microsecond
        ASSERT_TRUE(writer->append(sample));
      }
    }
    ASSERT_TRUE(convert_series(folder, network));
  }

  void write_record(std::uint64_t samples = 3) const {
    write("summary.json", R"({"weft":"sim","version":1,"program":"halo","network":"torus:4",
      "ranks":4,"nodes":4,"complete":true,"ending":"complete","program_time_ps":3000000,
      "messages":3,"bytes":3000,"waiting_ps":{"mean":10,"least":1,"most":20,"most_rank":2},
      "packet_waiting":{"sum_ps":12,"mean_ps":4,"kinds":[
        {"kind":"links","queue_ps":0,"turn_ps":0,"room_ps":0,"most":"","most_ps":0},
        {"kind":"ejection","queue_ps":2,"turn_ps":5,"room_ps":7,"most":"(3) to n3","most_ps":12}]},
      "latency":{"count":3,"p50_ps":150,"p99_ps":300,"max_ps":300,
        "buckets":[[100,199,2],[200,299,0],[300,399,1]]},
      "calls":{"MPI_Send":{"count":2,"bytes":3000,"time_ps":500},
               "MPI_Recv":{"count":2,"bytes":3000,"time_ps":900}}})");
    write(
        "ranks.csv",
        "rank,node,end_ps,waited_ps,spent_ps,messages,bytes\n0,0,9,5,4,1,1000\n1,1,9,6,3,2,2000\n");
    write("node_links.csv",
          "node,card,injected_packets,injected_bytes,injected_busy_ps,injected_waited_ps,"
          "ejected_packets,ejected_bytes,ejected_busy_ps,ejected_waited_ps\n"
          "0,0,3,3000,1500000,7,0,0,0,0\n3,0,0,0,0,0,8,2000,1000000,5\n");
    write("traffic.txt", "# ranks\n0 1 1000 1\n1 2 2000 2\n");
    Timeline timeline;
    const std::string names[] = {"MPI_Send", "MPI_Recv"};
    const CallSpan first[] = {{0, 1000, 0, 0}}, second[] = {{500, 3'000'000, 2'000'000, 1}};
    timeline.add_rank(names, first, 0);
    timeline.add_rank(names, second, 0);
    ASSERT_TRUE(write_timeline_raw(folder, timeline));
    if (has_hdf5()) write_series(samples);
  }
};

}  // namespace weft::report
