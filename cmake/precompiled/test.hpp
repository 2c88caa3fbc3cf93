// SPDX-License-Identifier: Apache-2.0
// As module.hpp, for tests.
#pragma once

#include "module.hpp"
#include <gtest/gtest.h>
