//===- TcpJoinTest.cpp - Connect ranks over TCP ---------------------------===//
//
// Ranks are threads here: nothing in joinTcp() belongs to the process.
//
//===----------------------------------------------------------------------===//

#include "weft/Runtime/Collectives/Rendezvous.h"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <optional>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace weft;

namespace {
using Joined = std::optional<Expected<std::unique_ptr<RankProcess>>>;

/// A run of ranks on this machine, which rank 0 has a port for.
class TcpJoinTest : public ::testing::Test {
protected:
  void SetUp() override {
    auto place = listenLocally();
    ASSERT_TRUE(place.ok()) << place.error().message();
    local = std::move(*place);
  }

  Rendezvous rankOf(int rank, int ranks) {
    Rendezvous found;
    found.rank = rank;
    found.ranks = ranks;
    found.isOneMachine = true;
    found.host = local.host;
    found.ports = {local.port};
    found.key = "a key";
    if (rank == 0)
      found.listener = ::dup(local.listener.get());
    return found;
  }

  /// Joins all of them at once.
  static std::vector<Joined> join(const std::vector<Rendezvous> &all,
                                  double timeout = 20) {
    std::vector<Joined> joined(all.size());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < all.size(); ++i)
      threads.emplace_back([&, i] { joined[i] = joinTcp(all[i], timeout); });
    for (std::thread &each : threads)
      each.join();
    return joined;
  }
  std::vector<Joined> joinAll(int ranks, double timeout = 20) {
    std::vector<Rendezvous> all;
    for (int rank = 0; rank < ranks; ++rank)
      all.push_back(rankOf(rank, ranks));
    return join(all, timeout);
  }

  /// The numbers of all ranks, gathered by each.
  static void expectConnected(std::vector<Joined> &joined) {
    std::vector<std::thread> threads;
    for (Joined &each : joined)
      threads.emplace_back([&] {
        ASSERT_TRUE(each->ok()) << each->error().message();
        RankProcess &process = ***each;
        auto all = process.connect();
        auto numbers = all->gather(process.rank(), "numbers");
        ASSERT_TRUE(numbers.ok()) << numbers.error().message();
        for (int rank = 0; rank < process.ranks(); ++rank)
          EXPECT_EQ((*numbers)[size_t(rank)], rank);
        all.reset();
        EXPECT_TRUE(process.finish().ok());
      });
    for (std::thread &each : threads)
      each.join();
  }

  /// Someone who connects to the port, says this, and stays.
  Descriptor stranger(const std::string &text) const {
    Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(uint16_t(local.port));
    ::inet_pton(AF_INET, local.host.c_str(), &address.sin_addr);
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr *>(&address),
                        sizeof address),
              0);
    EXPECT_EQ(::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL),
              ssize_t(text.size()));
    return socket;
  }

  LocalRendezvous local;
};

TEST_F(TcpJoinTest, AllRanks) {
  for (int ranks : {1, 2, 5}) {
    auto joined = joinAll(ranks);
    expectConnected(joined);
  }
}

// More of them than wait at once, silent and loud ones.
TEST_F(TcpJoinTest, StrangersAreKeptOut) {
  std::vector<Descriptor> strangers;
  for (int i = 0; i < 40; ++i)
    strangers.push_back(stranger(i % 4 == 0   ? ""
                                 : i % 4 == 1 ? "GET / HTTP/1.1\r\n\r\n"
                                 : i % 4 == 2 ? std::string(4096, 'x')
                                              : "weft-tcp"));
  auto joined = joinAll(3);
  expectConnected(joined);
}

TEST_F(TcpJoinTest, AnotherKey) {
  std::vector<Rendezvous> all = {rankOf(0, 2), rankOf(1, 2)};
  all[1].key = "another key";
  auto joined = join(all, 0.5);
  ASSERT_FALSE(joined[0]->ok());
  EXPECT_NE(joined[0]->error().message().find("rank 0 expects rank 1 to join"),
            std::string::npos);
  ASSERT_FALSE(joined[1]->ok());
  EXPECT_EQ(joined[1]->error().code(), ExitCode::Communication);
  EXPECT_NE(joined[1]->error().message().find("a rank of another run"),
            std::string::npos)
      << joined[1]->error().message();
}

