// SPDX-License-Identifier: Apache-2.0
// Mail between workers: packets, credits and news that cross from the routers of one to those of
// another. What is written in a window is read after it. For routers of other processes it goes on
// to RemoteProcesses.
#pragma once

#include <cstdint>

#include <weft/simulate/router/state.hpp>

namespace weft::detail {

// REQUIRES: the output is remote, and the packet stands in the mirror's next slot.
void mail_packet(State& state, int worker, const Output& out, Vc vc, const Slot& packet);
// REQUIRES: the input is remote.
void mail_credit(State& state, int worker, const Input& in, std::int64_t stamp_at);
// To any router, also one of this worker.
void send_news(State& state, int worker, RouterId to, const NewsItem& item);
// A message of another worker's pool has been delivered.
void return_message(State& state, int worker, std::uint32_t id);

// From now on the worker writes to this side, which is empty.
void begin_mail(State& state, int worker, int side);
// Takes in what others have written to this side for the worker, and empties it.
void read_mail(State& state, int worker, int side);

}  // namespace weft::detail
