// SPDX-License-Identifier: Apache-2.0
// Makes the page: build.mjs page OUT.html   one file, script and style inside
//                 build.mjs tests OUT.mjs   the unit tests as one module for node --test
// Runs in the folder with node_modules; src and test are links to the sources. OUT.d is a depfile.
import { readdirSync, realpathSync, writeFileSync, readFileSync, mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
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

// The packages of which something is in the output, in the order of their names.
function bundledPackages(metafile) {
  const inputs = Object.values(metafile.outputs).flatMap((o) => Object.entries(o.inputs));
  const names = inputs
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .map(([path]) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
  return [...new Set(names.filter(Boolean))].sort();
}

// Each library's licence asks that its text goes where the library goes.
function licenceOf(name) {
  const folder = join("node_modules", name);
  const file = readdirSync(folder).find((entry) => /^licen[cs]e(\.(md|txt))?$/i.test(entry));
  if (!file) throw new Error(`${folder} has no text of its licence`);
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const path = join(folder, file);
  const text = readFileSync(path, "utf8").replaceAll("\r\n", "\n").trim();
  return { path, text: `${name} ${version}, ${license}\n\n${text}\n` };
}

async function page() {
  const script = await build({
    ...common,
    entryPoints: ["src/main.ts"],
    format: "iife",
    minify: true,
    target: ["es2022", "chrome100", "firefox113", "safari16.4"],
  });
  const style = await build({ ...common, entryPoints: ["src/style.css"], minify: true });
  const licences = bundledPackages(script.metafile).map(licenceOf);
  const html = readFileSync("src/page.html", "utf8")
    .replace("/*style*/", () => style.outputFiles[0].text)
    .replace("/*licences*/", () => forScript(licences.map(({ text }) => text).join("\n\n")))
    .replace("/*script*/", () => forScript(script.outputFiles[0].text));
  if (html.split("<!--weft-data-->").length !== 2) {
    throw new Error("the page must have the place of the data exactly once");
  }
  mkdirSync(dirname(resolve(out)), { recursive: true });
  writeFileSync(out, html);
  writeDepfile(out, [script.metafile, style.metafile], [
    "src/page.html",
    ...licences.map(({ path }) => path),
  ]);
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
