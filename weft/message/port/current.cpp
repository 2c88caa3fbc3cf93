// SPDX-License-Identifier: Apache-2.0
// Current: the rank that a thread executes now, and its layers.
#include <weft/message/port/fabric.hpp>

namespace weft {

const Fabric* Current::everywhere_fabric_ = nullptr;
void* Current::everywhere_layer_ = nullptr;
thread_local const Fabric* Current::fabric_ = nullptr;
thread_local void* Current::layer_ = nullptr;

}  // namespace weft
