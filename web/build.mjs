// SPDX-License-Identifier: Apache-2.0
// Makes the page: build.mjs page OUT.html   one file, script and style inside
//                 build.mjs tests OUT.mjs   the unit tests as one module for node --test
// Runs in the folder with node_modules; src and test are links to the sources. OUT.d is a depfile.
import { readdirSync, realpathSync, writeFileSync, readFileSync, mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { build } from "esbuild";

const [what, out] = process.argv.slice(2);
const common = {
  bundle: true,
  write: false,
  metafile: true,
  preserveSymlinks: true,
  logLevel: "error",
  charset: "ascii",
  legalComments: "none",
  absWorkingDir: process.cwd(),
};

function writeDepfile(target, metafiles, more) {
  const inputs = metafiles
    .flatMap((m) => Object.keys(m.inputs))
    .filter((name) => !name.startsWith("<"));
  const paths = [...inputs, ...more].map((name) => realpathSync(name).replaceAll(" ", "\\ "));
  writeFileSync(`${target}.d`, `${target.replaceAll(" ", "\\ ")}: ${paths.join(" ")}\n`);
}

// A closing tag or an opening comment inside a script would end it or change how it is read.
const forScript = (text) =>
  text.replaceAll("</script", "<\\/script").replaceAll("<!--", "\\x3C!--");

async function page() {
  const script = await build({
    ...common,
    entryPoints: ["src/main.ts"],
    format: "iife",
    minify: true,
    target: ["es2022", "chrome100", "firefox113", "safari16.4"],
  });
  const style = await build({ ...common, entryPoints: ["src/style.css"], minify: true });
  const licences = "d3 (ISC, Mike Bostock) and three.js (MIT, three.js authors) are in this page.";
  const html = readFileSync("src/page.html", "utf8")
    .replace("/*style*/", () => style.outputFiles[0].text)
    .replace("/*script*/", () => `/* ${licences} */\n${forScript(script.outputFiles[0].text)}`);
  if (html.split("<!--weft-data-->").length !== 2) {
    throw new Error("the page must have the place of the data exactly once");
  }
  mkdirSync(dirname(resolve(out)), { recursive: true });
  writeFileSync(out, html);
  writeDepfile(out, [script.metafile, style.metafile], ["src/page.html"]);
}

async function tests() {
  const entries = readdirSync("test")
    .filter((name) => name.endsWith(".test.ts"))
    .sort();
  const result = await build({
    ...common,
    format: "esm",
    platform: "node",
    target: "node18",
    sourcemap: "inline",
    stdin: {
      contents: entries.map((n) => `import "./test/${n}";`).join("\n"),
      resolveDir: process.cwd(),
    },
  });
  writeFileSync(out, result.outputFiles[0].text);
}

await (what === "tests" ? tests() : page());
