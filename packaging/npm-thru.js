#!/usr/bin/env node
// Runs the program of this system, which comes in a package of its own.
const { spawnSync } = require("node:child_process");
const musl = process.platform === "linux" && !process.report.getReport().header.glibcVersionRuntime;
const name = `@throughline/${process.platform}-${process.arch}${musl ? "-musl" : ""}`;
let program;
try {
  program = require.resolve(`${name}/bin/thru${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  console.error(`error: ${name} is not installed. There is no release for this system, or npm left optional packages out.`);
  process.exit(2);
}
const ran = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (ran.error) throw ran.error;
if (ran.signal) process.kill(process.pid, ran.signal);
process.exit(ran.status);
