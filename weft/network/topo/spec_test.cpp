// SPDX-License-Identifier: Apache-2.0
// What a user may get wrong in a spec, and what we answer.
#include "weft/network/topo/spec.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

struct Bad {
  std::string spec;
  std::string message;
};

const Bad bad_specs[] = {
    {"",
     "unknown kind of network ''; known: torus, mesh, cube, tofu, ring, hypercube, fattree, "
     "xgft, dragonfly, hyperx, complete, slimfly, polarfly, random, jellyfish, xpander, graph"},
    {"tours:4x4", "unknown kind of network 'tours'; did you mean 'torus'?"},
    {"torus", "torus: the value is missing; write torus:SIZES[,p=N]"},
    {"torus:", "torus:: the value is missing; write torus:SIZES[,p=N]"},
    {"torus:0x4", "torus:0x4: size 0 in '0x4' must be from 2 to 16777216"},
    {"torus:1x4", "torus:1x4: size 1 in '1x4' must be from 2 to 16777216"},
    {"torus:-4", "torus:-4: size -4 in '-4' must be from 2 to 16777216"},
    {"torus:4x", "torus:4x: '' in '4x' is not a whole number"},
    {"torus:4xy", "torus:4xy: 'y' in '4xy' is not a whole number"},
    {"torus:4.5", "torus:4.5: '4.5' in '4.5' is not a whole number"},
    {"torus:99999999999999999999",
     "torus:99999999999999999999: '99999999999999999999' in '99999999999999999999' is not a whole "
     "number"},
    {"torus:4x4,q=2", "torus:4x4,q=2: unknown parameter 'q'; known: p"},
    {"torus:4x4,p=0", "torus:4x4,p=0: 'p' is 0, but must be from 1 to 65535"},
    {"torus:4x4,p=two", "torus:4x4,p=two: 'p': 'two' is not a whole number"},
    {"torus:4x4,p=2,p=2", "torus:4x4,p=2,p=2: 'p' is given twice"},
    {"torus:4x4,8", "torus:4x4,8: '8' is not of the form key=value; write torus:SIZES[,p=N]"},
    {"torus:4x4,", "torus:4x4,: '' is not of the form key=value; write torus:SIZES[,p=N]"},
    {"torus:4096x4096x2", "torus:4096x4096x2: 33554432 routers, but at most 16777216 are possible"},
    {"torus:100000x100000x100000x100000",
     "torus:100000x100000x100000x100000: more than 10^18 routers, but at most 16777216 are "
     "possible"},
    {"torus:2048x2048,p=64",
     "torus:2048x2048,p=64: 268435456 nodes, but at most 67108864 are possible"},
    {"hypercube:24", "hypercube:24: 201326592 cables, but at most 67108864 are possible"},
    {"hypercube:25", "hypercube:25: the value is 25, but must be from 1 to 24"},
    {"cube:4x4", "cube:4x4: 'wrap' is missing; write cube:SIZES,wrap=BITS[,p=N]"},
    {"cube:4x4,wrap=1",
     "cube:4x4,wrap=1: 'wrap' is '1', but must be one 0 or 1 for each of the 2 sizes"},
    {"cube:4x4,wrap=12",
     "cube:4x4,wrap=12: 'wrap' is '12', but must be one 0 or 1 for each of the 2 sizes"},
    {"tofu:4x4", "tofu:4x4: a tofu network has three sizes, or six of which the last are 2x3x2"},
    {"tofu:4x4x4x3x2x2",
     "tofu:4x4x4x3x2x2: a tofu network has three sizes, or six of which the last are 2x3x2"},
    {"ring:4x4", "ring:4x4: a ring has one size; for more use torus"},
    {"fattree:levels=2", "fattree:levels=2: give either 'k' or 'radix'"},
    {"fattree:k=4,radix=4,levels=2", "fattree:k=4,radix=4,levels=2: give either 'k' or 'radix'"},
    {"fattree:k=4",
     "fattree:k=4: 'levels' is missing; write fattree:k=K|radix=R,levels=N[,taper=T]"},
    {"fattree:k=1,levels=2", "fattree:k=1,levels=2: 'k' is 1, but must be from 2 to 65535"},
    {"fattree:k=4,level=2",
     "fattree:k=4,level=2: unknown parameter 'level'; did you mean 'levels'?"},
    {"fattree:radix=5,levels=2",
     "fattree:radix=5,levels=2: 'radix' is 5, but must be even: half of the ports go up"},
    {"fattree:k=4,levels=2,taper=3",
     "fattree:k=4,levels=2,taper=3: 'taper' is 3, but must divide the 4 up-links of a leaf switch"},
    {"fattree:k=4,levels=1,taper=2",
     "fattree:k=4,levels=1,taper=2: 'taper' needs at least two levels"},
    {"fattree:4",
     "fattree:4: '4' is not of the form key=value; write "
     "fattree:k=K|radix=R,levels=N[,taper=T]"},
    {"fattree:k=64,levels=20",
     "fattree:k=64,levels=20: more than 10^18 routers, but at most 16777216 are possible"},
    {"xgft:m=4x4,w=1x2x2", "xgft:m=4x4,w=1x2x2: 'm' has 2 levels, but 'w' has 3"},
    {"xgft:m=4x4,w=2x2",
     "xgft:m=4x4,w=2x2: the first of 'w' is 2, but must be 1: a node hangs on one switch"},
    {"xgft:m=4x0,w=1x2", "xgft:m=4x0,w=1x2: size 0 in '4x0' must be from 1 to 16777216"},
    {"xgft:m=4", "xgft:m=4: 'w' is missing; write xgft:m=SIZES,w=SIZES"},
    {"xgft:m=2x2,w=1x70000",
     "xgft:m=2x2,w=1x70000: a switch of level 1 would have 70000 ports, but at most 65535 are "
     "possible"},
    {"dragonfly:a=4,h=2,g=10",
     "dragonfly:a=4,h=2,g=10: 'g' is 10, but 4 routers with 2 global cables each reach at most 9 "
     "groups (a*h+1)"},
    {"dragonfly:a=4,h=2,g=1", "dragonfly:a=4,h=2,g=1: 'g' is 1, but must be from 2 to 1073741824"},
    {"dragonfly:a=4", "dragonfly:a=4: 'h' is missing; write dragonfly:a=N,h=N[,p=N][,g=N]"},
    {"dragonfly:a=30000,h=30000",
     "dragonfly:a=30000,h=30000: 27000000030000 routers, but at most 16777216 are possible"},
    {"hyperx:4x1", "hyperx:4x1: size 1 in '4x1' must be from 2 to 16777216"},
    {"complete:1", "complete:1: the value is 1, but must be from 2 to 65536"},
    {"complete:65536", "complete:65536: 2147450880 cables, but at most 67108864 are possible"},
    {"graph:", "graph:: the value is missing; write graph:FILE"},
};

