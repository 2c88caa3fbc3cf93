// SPDX-License-Identifier: Apache-2.0
// As module.hpp, for modules that write and read text.
#pragma once

#include "module.hpp"
#include <fmt/format.h>
#include <nlohmann/json.hpp>
