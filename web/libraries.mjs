// SPDX-License-Identifier: Apache-2.0
// Fetches the libraries that the lock file names: libraries.mjs NPM, in the build's folder.
// Install scripts stay off: nothing here needs them.
import { spawnSync } from "node:child_process";

const npm = process.argv[2];
const done = spawnSync(
  npm,
  ["ci", "--ignore-scripts", "--no-update-notifier", "--loglevel=error"],
  { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] },
);
if (done.status !== 0) {
  process.stderr.write(`${done.stdout ?? ""}${done.stderr ?? done.error ?? ""}`);
  process.stderr.write(
    "npm could not fetch the libraries of the report's page; " +
      "without a network, leave the page out with -DWEFT_WEB=OFF\n",
  );
  process.exit(1);
}
