// SPDX-License-Identifier: Apache-2.0
// Ranks that are lost at steps drawn from a seed, in the middle of everything.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/base/test_seed.hpp>
#include <weft/message/mpi/recovery.hpp>
#include <weft/message/mpi/test_job.hpp>

namespace weft::mpi {
namespace {

std::vector<int> ranks_of(MPI_Group group) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int size = 0;
  MPI_Group_size(group, &size);
  std::vector<int> own(static_cast<std::size_t>(size)), ranks(own.size());
  for (int i = 0; i < size; ++i) own[static_cast<std::size_t>(i)] = i;
  MPI_Group_translate_ranks(group, size, own.data(), world, ranks.data());
  MPI_Group_free(&world);
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

std::vector<int> members_of(MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &group);
  std::vector<int> ranks = ranks_of(group);
  MPI_Group_free(&group);
  return ranks;
}

std::vector<int> failed_in(MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL;
  EXPECT_EQ(MPI_Comm_get_failed(comm, &group), MPI_SUCCESS);
  std::vector<int> ranks = ranks_of(group);
  MPI_Group_free(&group);
  return ranks;
}

// Returns when all that are to be lost are; those themselves never return.
void outlast(const Job& job, int rank) {
  const auto to_be_lost = [&] {
    return std::any_of(job.losses.begin(), job.losses.end(), [&](const auto& loss) {
      return loss.rank.index == static_cast<std::uint32_t>(rank);
    });
  };
  int flag = 0;
  while (to_be_lost() || failed_in(MPI_COMM_WORLD).size() < job.losses.size()) {
    MPI_Comm_is_revoked(MPI_COMM_WORLD, &flag);
  }
}

Job draw_job(std::uint64_t seed, std::int64_t steps) {
  const Rng random(seed);
  Job job;
  job.seed = seed;
  job.ranks = 2 + static_cast<std::uint32_t>(random.at(0) % 7);
  job.ordered = random.at(1) % 2 == 0;
  const auto losses = static_cast<std::uint32_t>(random.at(2) % job.ranks);
  std::set<std::uint32_t> gone;
  for (std::uint32_t i = 0; i < losses; ++i) {
    const auto rank = static_cast<std::uint32_t>(random.at(10 + 2 * i) % job.ranks);
    if (!gone.insert(rank).second) continue;
    const auto step = static_cast<std::int64_t>(random.at(11 + 2 * i)) % steps;
    job.losses.push_back({RankId(rank), step < 0 ? -step : step});
  }
  std::sort(job.losses.begin(), job.losses.end(),
            [](const auto& a, const auto& b) { return a.step < b.step; });
  return job;
}

// What each rank was told, by what was asked. Those that came to the answer must have the same.
class Answers {
 public:
  void add(const std::string& question, int rank, const std::vector<int>& answer) {
    told_[question][rank] = answer;
  }
  void check(const Job& job) const {
    for (const auto& [question, answers] : told_) {
      const std::vector<int>* first = nullptr;
      for (const auto& [rank, answer] : answers) {
        const bool lost = std::any_of(job.losses.begin(), job.losses.end(), [r = rank](auto& l) {
          return l.rank.index == static_cast<std::uint32_t>(r);
        });
        if (lost) continue;
        if (!first) first = &answer;
        EXPECT_EQ(answer, *first) << question << ", rank " << rank;
      }
    }
  }

