// SPDX-License-Identifier: Apache-2.0
// What models of one network say at the same loads, and what each cost.
#include <algorithm>
#include <set>
#include <span>
#include <string>

#include <fmt/format.h>

#include <weft/study/traffic/report.hpp>

namespace weft {
namespace {

using Curves = std::span<const Curve>;

std::string model_of(const Curve& curve) {
  return to_text(curve.scenario->model.fidelity);
}

// What the curves share: their label without the model, which is its last part.
std::string title(const Curve& curve) {
  const std::string& label = curve.scenario->label;
  const std::size_t comma = label.rfind(", ");
  return comma == std::string::npos ? curve.scenario->topology->name : label.substr(0, comma);
}

std::string difference(double value, double reference, bool is_reference) {
  if (is_reference || reference == 0) return "";
  return fmt::format("{:+.1f}", 100 * (value / reference - 1));
}

const Point* point_at(const Curve& curve, double load) {
  for (const Point& point : curve.points)
    if (point.load == load) return &point;
  return nullptr;
}

std::string line(const std::string& load, const Curve& curve, const Point& point,
                 const Point* first) {
  const bool is_first = &point == first;
  const bool steady = point.claims_latency();
  const bool compares = first != nullptr && steady && first->claims_latency();
  return fmt::format("  {:>15}  {:<7} {:>15.5f} {:>8} {:>10} {:>8}\n", load, model_of(curve),
                     point.accepted,
                     first == nullptr ? "" : difference(point.accepted, first->accepted, is_first),
                     steady ? fmt::format("{:.2f}", point.latency()) : to_text(point.state),
                     compares ? difference(point.latency(), first->latency(), is_first) : "");
}

std::string load_rows(Curves curves) {
  std::set<double> loads;
  for (const Curve& curve : curves)
    for (const Point& point : curve.points) loads.insert(point.load);
  std::string text;
  for (const double load : loads) {
    const Point* const first = point_at(curves.front(), load);
    std::string name = fmt::format("{:.5f}", load);
    for (const Curve& curve : curves) {
      const Point* const point = point_at(curve, load);
      if (point == nullptr) continue;
      text += line(name, curve, *point, first);
      name.clear();
    }
  }
  return text;
}

std::string saturation_rows(Curves curves) {
  std::string text;
  for (const Curve& curve : curves) {
    if (!curve.saturation || !curves.front().saturation) continue;
    const double load = curve.saturation->load.stable;
    text += fmt::format(
        "  saturation       {:<7} {:>15.5f} {:>8}\n", model_of(curve), load,
        difference(load, curves.front().saturation->load.stable, &curve == &curves.front()));
  }
  return text;
}

std::string costs(Curves curves) {
  std::string text;
  for (const Curve& curve : curves) {
    double seconds = 0;
    for (const Point& point : curve.points) seconds += point.wall_s;
    text += fmt::format("{}{} {:.2f} s", text.empty() ? "  simulated in: " : ", ", model_of(curve),
                        seconds);
  }
  return text + "\n\n";
}

}  // namespace

std::string models_table(const Sweep& sweep, std::size_t models) {
  std::string text;
  for (std::size_t i = 0; models > 0 && i + models <= sweep.curves.size(); i += models) {
    const Curves curves(&sweep.curves[i], models);
    text += fmt::format("models of {}\n", title(curves.front()));
    text += fmt::format("  {:>15}  {:<7} {:>15} {:>8} {:>10} {:>8}\n", "load", "model", "accepted",
                        "off", "latency", "off");
    text += fmt::format("  {:>15}  {:<7} {:>15} {:>8} {:>10} {:>8}\n", "flit/node/cycle", "",
                        "flit/node/cycle", "%", "cycles", "%");
    text += load_rows(curves) + saturation_rows(curves) + costs(curves);
  }
  return text;
}

}  // namespace weft
