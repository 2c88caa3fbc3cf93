// SPDX-License-Identifier: Apache-2.0
// As module.hpp, for modules that format text. Not for JSON or CLI11: once precompiled, the
// compiler goes through all of their inline functions for each source, which takes seconds.
#pragma once

#include "module.hpp"
#include <fmt/format.h>
