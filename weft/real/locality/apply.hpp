// SPDX-License-Identifier: Apache-2.0
// Binds this process and its memory. Where Linux refuses (containers) or has no NUMA, nothing
// changes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <weft/base/result.hpp>

namespace weft::locality {

// The processors on which the calling thread may run.
std::vector<int> cpus_of_this_process();

// Binds the calling thread, and threads and processes that it starts later. An empty list changes
// nothing. Allocates only on errors, so it may be called between fork and exec.
Status bind_this_process(std::span<const int> cpus);

// The NUMA node of the page that holds this byte; -1 when unknown or when the page was never
// touched. A system call of some tenths of a microsecond.
int node_of_memory(const void* pointer);

// Untouched pages that lie entirely in this block come from this node, as long as it has free
// memory. Does nothing if node is -1.
void prefer_node(void* pointer, std::size_t size, int node);

}  // namespace weft::locality
