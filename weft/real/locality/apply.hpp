// SPDX-License-Identifier: Apache-2.0
// Placing this process and its memory. Linux only lets us ask; where it refuses (containers), or
// knows no NUMA, things stay as they are.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <weft/base/result.hpp>

namespace weft::locality {

// Where the calling thread may run.
std::vector<int> cpus_of_this_process();

// The calling thread, and threads and processes that it starts later. No processors: nothing
// happens. Allocates only on errors, so it may be called between fork and exec.
Status bind_this_process(std::span<const int> cpus);

// The NUMA node of the page that holds this byte; -1 when unknown, also when the page was never
// touched. A system call, some tenths of a microsecond.
int node_of_memory(const void* pointer);

// Pages that lie wholly in this block, and were not touched yet, shall come from this node as long
// as it has some. Asks for nothing if node is -1.
void prefer_node(void* pointer, std::size_t size, int node);

}  // namespace weft::locality