 private:
  std::map<std::string, std::map<int, std::vector<int>>> told_;
};

TEST(Recovery, AgreementsHoldWhileRanksAreLost) {
  const std::uint64_t base = test_seed(1);
  for (std::uint64_t seed = base; seed < base + 200; ++seed) {
    const Job job = draw_job(seed, 300);
    SCOPED_TRACE(job.text() + ", " + std::to_string(job.losses.size()) + " lost");
    Answers answers;
    run_job(job, [&](int rank) {
      return_errors();
      for (int i = 0; i < 6; ++i) {
        int value = ~(1 << rank);
        if (i % 2 == 1) MPIX_Comm_failure_ack(MPI_COMM_WORLD);
        const int code = MPI_Comm_agree(MPI_COMM_WORLD, &value);
        EXPECT_TRUE(code == MPI_SUCCESS || code == MPI_ERR_PROC_FAILED) << code;
        EXPECT_EQ(value & (1 << rank), 0);
        answers.add("agreement " + std::to_string(i), rank, {value, code});
        MPI_Comm left = MPI_COMM_NULL;
        EXPECT_EQ(MPI_Comm_shrink(MPI_COMM_WORLD, &left), MPI_SUCCESS);
        answers.add("members " + std::to_string(i), rank, members_of(left));
        MPI_Comm_free(&left);
      }
      outlast(job, rank);
    });
    answers.check(job);
  }
}

// The usual way: work, and if that fails anywhere, revoke, shrink and begin again.
TEST(Recovery, CollectivesGoOnInSmallerCommunicators) {
  const std::uint64_t base = test_seed(1);
  for (std::uint64_t seed = base; seed < base + 200; ++seed) {
    const Job job = draw_job(seed, 600);
    SCOPED_TRACE(job.text() + ", " + std::to_string(job.losses.size()) + " lost");
    Answers answers;
    run_job(job, [&](int rank) {
      return_errors();
      MPI_Comm comm = MPI_COMM_NULL;
      MPI_Comm_shrink(MPI_COMM_WORLD, &comm);
      for (int done = 0; done < 8;) {
        int sum = -1;
        const int one = 1;
        int well = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS ? 1 : 0;
        if (well) {
          EXPECT_EQ(sum, size_of_comm(comm));
        } else {
          MPI_Comm_revoke(comm);
        }
        if (MPI_Comm_agree(comm, &well) == MPI_SUCCESS && well == 1) {
          answers.add("sum " + std::to_string(done), rank, {sum});
          ++done;
          continue;
        }
        MPI_Comm left = MPI_COMM_NULL;
        MPI_Comm_shrink(comm, &left);
        MPI_Comm_free(&comm);
        comm = left;
      }
      MPI_Comm_free(&comm);
      outlast(job, rank);
    });
    answers.check(job);
  }
}

TEST(Recovery, ReceivesFromLostRanksFail) {
  Job job;
  job.ranks = 3;
  job.losses = {{RankId(2), 40}};
  run_job(job, [&](int rank) {
    return_errors();
    int data = 0;
    if (rank == 2) outlast(job, rank);
    EXPECT_EQ(MPI_Recv(&data, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
              MPI_ERR_PROC_FAILED);
    EXPECT_EQ(MPI_Send(&data, 1, MPI_INT, 2, 0, MPI_COMM_WORLD), MPI_ERR_PROC_FAILED);
    EXPECT_EQ(MPI_Probe(2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_PROC_FAILED);
    EXPECT_EQ(MPI_Barrier(MPI_COMM_WORLD), MPI_ERR_PROC_FAILED);
    MPI_Comm none = MPI_COMM_NULL;
    EXPECT_EQ(MPI_Comm_dup(MPI_COMM_WORLD, &none), MPI_ERR_PROC_FAILED);
    EXPECT_EQ(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &none), MPI_ERR_PROC_FAILED);
    // Those that are left can talk to each other.
    MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 5, &data, 1, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    EXPECT_EQ(data, 1 - rank);
  });
}

// A receive from any rank waits for one that may be lost, until the program says that it knows.
TEST(Recovery, ReceivesFromAnyRankAreInDoubtUntilAcknowledged) {
  Job job;
  job.ranks = 3;
  job.losses = {{RankId(2), 40}};
  run_job(job, [&](int rank) {
    return_errors();
    if (rank == 2) outlast(job, rank);
    int data = 0, flag = 0, acked = -1;
    if (rank == 1) {  // Sends when the other has seen enough.
      MPI_Recv(&data, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(&rank, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
      return;
    }
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&data, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &request);
    EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_PROC_FAILED_PENDING);
    EXPECT_NE(request, MPI_REQUEST_NULL);
    int other = 0;
    EXPECT_EQ(MPI_Recv(&other, 1, MPI_INT, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
              MPI_ERR_PROC_FAILED);
    EXPECT_EQ(MPI_Iprobe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE),
              MPI_ERR_PROC_FAILED);
    EXPECT_EQ(failed_in(MPI_COMM_WORLD), std::vector<int>{2});
    EXPECT_EQ(MPI_Comm_ack_failed(MPI_COMM_WORLD, 1, &acked), MPI_SUCCESS);
    EXPECT_EQ(acked, 1);
    EXPECT_EQ(MPI_Send(&rank, 1, MPI_INT, 1, 9, MPI_COMM_WORLD), MPI_SUCCESS);
    EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(data, 1);
    EXPECT_EQ(request, MPI_REQUEST_NULL);
  });
}

TEST(Recovery, RevocationEndsWhatWaits) {
  run_jobs(5, [](int rank) {
    return_errors();
    MPI_Comm comm = MPI_COMM_NULL, left = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int data = 0, flag = 0;
    if (rank == 0) {
      EXPECT_EQ(MPI_Comm_revoke(comm), MPI_SUCCESS);
    } else if (rank == 1) {
      EXPECT_EQ(MPI_Recv(&data, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE), MPI_ERR_REVOKED);
    } else if (rank == 2) {
      EXPECT_EQ(MPI_Recv(&data, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, MPI_STATUS_IGNORE),
                MPI_ERR_REVOKED);
    } else if (rank == 3) {
      EXPECT_EQ(MPI_Probe(0, 0, comm, MPI_STATUS_IGNORE), MPI_ERR_REVOKED);
    } else {
      EXPECT_EQ(MPI_Barrier(comm), MPI_ERR_REVOKED);
    }
    EXPECT_EQ(MPI_Send(&data, 1, MPI_INT, 0, 0, comm), MPI_ERR_REVOKED);
    EXPECT_EQ(MPI_Bcast(&data, 1, MPI_INT, 0, comm), MPI_ERR_REVOKED);
    EXPECT_EQ(MPI_Comm_is_revoked(comm, &flag), MPI_SUCCESS);
    EXPECT_EQ(flag, 1);
    // Agreement works all the same, and so does what is made of the rest.
    int value = 1 << rank | 64;
    EXPECT_EQ(MPI_Comm_agree(comm, &value), MPI_SUCCESS);
    EXPECT_EQ(value, 64);
    EXPECT_EQ(MPI_Comm_shrink(comm, &left), MPI_SUCCESS);
    EXPECT_EQ(size_of_comm(left), 5);
    EXPECT_EQ(MPI_Barrier(left), MPI_SUCCESS);
    EXPECT_EQ(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);
    MPI_Comm_free(&left);
    MPI_Comm_free(&comm);
  });
}

TEST(Recovery, StartedAgreementsEndInAnyOrder) {
  run_jobs(4, [](int rank) {
    int first = ~(1 << rank), second = 1 << rank;
    MPI_Comm left = MPI_COMM_NULL;
    MPI_Request requests[3];
    MPI_Comm_iagree(MPI_COMM_WORLD, &first, &requests[0]);
    MPI_Comm_iagree(MPI_COMM_WORLD, &second, &requests[1]);
    MPI_Comm_ishrink(MPI_COMM_WORLD, &left, &requests[2]);
    MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    EXPECT_EQ(first, ~15);
    EXPECT_EQ(second, 0);
    EXPECT_EQ(size_of_comm(left), 4);
    EXPECT_EQ(rank_in(left), rank);
    EXPECT_EQ(MPI_Barrier(left), MPI_SUCCESS);
    MPI_Comm_free(&left);
  });
}

TEST(Recovery, IntercommunicatorsShrinkOnBothSides) {
  Job job;
  job.ranks = 6;
  job.losses = {{RankId(1), 900}};
  run_job(job, [&](int rank) {
    return_errors();
    MPI_Comm half = MPI_COMM_NULL, both = MPI_COMM_NULL, left = MPI_COMM_NULL, all = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 3, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < 3 ? 3 : 0, 1, &both);
    outlast(job, rank);
    EXPECT_EQ(MPI_Barrier(both), MPI_ERR_PROC_FAILED);
    EXPECT_EQ(MPI_Comm_shrink(both, &left), MPI_SUCCESS);
    int size = 0, others = 0;
    MPI_Comm_size(left, &size);
    MPI_Comm_remote_size(left, &others);
    EXPECT_EQ(size, rank < 3 ? 2 : 3);
    EXPECT_EQ(others, rank < 3 ? 3 : 2);
    EXPECT_EQ(MPI_Barrier(left), MPI_SUCCESS);
    EXPECT_EQ(MPI_Intercomm_merge(left, rank < 3 ? 0 : 1, &all), MPI_SUCCESS);
    EXPECT_EQ(size_of_comm(all), 5);
    for (MPI_Comm* comm : {&half, &both, &left, &all}) MPI_Comm_free(comm);
  });
}

// Large jobs have few numbers, so they come again.
TEST(Recovery, NumbersInUseAreNotTakenAgain) {
  run_jobs(2, [](int rank) {
    MPI_Comm first = MPI_COMM_NULL, second = MPI_COMM_NULL;
    EXPECT_EQ(MPI_Comm_shrink(MPI_COMM_WORLD, &first), MPI_SUCCESS);
    EXPECT_EQ(MPI_Comm_shrink(MPI_COMM_WORLD, &second), MPI_SUCCESS);
    if (rank == 0) {  // The leader, which has made both.
      const std::uint32_t used[] = {find_communicator(self(), first)->context,
                                    find_communicator(self(), second)->context};
      std::uint32_t number = 1U << 27;  // All 27 bits of it have been used.
      const std::uint32_t next = new_context(self(), number);
      EXPECT_EQ(std::count(std::begin(used), std::end(used), next), 0);
      EXPECT_EQ(number, (1U << 27) + 3);
    }
    EXPECT_EQ(MPI_Barrier(second), MPI_SUCCESS);
    MPI_Comm_free(&first);
    MPI_Comm_free(&second);
  });
}

}  // namespace
}  // namespace weft::mpi
