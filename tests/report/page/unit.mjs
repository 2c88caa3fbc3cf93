// SPDX-License-Identifier: Apache-2.0
// Bundles the page's unit tests and runs them under node's own runner.
import { spawnSync } from "node:child_process";

const node = (...words) =>
  spawnSync(process.execPath, ["--preserve-symlinks", "--preserve-symlinks-main", ...words], {
    stdio: "inherit",
  }).status ?? 1;
process.exit(
  node("build.mjs", "tests", "unit-tests.mjs") ||
    node("--enable-source-maps", "--test", "unit-tests.mjs"),
);
