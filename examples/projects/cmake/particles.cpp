// SPDX-License-Identifier: Apache-2.0
// Particles that attract each other. Blocks of them travel round the ring of ranks, so that each
// rank meets all others. Usage: particles [PARTICLES] [STEPS]. Exits with 1 if energy is lost.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <mpi.h>

namespace {

struct Particle {
  double x, y, z, vx, vy, vz, ax, ay, az, mass;
};

constexpr double softening = 0.05;  // Of close encounters.

class Simulation {
 public:
  explicit Simulation(int count) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    const int first = static_cast<int>(static_cast<long>(count) * rank_ / ranks_);
    const int end = static_cast<int>(static_cast<long>(count) * (rank_ + 1) / ranks_);
    most_ = (count + ranks_ - 1) / ranks_;
    for (int i = first; i < end; ++i) {  // A disc that turns, spread evenly.
      const double x = place(0.7548776662466927, i), y = place(0.5698402909980532, i);
      own_.push_back(
          {x, y, place(0.8191725133961645, i) / 10, -0.7 * y, 0.7 * x, 0, 0, 0, 0, 1.0 / count});
    }
  }

  // Leapfrog.
  void step(double dt) {
    meet_all();
    for (Particle& p : own_) {
      p.vx += dt / 2 * p.ax, p.vy += dt / 2 * p.ay, p.vz += dt / 2 * p.az;
      p.x += dt * p.vx, p.y += dt * p.vy, p.z += dt * p.vz;
    }
    meet_all();
    for (Particle& p : own_) p.vx += dt / 2 * p.ax, p.vy += dt / 2 * p.ay, p.vz += dt / 2 * p.az;
  }

  double energy() {
    double mine = meet_all() / 2, all = 0;
    for (const Particle& p : own_) mine += p.mass / 2 * (p.vx * p.vx + p.vy * p.vy + p.vz * p.vz);
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
  }

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

 private:
  // Accelerations of our own particles, and their potential energy. Others are on their way to the
  // next rank while they are met here.
  double meet_all() {
    for (Particle& p : own_) p.ax = p.ay = p.az = 0;
    std::vector<Particle> here = own_, next(static_cast<std::size_t>(most_));
    const int to = (rank_ + 1) % ranks_, from = (rank_ + ranks_ - 1) % ranks_;
    double potential = 0;
    for (int turn = 0; turn < ranks_; ++turn) {
      MPI_Request requests[2];
      MPI_Irecv(next.data(), bytes(next), MPI_BYTE, from, turn, MPI_COMM_WORLD, &requests[0]);
      MPI_Isend(here.data(), bytes(here), MPI_BYTE, to, turn, MPI_COMM_WORLD, &requests[1]);
      for (Particle& p : own_) potential += meet(p, here);
      MPI_Status arrived[2];
      int got = 0;
      MPI_Waitall(2, requests, arrived);
      MPI_Get_count(&arrived[0], MPI_BYTE, &got);
      here.assign(next.begin(), next.begin() + got / static_cast<int>(sizeof(Particle)));
    }
    return potential;
  }

  // Between -1 and 1.
  static double place(double step, int i) { return 2 * (step * i - std::floor(step * i)) - 1; }

  static int bytes(const std::vector<Particle>& some) {
    return static_cast<int>(some.size() * sizeof(Particle));
  }

  static double meet(Particle& p, const std::vector<Particle>& others) {
    double potential = 0;
    for (const Particle& o : others) {
      const double dx = o.x - p.x, dy = o.y - p.y, dz = o.z - p.z;
      const double square = dx * dx + dy * dy + dz * dz;
      if (square == 0) continue;  // Itself.
      const double inverse = 1 / std::sqrt(square + softening * softening);
      const double pull = o.mass * inverse * inverse * inverse;
      p.ax += pull * dx, p.ay += pull * dy, p.az += pull * dz;
      potential -= p.mass * o.mass * inverse;
    }
    return potential;
  }

  int rank_ = 0, ranks_ = 1, most_ = 0;
  std::vector<Particle> own_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int count = argc > 1 ? std::atoi(argv[1]) : 1000,
            steps = argc > 2 ? std::atoi(argv[2]) : 10;
  bool kept = false;
  {
    Simulation all(count);
    const double before = all.energy();
    for (int i = 0; i < steps; ++i) all.step(0.001);
    const double after = all.energy();
    kept = std::fabs(after / before - 1) < 1e-4;
    if (all.rank() == 0)
      std::printf("%d particles, %d ranks, %d steps: energy %.6f, %s\n", count, all.ranks(), steps,
                  after, kept ? "is kept" : "is LOST");
  }
  MPI_Finalize();
  return kept ? 0 : 1;
}
