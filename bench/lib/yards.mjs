// The yards that are measured, written into a scratch folder.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./hub.mjs";

export const everything = join(root, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
const echoStdio = join(root, "bench/servers/echo-stdio.mjs");

export function emptyYard(folder) {
  return write(folder, "empty.toml", "");
}

/** `count` servers that are real children; `kind` is the official everything server or a raw echo. */
export function stdioYard(folder, count, script = everything, args = ["stdio"]) {
  const servers = Array.from({ length: count }, (_, index) => `[mcp.stdio_servers.s${index}]\ncommand = ${JSON.stringify([process.execPath, script, ...args])}\n`);
  return write(folder, `stdio-${count}.toml`, servers.join("\n"));
}

export function scriptsYard(folder, count) {
  const tools = join(folder, "tools");
  for (let index = 0; index < count; index += 1) {
    const name = `tool_${String(index).padStart(5, "0")}`;
    mkdirSync(join(tools, name), { recursive: true });
    writeFileSync(join(tools, name, "tool.toml"), `name = "${name}"\ndescription = "Tool number ${index} of many"\nscript = "run.sh"\n[parameters.text]\ntype = "string"\nrequired = true\n`);
    writeFileSync(join(tools, name, "run.sh"), "#!/bin/sh\ncat\n", { mode: 0o755 });
  }
  return { config: write(folder, "scripts.toml", `[scripts]\ntools_path = ${JSON.stringify(tools)}\n`), tools };
}

export function modulesYard(folder, count) {
  mkdirSync(join(folder, "modules", "many"), { recursive: true });
  writeFileSync(
    join(folder, "modules", "many", "mcp.mjs"),
    `export function registerTools(hub) {
  for (let index = 0; index < ${count}; index += 1) hub.registerTool("many.tool_" + index, ({ text }) => text, { type: "object", properties: { text: { type: "string", description: "Any text" } }, required: ["text"] }, "Echoes a text, number " + index);
}
`,
  );
  return write(folder, "modules.toml", `[modules]\npaths = ["modules"]\n`);
}

/** One tool of every provider kind, each an echo. */
export function kindsYard(folder, remoteUrl) {
  modulesYard(folder, 1);
  scriptsYard(folder, 1);
  mkdirSync(join(folder, "folders", "folder_echo"), { recursive: true });
  writeFileSync(join(folder, "folders", "folder_echo", "folder_echo.mcp.json"), JSON.stringify({ name: "folder_echo", description: "Echoes", input_schema: { type: "object", properties: { text: { type: "string" } } } }));
  writeFileSync(join(folder, "folders", "folder_echo", "folder_echo.mjs"), "export const execute = ({ text }) => ({ text });\n");
  return write(
    folder,
    "kinds.toml",
    `[modules]\npaths = ["modules"]\n[scripts]\ntools_path = "tools"\n[folders]\ntools_path = "folders"\n[mcp.stdio_servers.child]\ncommand = ${JSON.stringify([process.execPath, echoStdio])}\n[[mcp.remote_servers]]\nnamespace = "web"\nurl = ${JSON.stringify(remoteUrl)}\n`,
  );
}

function write(folder, name, text) {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}
