// Files of a desk: one script tool with every outcome of a call, and a stdio server.

const SCRIPT = `import { readFileSync, writeFileSync } from "node:fs";
const { how, text = "" } = JSON.parse(readFileSync(0, "utf8"));
if (how === "fail") { console.error("It broke."); process.exit(1); }
if (how === "wait") { writeFileSync(process.env.PID_FILE ?? "/dev/null", String(process.pid));
  setInterval(() => {}, 1000); }
else console.log(JSON.stringify({ text, how }));
`;

const MANIFEST = `name = "work"
description = "Works, fails or waits"
script = "work.mjs"
[parameters.how]
type = "string"
enum = ["well", "fail", "wait"]
required = true
[parameters.text]
type = "string"
[parameters.count]
type = "integer"
[env]
pass = ["PID_FILE?"]
`;

export const SCRIPTS = { "tools/work/work.mjs": SCRIPT, "tools/work/tool.toml": MANIFEST };
export const SCRIPTS_TOML = '[scripts]\ntools_path = "tools"\n';
