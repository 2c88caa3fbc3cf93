// SPDX-License-Identifier: Apache-2.0
// A router's outputs as a routing policy sees them.
#pragma once

#include <weft/simulate/router/engine.hpp>

namespace weft::detail {

class View final : public PortView {
 public:
  View(Engine& engine, std::uint32_t router, std::int64_t now)
      : engine_(engine), router_(router), now_(now) {}
  bool up(int port) const override;
  Bytes free(int port, int vc) const override;
  Bytes queued(int port) const override;
  LineNews line(int port, int line) const override;

 private:
  Engine& engine_;
  std::uint32_t router_;
  std::int64_t now_;
};

}  // namespace weft::detail
