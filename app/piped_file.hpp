// SPDX-License-Identifier: Apache-2.0
// Files that are given as a pipe: '-', /dev/stdin, <(command) of a shell, or a named pipe. weft
// reads some files several times, and the programs that it starts read them again; a pipe can be
// read once. So its contents are kept in memory, under a name that can be opened any number of
// times.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace weft::app {

// The path of the same contents that this process and those it starts can read again and again;
// what is no pipe stays as it is. Throws CLI::ValidationError.
std::string keep_pipe(std::string path);

// The same for a word that names a file after "NAME=": "managed,groups=FILE", "lldp=FILE".
std::string keep_pipe_in(const std::string& name, std::string word);

// For an option whose value names a file to read.
CLI::Option* reads_file(CLI::Option* option);

}  // namespace weft::app
