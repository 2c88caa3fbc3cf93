// SPDX-License-Identifier: Apache-2.0
// As text.hpp, for the program weft, whose code has other flags than that of libraries.
#pragma once

#include "text.hpp"