TEST(Spec, WrongOnesAreExplained) {
  for (const Bad& bad : bad_specs) {
    const auto made = make_topology(bad.spec);
    ASSERT_FALSE(made) << bad.spec;
    EXPECT_EQ(made.error().text(), bad.message);
    EXPECT_EQ(made.error().broken(), Broken::input);
  }
}

TEST(Spec, BlanksAreFree) {
  const auto made = make_topology("  torus : 4 x 4 , p = 2 ");
  ASSERT_TRUE(made) << made.error().text();
  EXPECT_EQ(made->name, "torus:4x4,p=2");
}

TEST(Spec, NodesPerRouterFromOutside) {
  EXPECT_EQ(make_topology("torus:4x4", 3)->name, "torus:4x4,p=3");
  EXPECT_EQ(make_topology("torus:4x4,p=2", 3).error().text(), "torus:4x4,p=2: 'p' is given twice");
  EXPECT_EQ(make_topology("fattree:k=2,levels=2", 3).error().text(),
            "fattree:k=2,levels=2: 'fattree' has no parameter 'p'");
}

TEST(Spec, ProductsDoNotWrap) {
  EXPECT_EQ(detail::product(std::uint64_t{1} << 40, std::uint64_t{1} << 40),
            std::uint64_t{1} << 62);
  EXPECT_EQ(detail::product(0, 5), 0u);
  EXPECT_EQ(detail::product(6, 7), 42u);
}

}  // namespace
}  // namespace weft