// All that have come fail with what rank 0 says, and it alone says it.
TEST_F(TcpJoinTest, AbsentRanksAreNamed) {
  auto joined = join({rankOf(0, 4), rankOf(2, 4)}, 0.5);
  const std::string expected = "rank 0 expects ranks 1 and 3 to join at " +
                               local.host + ":" + std::to_string(local.port) +
                               ", but they have not come for 0.5 s";
  for (const Joined &each : joined) {
    ASSERT_FALSE(each->ok());
    EXPECT_EQ(each->error().message(), expected);
    EXPECT_EQ(each->error().code(), ExitCode::Communication);
  }
}

TEST_F(TcpJoinTest, UnlikeCounts) {
  auto joined = join({rankOf(0, 2), rankOf(1, 3)}, 5);
  for (const Joined &each : joined) {
    ASSERT_FALSE(each->ok());
    EXPECT_EQ(each->error().code(), ExitCode::Usage);
    EXPECT_EQ(each->error().message(),
              "expects ranks that know of one number of ranks, but got 2 in "
              "rank 0 and 3 in rank 1");
  }
}

TEST_F(TcpJoinTest, TwoOfOneRank) {
  auto joined = join({rankOf(0, 3), rankOf(1, 3), rankOf(1, 3)}, 5);
  for (const Joined &each : joined) {
    ASSERT_FALSE(each->ok());
    EXPECT_EQ(each->error().message(),
              "expects one process for each rank, but got two for rank 1");
  }
}

// Of several ports rank 0 takes the first that is free, and others find it.
TEST_F(TcpJoinTest, TheFirstFreePort) {
  auto second = listenLocally();
  ASSERT_TRUE(second.ok());
  const int free = second->port;
  second->listener.close();
  std::vector<Rendezvous> all = {rankOf(0, 2), rankOf(1, 2)};
  ::close(all[0].listener);
  all[0].listener = -1;
  // Something that never answers is at the first.
  for (Rendezvous &each : all)
    each.ports = {local.port, free};
  auto joined = join(all);
  expectConnected(joined);
}

TEST_F(TcpJoinTest, Ipv6) {
  auto six = [&] {
    Descriptor socket(::socket(AF_INET6, SOCK_STREAM, 0));
    sockaddr_in6 address = {};
    address.sin6_family = AF_INET6;
    address.sin6_addr = in6addr_loopback;
    return ::bind(socket.get(), reinterpret_cast<sockaddr *>(&address),
                  sizeof address) == 0;
  }();
  if (!six)
    GTEST_SKIP() << "this machine has no IPv6";
  const int free = local.port;
  local.listener.close();
  std::vector<Rendezvous> all;
  for (int rank = 0; rank < 3; ++rank) {
    all.push_back(rankOf(rank, 3));
    all.back().listener = -1;
    all.back().host = "::1";
    all.back().ports = {free};
  }
  auto joined = join(all);
  expectConnected(joined);
}

TEST_F(TcpJoinTest, AListenerThatIsNone) {
  Rendezvous wrong = rankOf(0, 2);
  ::close(wrong.listener);
  wrong.listener = ::dup(STDIN_FILENO);
  auto joined = joinTcp(wrong, 1);
  ASSERT_FALSE(joined.ok());
  EXPECT_EQ(joined.error().message(),
            "WEFT_LISTENER expects a socket that listens, but got " +
                std::to_string(wrong.listener));
  ::close(wrong.listener);
}

// Rank 0 may come later, and on all addresses of several machines.
TEST_F(TcpJoinTest, ALateFirstRank) {
  local.listener.close();
  std::vector<Rendezvous> all;
  for (int rank = 0; rank < 3; ++rank) {
    all.push_back(rankOf(rank, 3));
    all.back().listener = -1;
    all.back().isOneMachine = false;
  }
  std::vector<Joined> joined(3);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < all.size(); ++i)
    threads.emplace_back([&, i] {
      if (i == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
      joined[i] = joinTcp(all[i], 20);
    });
  for (std::thread &each : threads)
    each.join();
  expectConnected(joined);
}

// A process that goes without a last word has ended, one with it has left.
TEST_F(TcpJoinTest, LeavingAndEnding) {
  auto joined = joinAll(2);
  ASSERT_TRUE(joined[0]->ok() && joined[1]->ok());
  auto first = (**joined[0])->connect();
  {
    auto second = (**joined[1])->connect();
  }
  auto heard = first->gather(0, "a step");
  ASSERT_FALSE(heard.ok());
  EXPECT_EQ(heard.error().message(),
            "expects rank 1 in a step, but it has left the run");
  EXPECT_TRUE(first->absence().haveLeft);
}
} // namespace
