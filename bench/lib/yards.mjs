// The measured configurations, written into a temporary folder.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./hub.mjs";

export const everything = join(root, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
const echoStdio = join(root, "bench/servers/echo-stdio.mjs");

export function emptyYard(folder) {
  return write(folder, "empty.toml", "");
}

/** Writes a configuration with `count` official `everything` servers as child processes. */
export function stdioYard(folder, count) {
  const servers = Array.from(
    { length: count },
    (_, index) =>
      `[mcp.stdio_servers.s${index}]\ncommand = ${JSON.stringify([process.execPath, everything, "stdio"])}\n`,
  );
  return write(folder, `stdio-${count}.toml`, servers.join("\n"));
}

export function scriptsYard(folder, count) {
  const tools = join(folder, "tools");
  for (let index = 0; index < count; index += 1) {
    const name = `tool_${String(index).padStart(5, "0")}`;
    mkdirSync(join(tools, name), { recursive: true });
    writeFileSync(
      join(tools, name, "tool.toml"),
      `name = "${name}"\ndescription = "Tool number ${index} of many"\nscript = "run.sh"\n[parameters.text]\n` +
        `type = "string"\nrequired = true\n`,
    );
    writeFileSync(join(tools, name, "run.sh"), "#!/bin/sh\ncat\n", { mode: 0o755 });
  }
  return { config: write(folder, "scripts.toml", `[scripts]\ntools_path = ${JSON.stringify(tools)}\n`), tools };
}

export function modulesYard(folder, count) {
  mkdirSync(join(folder, "modules", "many"), { recursive: true });
  writeFileSync(
    join(folder, "modules", "many", "mcp.mjs"),
    `export function registerTools(hub) {
  for (let index = 0; index < ${count}; index += 1) hub.registerTool("many.tool_" + index, ({ text }) => text,
    { type: "object", properties: { text: { type: "string", description: "Any text" } }, required: ["text"] },
    "Echoes a text, number " + index);
}
`,
  );
  return write(folder, "modules.toml", `[modules]\npaths = ["modules"]\n`);
}

/** Writes a configuration with one echo tool of every provider kind. */
export function kindsYard(folder, remoteUrl) {
  modulesYard(folder, 1);
  scriptsYard(folder, 1);
  mkdirSync(join(folder, "folders", "folder_echo"), { recursive: true });
  writeFileSync(
    join(folder, "folders", "folder_echo", "folder_echo.mcp.json"),
    JSON.stringify({
      name: "folder_echo",
      description: "Echoes",
      input_schema: { type: "object", properties: { text: { type: "string" } } },
    }),
  );
  writeFileSync(
    join(folder, "folders", "folder_echo", "folder_echo.mjs"),
    "export const execute = ({ text }) => ({ text });\n",
  );
  return write(
    folder,
    "kinds.toml",
    `[modules]\npaths = ["modules"]\n[scripts]\ntools_path = "tools"\n[folders]\ntools_path = "folders"\n` +
      `[mcp.stdio_servers.child]\ncommand = ${JSON.stringify([process.execPath, echoStdio])}\n` +
      `[[mcp.remote_servers]]\nnamespace = "web"\nurl = ${JSON.stringify(remoteUrl)}\n`,
  );
}

/** Writes a configuration in which one server is behind the hub twice, as a child and at `remoteUrl`, and a module. */
export function hopYard(folder, remoteUrl) {
  modulesYard(folder, 1);
  const sdk = join(root, "bench/servers/sdk.mjs");
  return write(
    folder,
    "hop.toml",
    `[modules]\npaths = ["modules"]\n[mcp.stdio_servers.child]\n` +
      `command = ${JSON.stringify([process.execPath, sdk])}\n[[mcp.remote_servers]]\nnamespace = "web"\n` +
      `url = ${JSON.stringify(remoteUrl)}\n`,
  );
}

/** Writes a configuration with a server that sends requests to its callers. */
export function askingYard(folder) {
  return write(
    folder,
    "asking.toml",
    "[mcp.stdio_servers.asking]\ncommand = " +
      `${JSON.stringify([process.execPath, join(root, "bench/servers/asking-stdio.mjs")])}\n`,
  );
}

/** Writes a configuration with the same tool in Python and in Node, in each run mode. */
export function runtimesYard(folder, hasBwrap) {
  const sources = {
    python: [
      "main.py",
      "import json, sys\ndef run(text=''):\n    return {'text': text}\nif __name__ == '__main__':\n" +
        "    print(json.dumps(run(**json.load(sys.stdin))))\n",
    ],
    node: [
      "main.mjs",
      "import { readFileSync } from 'node:fs';\nimport { fileURLToPath } from 'node:url';\n" +
        "export const run = ({ text }) => ({ text });\nif (process.env.SPAWNED) " +
        "console.log(JSON.stringify(run(JSON.parse(readFileSync(0, 'utf8')))));\n",
    ],
  };
  const tools = [];
  for (const [language, [file, text]] of Object.entries(sources)) {
    for (const mode of ["spawn", "warm"]) {
      for (const isolation of hasBwrap ? ["process", "bwrap"] : ["process"]) {
        const name = `${language}_${mode}_${isolation}`;
        const own = mode === "spawn" ? '[env]\nSPAWNED = "1"\n' : "";
        mkdirSync(join(folder, "runtimes", name), { recursive: true });
        writeFileSync(join(folder, "runtimes", name, file), text);
        writeFileSync(
          join(folder, "runtimes", name, "tool.toml"),
          `name = "${name}"\ndescription = "Echoes"\nscript = "${file}"\n[run]\nmode = "${mode}"\n` +
            `[isolation]\nmode = "${isolation}"\n${own}[parameters.text]\ntype = "string"\n`,
        );
        const what =
          `${language}, ` +
          `${mode === "spawn" ? "a process each" : "warm"}${isolation === "bwrap" ? ", bubblewrap" : ""}`;
        tools.push({ name, what, isWarm: mode === "warm" });
      }
    }
  }
  return { config: write(folder, "runtimes.toml", `[scripts]\ntools_path = "runtimes"\n`), tools };
}

function write(folder, name, text) {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}
