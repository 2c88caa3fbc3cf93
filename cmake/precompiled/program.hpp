// SPDX-License-Identifier: Apache-2.0
// As module.hpp, for the program weft.
#pragma once

#include "text.hpp"
#include <CLI/CLI.hpp>
